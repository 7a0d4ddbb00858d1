#!/usr/bin/env python3
"""Compare what the model predicts with what collectives take.

    prediction.py [--ranks N,N,...] [--sizes N,N,...] [--points FILE] [--machine FILE] PREFIX

The points are measured by collectives/, blocking and persistent, by the algorithms that are chosen without a machine's
file, and kept in the file of --points; if it is there already, they are read from it. What the same algorithms take on
the machine that --machine describes, or else `oxmpi tune` before anything is measured, is asked of `oxmpi plan`. Run it
with nothing else on the machine.

A cell is a collective, a number of ranks and a length. For each are printed in us what a run alone is predicted to take
and what one in a loop of starts is, by a walk over the plans of all ranks, and what a start and a call in a loop take,
with the ratio to what is predicted for them; one beyond 2 is marked.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLLECTIVES = ["allgather", "allreduce", "alltoall", "barrier", "bcast", "exscan", "gather", "reduce",
               "reduce_scatter_block", "scan", "scatter"]
LIFETIMES = ["blocking", "persistent"]
AGREES = 2.0


def measure(arguments, where):
    """Points as lines of JSON."""
    program = os.path.join(where, "collectives")
    folder = os.path.join(HERE, "collectives")
    sources = [os.path.join(folder, file) for file in os.listdir(folder) if file.endswith(".c")]
    subprocess.run([f"{arguments.prefix}/bin/mpicc", "-std=c99", "-O2", *sources, "-o", program], check=True)
    lines = []
    for ranks in arguments.ranks.split(","):
        command = [f"{arguments.prefix}/bin/mpiexec", "-n", ranks, program, "--ops", ",".join(COLLECTIVES), "--modes",
                   ",".join(LIFETIMES), "--roots", "fixed", "--blocks", "equal", "--sizes", arguments.sizes,
                   "--batches", "5", "--batch-ms", "4", "--point-ms", "100"]
        lines += subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return lines


def cells(lines):
    """(collective, ranks, bytes) -> lifetime -> measured us."""
    found = {}
    for point in map(json.loads, lines):
        cell = found.setdefault((point["op"], point["np"], point["bytes"]), {})
        cell[point["mode"]] = point["med_us"]
    return found


def predict(arguments, machine, collective, ranks, length):
    """(algorithm, us of a run, lifetime -> us of one in a loop)."""
    oxmpi = f"{arguments.prefix}/bin/oxmpi"
    case = [collective, "-n", str(ranks), "--bytes", str(length)]
    algorithm = run([oxmpi, "plan", *case, "--rank", "0"]).splitlines()[0].split(" by ")[1]
    text = run([oxmpi, "plan", "simulate", *case, "--algorithm", algorithm, "--machine", machine])
    alone, blocking, persistent = (float(re.search(rf"^ +{what} +([0-9.]+) us", text, re.M)[1])
                                   for what in ("simulated", "by calls", "in a loop"))
    return algorithm, alone, {"blocking": blocking, "persistent": persistent}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--sizes", default="8,1K,64K,1M")
    parser.add_argument("--points")
    parser.add_argument("--machine")
    parser.add_argument("prefix")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as where:
        machine = arguments.machine or os.path.join(where, "machine")
        if not os.path.exists(machine):
            run([f"{arguments.prefix}/bin/oxmpi", "tune", "-o", machine])
        if arguments.points and os.path.exists(arguments.points):
            with open(arguments.points) as file:
                lines = file.read().splitlines()
        else:
            lines = measure(arguments, where)
            if arguments.points:
                with open(arguments.points, "w") as file:
                    file.write("\n".join(lines) + "\n")
        show(arguments, machine, cells(lines))


def show(arguments, machine, found):
    print(f"{'collective':22}{'ranks':>6}{'bytes':>9}  {'algorithm':20}{'alone':>10}{'in a loop':>10}"
          + "".join(f"{lifetime:>12}{'ratio':>7} " for lifetime in LIFETIMES))
    agreeing = dict.fromkeys(LIFETIMES, 0)
    for (collective, ranks, length), times in sorted(found.items(), key=lambda cell: (cell[0][1], cell[0])):
        algorithm, alone, looped = predict(arguments, machine, collective, ranks, length)
        line = f"{collective:22}{ranks:6}{length:9}  {algorithm:20}{alone:10.2f}{looped['persistent']:10.2f}"
        for lifetime in LIFETIMES:
            ratio = times[lifetime] / looped[lifetime]
            agrees = 1 / AGREES <= ratio <= AGREES
            agreeing[lifetime] += agrees
            line += f"{times[lifetime]:12.2f}{ratio:7.2f}{' ' if agrees else '*'}"
        print(line)
    told = ", ".join(f"{lifetime} {count}" for lifetime, count in agreeing.items())
    print(f"within {AGREES:g} times of each other, of {len(found)} cells: {told}")


if __name__ == "__main__":
    main()
