#!/usr/bin/env python3
"""Run partitioned.c with several MPI implementations in turn, and compare.

    partitioned.py [--threads N,N,...] [--rounds N] [--ms MS] NAME=PREFIX [NAME=PREFIX ...]

As threads.py, but that a figure is the least of all batches, in microseconds, of a round; and the last column is the
first implementation over the least of the others.
"""
import argparse
import math
import os
import subprocess
import tempfile

from threads import ALLOWED, RANK, VARIANTS, build


def measure(prefix, program, variant, threads, milliseconds):
    """(partitions, bytes) -> us."""
    arguments, environment = variant
    command = [f"{prefix}/bin/mpiexec", *arguments, "-n", "2", *RANK, program, str(threads), str(milliseconds)]
    environment = {**os.environ, **ALLOWED, **environment, "LD_LIBRARY_PATH": f"{prefix}/lib"}
    command = ["timeout", "-k", "2", "300", *command]
    output = subprocess.run(command, capture_output=True, text=True, env=environment).stdout
    lines = [line.split() for line in output.splitlines()]
    return {(int(line[0]), int(line[1])): float(line[2]) / 1000 for line in lines if len(line) == 3}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ms", type=int, default=50)
    parser.add_argument("implementations", nargs="+")
    arguments = parser.parse_args()
    prefixes = dict(item.split("=", 1) for item in arguments.implementations)
    numbers = [int(number) for number in arguments.threads.split(",")]
    least = {}
    with tempfile.TemporaryDirectory() as where:
        programs = {name: build(name, prefixes, where, "partitioned.c") for name in prefixes}
        for _ in range(arguments.rounds):
            for threads in numbers:
                for name, prefix in prefixes.items():
                    for variant in VARIANTS.get(name, [([], {})]):
                        measured = measure(prefix, programs[name], variant, threads, arguments.ms)
                        for (partitions, length), time in measured.items():
                            cell = threads, partitions, length
                            row = least.setdefault(cell, {})
                            row[name] = min(time, row.get(name, math.inf))
    first, *peers = prefixes
    print(f"{'threads':>8}{'partitions':>11}{'bytes':>9}", *(f"{name:>10}" for name in prefixes), f"{'ratio':>8}")
    for (threads, partitions, length), row in sorted(least.items()):
        times = [row.get(name, math.nan) for name in prefixes]
        ratio = row.get(first, math.nan) / min((row[name] for name in peers if name in row), default=math.nan)
        print(f"{threads:8}{partitions:11}{length:9}", *(f"{time:10.2f}" for time in times), f"{ratio:8.2f}")


if __name__ == "__main__":
    main()
