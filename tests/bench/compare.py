#!/usr/bin/env python3
"""Run pack.c with several MPI implementations in turn, and compare.

    compare.py [--rounds N] NAME=PREFIX [NAME=PREFIX ...]

PREFIX is where bin/mpicc and bin/mpiexec are. A figure is the least over all rounds; the loop by hand is the
least over all implementations, for it is the same program. The last columns are the times of the first
implementation over the least of the others: below 1 it is the fastest.
"""
import argparse
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("pack", "unpack")


def build(name, prefix, where):
    program = os.path.join(where, name)
    source = os.path.join(HERE, "pack.c")
    subprocess.run([f"{prefix}/bin/mpicc", "-std=c99", "-O2", source, "-o", program], check=True)
    return program


def measure(prefix, program):
    """Layout -> bytes, pack, unpack, by hand."""
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [f"{prefix}/bin/mpiexec", "-n", "1", program]
    lines = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=300, env={**os.environ, **allowed}
    ).stdout.splitlines()
    return {fields[0]: list(map(float, fields[1:])) for fields in map(str.split, lines)}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("implementations", nargs="+")
    arguments = parser.parse_args()
    prefixes = dict(item.split("=", 1) for item in arguments.implementations)
    least = {}
    with tempfile.TemporaryDirectory() as where:
        programs = {name: build(name, prefix, where) for name, prefix in prefixes.items()}
        for _ in range(arguments.rounds):
            for name, prefix in prefixes.items():
                for layout, (size, *times) in measure(prefix, programs[name]).items():
                    row = least.setdefault(layout, {"bytes": int(size)})
                    for column, time in zip((f"{name} pack", f"{name} unpack", "hand"), times):
                        row[column] = min(time, row.get(column, time))
    first, *others = prefixes
    heads = [f"{name} {column}" for column in COLUMNS for name in prefixes] + ["hand"]
    print(f"{'ns':12}{'bytes':>10}", *(f"{head:>15}" for head in heads), *(f"{c:>8}" for c in COLUMNS))
    for layout, row in least.items():
        ratios = [
            row[f"{first} {column}"] / min((row[f"{name} {column}"] for name in others), default=float("nan"))
            for column in COLUMNS
        ]
        times = (f"{row[head]:15.0f}" for head in heads)
        print(f"{layout:12}{row['bytes']:10}", *times, *(f"{ratio:8.2f}" for ratio in ratios))


if __name__ == "__main__":
    main()
