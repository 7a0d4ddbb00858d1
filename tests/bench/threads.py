#!/usr/bin/env python3
"""Run threads.c with several MPI implementations in turn, and compare.

    threads.py [--threads N,N,...] [--rounds N] [--ms MS] NAME=PREFIX [NAME=PREFIX ...]

PREFIX is where bin/mpiexec and bin/mpicc are; Intel MPI without a compiler is compiled with the headers of MPICH, which
must be named too. Run it under `nice -n -20`. `0` threads stands for one thread below MPI_THREAD_MULTIPLE. A figure is
the median over the rounds of the time of a message in ns, all threads together, and a peer stands at the best of its
variants; the last column is that of the first implementation over the least of the others: below 1 it is the fastest.
"""
import argparse
import math
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
# Where the scheduler groups processes by session, a nice value counts within the group only; a group has its own.
RANK = ["sh", "-c", '(nice > /proc/self/autogroup) 2> /dev/null; exec "$0" "$@"']
SM = ["--mca", "pml", "ob1", "--mca", "btl", "self,sm"]
UCX = ["--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any"]
# Arguments of mpiexec and environment. Threads of a rank that is bound to a core would have that one alone.
VARIANTS = {
    "mpich": [([], {})],
    "openmpi": [
        (["--bind-to", "none", *SM], {}),
        (["--bind-to", "none", *SM, "--mca", "mpi_yield_when_idle", "1"], {}),
        (["--bind-to", "none", *UCX], {"UCX_TLS": "self,sm"}),
    ],
    "intel": [([], {}), ([], {"I_MPI_THREAD_SPLIT": "1", "I_MPI_THREAD_RUNTIME": "generic"})],
}
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def build(name, prefixes, where, source="threads.c"):
    program = os.path.join(where, name)
    prefix = prefixes[name]
    compile = [f"{prefix}/bin/mpicc"]
    if not os.path.exists(compile[0]):
        compile = [f"{prefixes['mpich']}/bin/mpicc_abi" if name == "intel" else "mpicc"]
    subprocess.run([*compile, "-O2", "-pthread", os.path.join(HERE, source), "-o", program], check=True)
    return program


def measure(prefix, program, variant, threads, milliseconds):
    """Kind -> ns."""
    arguments, environment = variant
    own = ["0", "1"] if threads == 0 else ["3", str(threads)]
    command = [f"{prefix}/bin/mpiexec", *arguments, "-n", "2", *RANK, program, *own, str(milliseconds)]
    environment = {**os.environ, **ALLOWED, **environment, "LD_LIBRARY_PATH": f"{prefix}/lib"}
    command = ["timeout", "-k", "2", "120", *command]
    output = subprocess.run(command, capture_output=True, text=True, env=environment).stdout
    lines = [line.split() for line in output.splitlines()]
    return {line[0]: float(line[1]) for line in lines if len(line) == 2}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--threads", default="0,1,2,4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ms", type=int, default=100)
    parser.add_argument("implementations", nargs="+")
    arguments = parser.parse_args()
    prefixes = dict(item.split("=", 1) for item in arguments.implementations)
    numbers = [int(number) for number in arguments.threads.split(",")]
    times = defaultdict(list)
    with tempfile.TemporaryDirectory() as where:
        programs = {name: build(name, prefixes, where) for name in prefixes}
        for _ in range(arguments.rounds):
            for threads in numbers:
                for name, prefix in prefixes.items():
                    for at, variant in enumerate(VARIANTS.get(name, [([], {})])):
                        measured = measure(prefix, programs[name], variant, threads, arguments.ms)
                        for kind, time in measured.items():
                            times[kind, threads, name, at].append(time)
    first, *peers = prefixes
    print(f"{'ns':16}", *(f"{name:>10}" for name in prefixes), f"{'ratio':>8}")
    for kind in dict.fromkeys(kind for kind, *_ in times):
        for threads in numbers:
            row = {}
            for name in prefixes:
                all = range(len(VARIANTS.get(name, [0])))
                medians = [statistics.median(times[kind, threads, name, at] or [math.nan]) for at in all]
                row[name] = min(medians, key=lambda median: (math.isnan(median), median))
            ratio = row[first] / min((row[name] for name in peers), default=math.nan)
            print(f"{kind:10}{threads:6}", *(f"{row[name]:10.1f}" for name in prefixes), f"{ratio:8.2f}", flush=True)


if __name__ == "__main__":
    main()
