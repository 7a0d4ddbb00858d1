#!/usr/bin/env python3
"""Run requests.c with several MPI implementations in turn, and compare.

    requests.py [--rounds N] [--batches N] NAME=PREFIX [NAME=PREFIX ...]

As threads.py. A figure is the median over the rounds of the first percentile of the batches, in ns.
"""
import argparse
import math
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict

import threads


def measure(prefix, program, variant, ranks, batches):
    """Kind -> ns."""
    arguments, environment = variant
    command = [f"{prefix}/bin/mpiexec", *arguments, "-n", str(ranks), *threads.RANK, program, str(batches)]
    environment = {**os.environ, **threads.ALLOWED, **environment, "LD_LIBRARY_PATH": f"{prefix}/lib"}
    command = ["timeout", "-k", "2", "120", *command]
    output = subprocess.run(command, capture_output=True, text=True, env=environment).stdout
    lines = [line.split() for line in output.splitlines()]
    return {line[0]: float(line[1]) for line in lines if len(line) == 2}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=4000)
    parser.add_argument("implementations", nargs="+")
    arguments = parser.parse_args()
    prefixes = dict(item.split("=", 1) for item in arguments.implementations)
    times = defaultdict(list)
    with tempfile.TemporaryDirectory() as where:
        programs = {name: threads.build(name, prefixes, where, "requests.c") for name in prefixes}
        for _ in range(arguments.rounds):
            for name, prefix in prefixes.items():
                for at, variant in enumerate(threads.VARIANTS.get(name, [([], {})])):
                    for ranks in [1, 2]:
                        measured = measure(prefix, programs[name], variant, ranks, arguments.batches)
                        for kind, time in measured.items():
                            times[kind, name, at].append(time)
    first, *peers = prefixes
    print(f"{'ns':18}", *(f"{name:>10}" for name in prefixes), f"{'ratio':>8}")
    for kind in dict.fromkeys(kind for kind, *_ in times):
        row = {}
        for name in prefixes:
            variants = range(len(threads.VARIANTS.get(name, [0])))
            medians = [statistics.median(times[kind, name, at] or [math.nan]) for at in variants]
            row[name] = min(medians, key=lambda median: (math.isnan(median), median))
        ratio = row[first] / min((row[name] for name in peers), default=math.nan)
        print(f"{kind:18}", *(f"{row[name]:10.2f}" for name in prefixes), f"{ratio:8.2f}", flush=True)


if __name__ == "__main__":
    main()
