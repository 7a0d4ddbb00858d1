#!/usr/bin/env python3
"""Compare what short calls cost in Rust with what they cost in C, on the same engine.

    rust.py PREFIX RUST [--ranks N] [--rounds N]

PREFIX is an installation of this tree; RUST is what `cargo bench -p oxmpi --bench beside_c --no-run` has built. Both run
in turn; a figure is the median over the rounds, in ns, and the last column is Rust over C.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("prefix")
    parser.add_argument("rust")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as where:
        in_c = os.path.join(where, "beside_rust")
        source = os.path.join(HERE, "beside_rust.c")
        subprocess.run([f"{options.prefix}/bin/mpicc", "-O2", source, "-o", in_c], check=True)
        found = defaultdict(list)
        for _ in range(options.rounds):
            for language, program in ("Rust", options.rust), ("C", in_c):
                command = [f"{options.prefix}/bin/mpiexec", "-n", str(options.ranks), program]
                output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                for line in output.splitlines():
                    name, ns = line.split()
                    found[name, language].append(float(ns))
    print(f"{options.ranks} ranks, {options.rounds} rounds: median of the time of a call, ns")
    print(f"{'':16} {'Rust':>10} {'C':>10} {'Rust/C':>8}")
    for name in dict.fromkeys(name for name, _ in found):
        rust, c = (statistics.median(found[name, language]) for language in ("Rust", "C"))
        print(f"{name:16} {rust:10.1f} {c:10.1f} {rust / c:8.3f}")


if __name__ == "__main__":
    main()
