#!/usr/bin/env python3
"""Compare what the model predicts with what collectives take.

    prediction.py [--ranks N,N,...] [--sizes N,N,...] [--points FILE] [--machine FILE] PREFIX

The points are measured by collectives/, blocking and persistent, by the algorithms that are chosen without a machine's
file, and kept in the file of --points; if it is there already, they are read from it. What the same algorithms take on
the machine that --machine describes is asked of `oxmpi plan`. Without it, `oxmpi tune` is asked before and after each
number of ranks, which is measured again, up to three times, until both say the same of a byte that comes from another
core: the host of a virtual machine may move its processors. Run it with nothing else on the machine.

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
TRIES = 4


def compile_program(arguments, where):
    program = os.path.join(where, "collectives")
    folder = os.path.join(HERE, "collectives")
    sources = [os.path.join(folder, file) for file in os.listdir(folder) if file.endswith(".c")]
    subprocess.run([f"{arguments.prefix}/bin/mpicc", "-std=c99", "-O2", *sources, "-o", program], check=True)
    return program


def measure(arguments, program, ranks):
    """Points as lines of JSON."""
    command = [f"{arguments.prefix}/bin/mpiexec", "-n", ranks, program, "--ops", ",".join(COLLECTIVES), "--modes",
               ",".join(LIFETIMES), "--roots", "fixed", "--blocks", "equal", "--sizes", arguments.sizes,
               "--batches", "5", "--batch-ms", "4", "--point-ms", "100"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def tune(arguments, file):
    """Writes what the machine is like now; ns of a byte from another core."""
    run([f"{arguments.prefix}/bin/oxmpi", "tune", "-o", file])
    with open(file) as text:
        constants = dict(re.findall(r"^(\w+) = ([0-9.]+)$", text.read(), re.M))
    return float(constants["pull_byte_ns"]) + float(constants["far_byte_ns"])


def measure_steadily(arguments, program, ranks, file):
    """Points of a machine that is before as it is after; it is described in the file."""
    before = tune(arguments, file)
    for _ in range(TRIES):
        lines = measure(arguments, program, ranks)
        after = tune(arguments, file)
        if max(before, after) <= AGREES * min(before, after):
            break
        before = after
    else:
        print(f"the machine does not stay as it is: {ranks} ranks", file=sys.stderr)
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
        all_ranks = arguments.ranks.split(",")
        machines = {int(ranks): arguments.machine or os.path.join(where, ranks) for ranks in all_ranks}
        if arguments.machine and not os.path.exists(arguments.machine):
            tune(arguments, arguments.machine)
        if arguments.points and os.path.exists(arguments.points):
            with open(arguments.points) as file:
                lines = file.read().splitlines()
            for machine in machines.values():
                if not os.path.exists(machine):
                    tune(arguments, machine)
        else:
            program = compile_program(arguments, where)
            how = measure if arguments.machine else measure_steadily
            lines = []
            for ranks in all_ranks:
                told = [] if arguments.machine else [machines[int(ranks)]]
                lines += how(arguments, program, ranks, *told)
            if arguments.points:
                with open(arguments.points, "w") as file:
                    file.write("\n".join(lines) + "\n")
        show(arguments, machines, cells(lines))


def show(arguments, machines, found):
    print(f"{'collective':22}{'ranks':>6}{'bytes':>9}  {'algorithm':20}{'alone':>10}{'in a loop':>10}"
          + "".join(f"{lifetime:>12}{'ratio':>7} " for lifetime in LIFETIMES))
    agreeing = dict.fromkeys(LIFETIMES, 0)
    for (collective, ranks, length), times in sorted(found.items(), key=lambda cell: (cell[0][1], cell[0])):
        algorithm, alone, looped = predict(arguments, machines[ranks], collective, ranks, length)
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
