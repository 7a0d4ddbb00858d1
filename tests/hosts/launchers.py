#!/usr/bin/env python3
"""Starts one program on three hosts under each launcher, and prints what came of it.

    tests/hosts/launchers.py PREFIX [hydra=PREFIX] [intel=PREFIX] [prterun=PREFIX] [--hosts 3] [--ranks 2]

Hosts are namespaces of the network joined by a bridge, as in trials.py (as root, with iproute2). The program is
compiled by the `mpicc` of PREFIX, and is the same under all: `mpiexec` of PREFIX; the launchers of MPICH, Intel MPI and
Open MPI, where they are named by the folders that have their `bin`; and a server that answers what `srun --mpi=pmi2` of
Slurm 22.05 was heard to answer. The last row is one host of Hydra's, whose ranks are in two containers, as far as these
are networks. Ranks exchange messages and compute a sum, and say on which host they are, and how many share memory there.
Ends with 1 if anything is not as it should be. Where the system has no libfabric, LD_LIBRARY_PATH names it.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading

from network import Network, compiled

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { ITEMS = 30000 };
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, sum = 0, beside, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != size * (size - 1) / 2;
    int *from = malloc(ITEMS * sizeof *from), *into = malloc(ITEMS * sizeof *into);
    for (int step = 0; step < size; step++) {
        int to = (rank + step) % size, source = (rank + size - step) % size;
        for (int item = 0; item < ITEMS; item++) from[item] = rank * ITEMS + item;
        MPI_Sendrecv(from, ITEMS, MPI_INT, to, step, into, ITEMS, MPI_INT, source, step, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int item = 0; item < ITEMS; item++) wrong += into[item] != source * ITEMS + item;
    }
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &beside);
    char own[64] = "", *all = calloc(size, sizeof own), host[32] = "";
    gethostname(host, sizeof host - 1);
    snprintf(own, sizeof own, "%s/%d%s", host, beside, wrong ? " WRONG" : "");
    MPI_Gather(own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int other = 0; rank == 0 && other < size; other++) printf("%s%s", other ? " " : "", all + other * sizeof own);
    if (rank == 0) puts("");
    MPI_Finalize();
    return 0;
}
"""
TIME_S = 60


class Slurm:
    """Starts ranks as `srun --mpi=pmi2` does, and speaks PMI-1 to them, with its limits."""

    def __init__(self, network, hosts, ranks, program, environment):
        self.store, self.lock = {"PMI_process_mapping": f"(vector,(0,{hosts},{ranks}))"}, threading.Lock()
        self.barrier = threading.Barrier(hosts * ranks)
        self.processes = []
        for rank in range(hosts * ranks):
            ours, theirs = socket.socketpair()
            variables = {"PMI_FD": str(theirs.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(hosts * ranks)}
            command = [*network.launcher(), network.enter, network.address(1 + rank // ranks), program]
            self.processes.append(subprocess.Popen(command, env={**environment, **variables}, text=True,
                                                   pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            theirs.close()
            threading.Thread(target=self.serve, args=[ours], daemon=True).start()

    def serve(self, ours):
        with ours, ours.makefile("rw", newline="\n") as stream:
            for line in stream:
                assert len(line) <= 1024, "Slurm reads no longer lines"
                words = dict(word.split("=", 1) for word in line.split())
                stream.write(f"cmd={self.answer(words)}\n")
                stream.flush()

    def answer(self, words):
        command = words["cmd"]
        if command == "barrier_in":
            self.barrier.wait(TIME_S)
            return "barrier_out rc=0"
        with self.lock:
            if command == "put":
                self.store[words["key"]] = words["value"]
                return "put_result rc=0"
            if command == "get":
                value = self.store.get(words["key"])
                return "get_result rc=1" if value is None else f"get_result rc=0 value={value}"
        return {
            "init": "response_to_init rc=0 pmi_version=1 pmi_subversion=1",
            "get_maxes": "maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024",
            "get_my_kvsname": "my_kvsname rc=0 kvsname=1.0",
            "finalize": "finalize_ack rc=0",
        }[command]

    def finish(self):
        """As `subprocess.run` says it, of all."""
        try:
            ended = [process.communicate(timeout=TIME_S) for process in self.processes]
        except subprocess.TimeoutExpired:
            [process.kill() for process in self.processes]
            raise
        failed = max(abs(process.returncode) for process in self.processes)
        return failed, "".join(out for out, _ in ended), "".join(error for _, error in ended)


def version(command, pattern, **variables):
    """What a command says of its version."""
    ended = subprocess.run(command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True,
                           text=True)
    found = re.search(pattern, ended.stdout + ended.stderr)
    return found.group(1) if found else "?"


def hydra(prefix, network, hosts, count):
    """Hydra starts its agents by ssh, or what is called as that is."""
    agents = ["-launcher", "ssh", "-launcher-exec", network.enter]
    return [f"{prefix}/bin/mpiexec.hydra", *agents, "-localhost", network.address(100), "-hosts", hosts, "-n", count]


def intel(prefix, network, hosts, count):
    names = [host.split(":")[0] for host in hosts.split(",")]
    return [f"{prefix}/bin/mpiexec.hydra", "-bootstrap", "ssh", "-bootstrap-exec", network.enter, "-iface", "bridge",
            "-hosts", ",".join(names), "-ppn", hosts.split(":")[-1], "-n", count]


def prterun(prefix, network, hosts, count):
    own = network.address(0) + "/24"
    return [f"{prefix}/bin/prterun", "--prefix", prefix, "--prtemca", "plm_ssh_agent", network.enter, "--prtemca",
            "prte_if_include", own, "--host", hosts, "--map-by", "slot:oversubscribe", "--bind-to", "none", "-n", count]


def launchers(arguments, network):
    """Name, version and what starts the ranks of each but Slurm's, with its variables."""
    hosts, count = network.hosts(arguments.ranks), str(arguments.hosts * arguments.ranks)
    own = f"{arguments.prefix}/bin/mpiexec"
    yield "mpiexec (oxmpi)", version([own, "--version"], r"(\d[\w.-]*)"), \
        [own, "-launcher", network.enter, "-host", hosts, "-n", count], {}
    for name, prefix in (other.split("=", 1) for other in arguments.others):
        if name == "hydra":
            tells = version([f"{prefix}/bin/mpiexec.hydra", "--version"], r"Version: +(\S+)")
            yield "mpiexec.hydra (MPICH)", tells, hydra(prefix, network, hosts, count), {}
        elif name == "intel":
            tells = version([f"{prefix}/bin/mpiexec.hydra", "--version"], r"Version (\S+)")
            yield "mpiexec.hydra (Intel MPI)", tells, intel(prefix, network, hosts, count), {}
        elif name == "prterun":
            tells = version([f"{prefix}/bin/prte_info"], r"PRTE: (\S+)", OPAL_PREFIX=prefix, PRTE_PREFIX=prefix)
            allowed = {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            yield "prterun (PRRTE)", tells, prterun(prefix, network, hosts, count), allowed
        else:
            sys.exit(f"{name} is no launcher: hydra, intel, prterun")


def run(command, variables):
    ended = subprocess.run(command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=TIME_S)
    return ended.returncode, ended.stdout, ended.stderr


def on_all(arguments, network, program):
    """Rows: launcher, version, what was asked for, what should be printed, and how it ended."""
    hosts, ranks = arguments.hosts, arguments.ranks
    everywhere = " ".join(f"host{1 + rank // ranks}/{ranks}" for rank in range(hosts * ranks))
    wanted = f"{hosts} hosts x {ranks}"
    for name, tells, command, variables in launchers(arguments, network):
        yield name, tells, wanted, everywhere, lambda: run([*network.launcher(), *command, program], variables)
    slurm = Slurm(network, hosts, ranks, program, os.environ)
    yield "srun --mpi=pmi2 (its answers)", "22.05", wanted, everywhere, slurm.finish
    for prefix in (other.split("=", 1)[1] for other in arguments.others if other.startswith("hydra=")):
        # One after the other, so that neither container has the ranks from the first on.
        inside = [["-n", "1", network.enter, network.address(1 + rank % 2), program] for rank in range(2 * ranks)]
        blocks = [word for block in inside for word in [":", *block]][1:]
        command = [*network.launcher(), f"{prefix}/bin/mpiexec.hydra", *blocks]
        tells = version([command[len(network.launcher())], "--version"], r"Version: +(\S+)")
        both = " ".join(f"host{1 + rank % 2}/{ranks}" for rank in range(2 * ranks))
        yield "mpiexec.hydra (MPICH)", tells, f"1 host, 2 networks x {ranks}", both, lambda: run(command, {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix")
    parser.add_argument("others", nargs="*")
    for name, default in [("hosts", 3), ("ranks", 2)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    # What was made is removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    has_failed = False
    print("| launcher | version | asked for | result |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(arguments.prefix, folder, "where", PROGRAM)
        network = Network(arguments.hosts, folder)
        try:
            for name, tells, wanted, expected, finish in on_all(arguments, network, program):
                try:
                    status, out, error = finish()
                except subprocess.TimeoutExpired:
                    status, out, error = f"none in {TIME_S} s", "", ""
                is_good = (status, out.strip()) == (0, expected)
                has_failed |= not is_good
                said = f": {' '.join((out + error).split())}"[:2000]
                result = expected if is_good else f"**status {status}**{said}"
                print(f"| {name} | {tells} | {wanted} | {result} |", flush=True)
        finally:
            network.close()
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main())
