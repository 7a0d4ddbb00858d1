#!/usr/bin/env python3
"""Run overlap.c with several MPI implementations in turn, and compare.

    overlap.py [--rounds N] [--repeat N] [--times N] NAME=PREFIX [NAME=PREFIX ...]

As threads.py, with ranks that are not bound. The first implementation is ours, and runs with each OXMPI_PROGRESS. Two
figures: the part of an operation that is hidden behind a computation of N times its time, in percent, and its time
without one in microseconds; each the median over the repetitions.
"""
import argparse
import math
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict

import threads

UNBOUND = ["-bind-to", "none"]


def columns(prefixes):
    """Title, name and variant of each."""
    ours, *peers = prefixes
    for progress in ["thread", "auto", "poll"]:
        yield progress, ours, (UNBOUND, {"OXMPI_PROGRESS": progress})
    for name in peers:
        yield name, name, threads.VARIANTS.get(name, [([], {})])[0]


def measure(prefix, program, variant, numbers):
    """(Operation, bytes) -> part that is hidden, time alone."""
    arguments, environment = variant
    command = [f"{prefix}/bin/mpiexec", *arguments, "-n", "2", *threads.RANK, program, *numbers]
    environment = {**os.environ, **threads.ALLOWED, **environment, "LD_LIBRARY_PATH": f"{prefix}/lib"}
    command = ["timeout", "-k", "2", "120", *command]
    output = subprocess.run(command, capture_output=True, text=True, env=environment).stdout
    lines = [line.split() for line in output.splitlines()]
    return {(line[0], int(line[1])): (float(line[2]), float(line[3])) for line in lines if len(line) == 6}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("implementations", nargs="+")
    arguments = parser.parse_args()
    prefixes = dict(item.split("=", 1) for item in arguments.implementations)
    numbers = [str(arguments.rounds), str(arguments.times)]
    figures = defaultdict(list)
    with tempfile.TemporaryDirectory() as where:
        programs = {name: threads.build(name, prefixes, where, "overlap.c") for name in prefixes}
        for _ in range(arguments.repeat):
            for title, name, variant in columns(prefixes):
                for case, pair in measure(prefixes[name], programs[name], variant, numbers).items():
                    figures[case, title].append(pair)
    titles = [title for title, *_ in columns(prefixes)]
    print(f"{'% hidden, us alone':20}", *(f"{title:>16}" for title in titles))
    for case in dict.fromkeys(case for case, _ in figures):
        pairs = (figures[case, title] or [(math.nan, math.nan)] for title in titles)
        medians = [[statistics.median(column) for column in zip(*several)] for several in pairs]
        operation, size = case
        cells = (f"{100 * hidden:6.0f} {alone:9.1f}" for hidden, alone in medians)
        print(f"{operation:14} {size >> 20:2} MiB", *cells, flush=True)


if __name__ == "__main__":
    main()
