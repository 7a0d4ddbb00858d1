#!/usr/bin/env python3
"""Compare what the model predicts with what collectives take.

    prediction.py [--ranks N,N,...] [--sizes N,N,...] [--only C,C,...] [--jobs N] [--unbound] [--kept FOLDER] PREFIX

The points are measured by collectives/, blocking and persistent, by the algorithms that are chosen without a machine's
file. What the same algorithms take on this machine is asked of `oxmpi plan`, under the constants that `oxmpi tune` finds.
The host of a virtual machine may move its processors, from second to second: so each collective is a job of its own for
each number of ranks, `oxmpi tune` is asked before and after it, and until both say about the same of words and of bytes
that go to another core, the job is run again, a few times at most; and there are several such jobs of each, one round
after the other. Points and constants are kept in the folder; what is there already is read. Run it with nothing else on
the machine.

The walk has each rank on a core of its own, or on that of its number in turns, and what passes between two ranks depends
on it. So ranks are bound to processors that way; `--unbound` leaves them to the system, which may have neighbours on one.

A cell is a collective, a number of ranks and a length. For each are printed in us what a run alone is predicted to take
and what one in a loop of starts is, by a walk over the plans of all ranks, and what a start and a call in a loop take,
with the ratio to what is predicted for them; one beyond 2 is marked. All of these are medians of the jobs, each of which
is compared with what its own constants predict.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLLECTIVES = ["allgather", "allreduce", "alltoall", "barrier", "bcast", "exscan", "gather", "reduce",
               "reduce_scatter_block", "scan", "scatter"]
LIFETIMES = ["blocking", "persistent"]
AGREES = 2.0
STEADY = 1.4
TRIES = 4


def compile_program(arguments, where):
    program = os.path.join(where, "collectives")
    folder = os.path.join(HERE, "collectives")
    sources = [os.path.join(folder, file) for file in os.listdir(folder) if file.endswith(".c")]
    subprocess.run([f"{arguments.prefix}/bin/mpicc", "-std=c99", "-O2", *sources, "-o", program], check=True)
    return program


def measure(arguments, program, collective, ranks):
    """Points as lines of JSON."""
    command = [program, "--ops", collective, "--modes", ",".join(LIFETIMES), "--roots", "fixed", "--blocks", "equal",
               "--sizes", arguments.sizes, "--batches", "5", "--batch-ms", "20", "--point-ms", "400"]
    mpiexec = f"{arguments.prefix}/bin/mpiexec"
    if arguments.unbound:
        return run([mpiexec, "-n", str(ranks), *command])
    cpus = sorted(os.sched_getaffinity(0))
    blocks = [["-n", "1", "taskset", "-c", str(cpus[rank % len(cpus)]), *command] for rank in range(ranks)]
    return run([mpiexec, *blocks[0], *(word for block in blocks[1:] for word in [":", *block])])


def tune(arguments):
    """What the machine is like now, and ns of a word and of a byte that goes to another core."""
    text = run([f"{arguments.prefix}/bin/oxmpi", "tune"])
    constants = {name: float(value) for name, value in re.findall(r"^(\w+) = ([0-9.]+)$", text, re.M)}
    word = sum(constants[name] for name in ("hop_far_ns", "post_ns", "pull_ns"))
    return text, (word, constants["post_byte_ns"] + constants["pull_byte_ns"] + constants["far_byte_ns"])


def measure_steadily(arguments, program, collective, ranks, before):
    """Points of a machine that is before as it is after, what it is like, and whether that is so."""
    for _ in range(TRIES):
        points = measure(arguments, program, collective, ranks)
        after = tune(arguments)
        is_steady = all(max(pair) <= STEADY * min(pair) for pair in zip(before[1], after[1]))
        before = after
        if is_steady:
            break
    return points, after, is_steady


def measure_all(arguments, jobs, where):
    """Leaves the points and constants of jobs in files."""
    program = compile_program(arguments, where)
    machine = tune(arguments)
    for job in jobs:
        collective, ranks, _ = job
        points, machine, is_steady = measure_steadily(arguments, program, collective, ranks, machine)
        if not is_steady:
            print(f"the machine does not stay as it is: {collective} among {ranks}", file=sys.stderr)
        for file, text in zip(files(where, *job), (points, machine[0])):
            with open(file, "w") as out:
                out.write(text)


def files(folder, collective, ranks, number):
    """Those of the points and of the constants."""
    return [os.path.join(folder, f"{collective}-{ranks}-{number}.{kind}") for kind in ("points", "machine")]


def cells(file):
    """bytes -> lifetime -> measured us."""
    found = {}
    with open(file) as lines:
        for point in map(json.loads, lines):
            found.setdefault(point["bytes"], {})[point["mode"]] = point["med_us"]
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
    parser.add_argument("--only", default=",".join(COLLECTIVES))
    parser.add_argument("--jobs", type=int, default=5)
    parser.add_argument("--unbound", action="store_true")
    parser.add_argument("--kept")
    parser.add_argument("prefix")
    arguments = parser.parse_args()
    pairs = [(collective, int(ranks)) for ranks in arguments.ranks.split(",") for collective in arguments.only.split(",")]
    jobs = [(*pair, number) for number in range(arguments.jobs) for pair in pairs]
    with tempfile.TemporaryDirectory() as temporary:
        where = arguments.kept or temporary
        os.makedirs(where, exist_ok=True)
        missing = [job for job in jobs if not all(map(os.path.exists, files(where, *job)))]
        if missing:
            measure_all(arguments, missing, where)
        show(arguments, pairs, where)


def show(arguments, pairs, where):
    print(f"{'collective':22}{'ranks':>6}{'bytes':>9}  {'algorithm':20}{'alone':>10}{'in a loop':>10}"
          + "".join(f"{lifetime:>12}{'ratio':>7} " for lifetime in LIFETIMES))
    agreeing, count = dict.fromkeys(LIFETIMES, 0), 0
    for collective, ranks in pairs:
        jobs = [files(where, collective, ranks, number) for number in range(arguments.jobs)]
        measured = [cells(points) for points, _ in jobs]
        for length in sorted(measured[0]):
            predicted = [predict(arguments, machine, collective, ranks, length) for _, machine in jobs]
            alone, looped = (statistics.median(times) for times in
                             zip(*((alone, looped["persistent"]) for _, alone, looped in predicted)))
            line = f"{collective:22}{ranks:6}{length:9}  {predicted[0][0]:20}{alone:10.2f}{looped:10.2f}"
            for lifetime in LIFETIMES:
                times = [job[length][lifetime] for job in measured]
                ratio = statistics.median(time / looped[lifetime] for time, (_, _, looped) in zip(times, predicted))
                agrees = 1 / AGREES <= ratio <= AGREES
                agreeing[lifetime] += agrees
                line += f"{statistics.median(times):12.2f}{ratio:7.2f}{' ' if agrees else '*'}"
            print(line)
            count += 1
    told = ", ".join(f"{lifetime} {number}" for lifetime, number in agreeing.items())
    print(f"within {AGREES:g} times of each other, of {count} cells: {told}")


if __name__ == "__main__":
    main()
