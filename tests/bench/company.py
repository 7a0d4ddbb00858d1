#!/usr/bin/env python3
"""Run company.c with several MPI implementations in turn, beside processes that compute.

    company.py [--np N] [--beside N] [--nice N] [--rounds N] [--seconds S] NAME=PREFIX [NAME=PREFIX ...]

PREFIX is where bin/mpicc and bin/mpiexec are. --beside is the number of other processes, --nice what is added to
their nice value. A figure is the median over the rounds of the mean time of a call, in microseconds; the last column
is the least of the others over the first implementation: above 1 it is the fastest. Slices of time are long and fall
where they will: figures of two runs differ by a factor of two.
"""
import argparse
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMPUTE = "while True: pass"
# Open MPI refuses root and more ranks than processors, and looks for networks.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OPTIONS = {"openmpi": ["--map-by", ":OVERSUBSCRIBE", "--mca", "pml", "ob1", "--mca", "btl", "self,sm"]}


def build(name, prefix, where):
    program = os.path.join(where, name)
    source = os.path.join(HERE, "company.c")
    subprocess.run([f"{prefix}/bin/mpicc", "-std=c99", "-O2", source, "-o", program], check=True)
    return program


def measure(name, prefix, program, ranks, seconds):
    """Call -> microseconds."""
    command = [f"{prefix}/bin/mpiexec", *OPTIONS.get(name, []), "-n", str(ranks), program]
    command = ["timeout", "-k", "2", "120", *command, str(seconds)]
    output = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ALLOWED}).stdout
    return {call: float(time) for call, time in (line.split() for line in output.splitlines())}


def rounds_beside(prefixes, ranks, beside, nice, rounds, seconds):
    """A point for each implementation, round and call."""
    points = []
    compute = ["nice", "-n", str(nice), sys.executable, "-c", COMPUTE]
    with tempfile.TemporaryDirectory() as where:
        programs = {name: build(name, prefix, where) for name, prefix in prefixes.items()}
        others = [subprocess.Popen(compute) for _ in range(beside)]
        try:
            for turn in range(rounds):
                for name, prefix in prefixes.items():
                    for call, time in measure(name, prefix, programs[name], ranks, seconds).items():
                        points.append({"impl": name, "call": call, "turn": turn, "us": time})
        finally:
            for process in others:
                process.send_signal(signal.SIGKILL)
                process.wait()
    return points


def bytes_of(call):
    """What a call's name says after its operation."""
    size = call.rpartition("-")[2]
    unit = {"K": 1 << 10, "M": 1 << 20}.get(size[-1], 1)
    return unit * int(size.rstrip("KM"))


def medians(points):
    """Call -> implementation -> microseconds."""
    times = {}
    for point in points:
        times.setdefault(point["call"], {}).setdefault(point["impl"], []).append(point["us"])
    return {
        call: {name: statistics.median(rounds) for name, rounds in by_name.items()} for call, by_name in times.items()
    }


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--np", type=int, default=2)
    parser.add_argument("--beside", type=int, default=2)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("implementations", nargs="+")
    arguments = parser.parse_args()
    prefixes = dict(item.split("=", 1) for item in arguments.implementations)
    points = rounds_beside(
        prefixes, arguments.np, arguments.beside, arguments.nice, arguments.rounds, arguments.seconds
    )
    first, *peers = prefixes
    print(f"{arguments.np} ranks beside {arguments.beside} processes, nice {arguments.nice}; us")
    print(f"{'':16}", *(f"{name:>12}" for name in prefixes), f"{'ratio':>8}")
    ratios = []
    for call, row in medians(points).items():
        ratios.append(min((row[name] for name in peers if name in row), default=math.nan) / row[first])
        print(f"{call:16}", *(f"{row.get(name, math.nan):12.1f}" for name in prefixes), f"{ratios[-1]:8.2f}")
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean {mean:.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
