#!/usr/bin/env python3
"""Kills parts of jobs over several hosts at random moments, and looks what is left.

    tests/hosts/trials.py PREFIX [--trials 100] [--hosts 3] [--ranks 2] [--seed 1] [--only rank,agent,link,launcher]

Hosts are namespaces of the network joined by a bridge (as root, with iproute2), as in crates/launch/tests/launch. A job
exchanges messages of all lengths until, in turn, one of its ranks, an agent or the launcher is killed, or a host's link
goes down. It passes if the launcher ends within 10 s with the status that is promised, says what was lost, and no
process of the job is left 10 s later. Prints a line for each trial that fails, and the counts; ends with 1 if any has.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from network import Network, compiled

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *from = calloc(size, 1 << 17), *into = malloc((size_t)size << 17);
    MPI_Request request;
    MPI_Allreduce_init(from, into, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (rank == 0) {
        puts("begun");
        fflush(stdout);
    }
    for (unsigned turn = 0;; turn++) {
        MPI_Alltoall(from, 1 << (turn % 18), MPI_CHAR, into, 1 << (turn % 18), MPI_CHAR, MPI_COMM_WORLD);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Sendrecv(from, 1 << 17, MPI_CHAR, (rank + 1) % size, 0, into, 1 << 17, MPI_CHAR,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
"""

KINDS = ["rank", "agent", "link", "launcher"]
# How long the end of a job may take, and that of what belongs to it.
END_S, CLEAN_S = 10, 10


def marked(mark):
    """The processes that have the mark in their environment: their numbers, programs and hosts."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ, open(f"/proc/{pid}/stat") as stat:
                state = stat.read().rsplit(")", 1)[1].split()[0]
                if mark.encode() in environ.read() and state != "Z":
                    found.append((int(pid), os.path.basename(os.readlink(f"/proc/{pid}/exe"))))
        except OSError:
            pass
    return found


def descendants(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as children:
            for child in map(int, children.read().split()):
                found += [child, *descendants(child)]
    return found


def named(pids, name):
    return [pid for pid in pids if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == name]


def trial(kind, number, arguments, network, program):
    """What is wrong with it: nothing, if it passes."""
    rng = random.Random(arguments.seed * 1_000_003 + number)
    mark = f"OXMPI_TRIAL={os.getpid()}.{number}"
    command = [*network.launcher(), f"{arguments.prefix}/bin/mpiexec", "-launcher", network.enter,
               "-host", network.hosts(arguments.ranks), "-n", str(arguments.hosts * arguments.ranks), program]
    environment = dict(os.environ, **dict([mark.split("=")]))
    job = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    if job.stdout.readline() != "begun\n":
        job.kill()
        return f"it has not begun: {job.communicate()[1]}", 0.0
    time.sleep(rng.random() * 0.3)
    family = descendants(job.pid)
    ranks = named(family, os.path.basename(program))
    agents = sorted({parent(rank) for rank in ranks})
    host = rng.randrange(1, arguments.hosts + 1)
    if kind == "rank":
        victim, status, text = rng.choice(ranks), 128 + signal.SIGKILL, "was killed by SIGKILL"
    elif kind == "agent":
        victim, status, text = rng.choice(agents), 1, "lost host"
    elif kind == "launcher":
        victim, status, text = job.pid, -signal.SIGKILL, ""
    else:
        victim, status, text = None, 1, f"lost host {network.address(host)}"
    begin = time.monotonic()
    if victim is None:
        network.link(host, "down")
    else:
        os.kill(victim, signal.SIGKILL)
    try:
        _, err = job.communicate(timeout=END_S)
        wrong = [] if job.returncode == status else [f"status {job.returncode}, not {status}"]
        wrong += [] if text in err else [f"nothing is said of it: {err.strip()[:300]!r}"]
    except subprocess.TimeoutExpired:
        wrong = [f"it has not ended in {END_S} s"]
    took = time.monotonic() - begin
    while (left := marked(mark)) and time.monotonic() < begin + took + CLEAN_S:
        time.sleep(0.05)
    wrong += [f"left: {left}"] if left else []
    for pid, _ in left:
        os.kill(pid, signal.SIGKILL)
    job.kill()
    if victim is None:
        network.link(host, "up")
    return "; ".join(wrong), took


def parent(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix")
    for name, default in [("trials", 100), ("hosts", 3), ("ranks", 2), ("seed", 1)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--only", default=",".join(KINDS))
    arguments = parser.parse_args()
    kinds = arguments.only.split(",")
    # What was made is removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed, longest = dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(arguments.prefix, folder, "trial", PROGRAM)
        network = Network(arguments.hosts, folder)
        try:
            for number in range(arguments.trials):
                kind = kinds[number % len(kinds)]
                wrong, took = trial(kind, number, arguments, network, program)
                longest[kind] = max(longest[kind], took)
                if wrong:
                    failed[kind] += 1
                    print(f"trial {number} ({kind}): {wrong}", flush=True)
        finally:
            network.close()
    for kind in kinds:
        count = len(range(kinds.index(kind), arguments.trials, len(kinds)))
        print(f"{kind}: {count} trials, {failed[kind]} failed; the end took {longest[kind]:.1f} s at most")
    return int(any(failed.values()))


if __name__ == "__main__":
    sys.exit(main())
