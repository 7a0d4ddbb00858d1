#!/usr/bin/env python3
"""Measures implementations beside each other, on hosts that are namespaces of the network.

    tests/hosts/peers.py oxmpi=PREFIX mpich-ofi=PREFIX mpich-ucx=PREFIX openmpi=PREFIX [--hosts 2] [--ranks 1]
        [--rounds 3] [--only pingpong,...] [--least-ms 0.5] [--most-s 0.5] [--time-s 300] [--out FILE]
    tests/hosts/peers.py --show FILE...

A name says how its launcher is spoken to: `oxmpi...`, `mpich-ofi`, `mpich-ucx`, `openmpi`. Of each case there are some
rounds, in which all run in turn: the processors may be another pair in ten seconds. A cell is the median of the rounds,
and the last column the best peer's over ours: above 1 we are faster. The same for what is persistent, over our own
blocking call. All ranks share the processors of one machine. A run is ended when it has taken TIME_S, and the cells
that it has not come to are empty: with more ranks than processors those who wait by turning take milliseconds a step.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile

from network import Network

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = ["pingpong", "bandwidth", "barrier", "allreduce", "bcast", "alltoall", "neighbours", "persistent-allreduce",
         "persistent-neighbours"]
BLOCKING = "blocking-beside-"


def command(name, prefix, network, hosts, ranks, program):
    """How `hosts` x `ranks` of a program are started, and with which variables."""
    count = ["-n", str(hosts * ranks)]
    if name.startswith("oxmpi"):
        words = ["mpiexec", "-launcher", network.enter, "-host", network.hosts(ranks, hosts), *count]
        return [f"{prefix}/bin/{words[0]}", *words[1:], *program], {}
    if name.startswith("mpich"):
        words = ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", network.enter, "-localhost",
                 network.address(100), "-hosts", network.hosts(ranks, hosts), *count]
        variables = {"MPIR_CVAR_CH4_NETMOD": name.split("-")[1], "FI_PROVIDER": "tcp", "UCX_TLS": "tcp,self"}
        return [f"{prefix}/bin/{words[0]}", *words[1:], *program], variables
    own = network.address(0) + "/24"
    words = ["prterun", "--prefix", prefix, "--prtemca", "plm_ssh_agent", network.enter, "--prtemca", "prte_if_include",
             own, "--host", network.hosts(ranks, hosts), "--map-by", "slot:oversubscribe", "--bind-to", "none", *count,
             "-x", "OMPI_MCA_btl_tcp_if_include=" + own, "-x", "OPAL_PREFIX=" + prefix]
    allowed = {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return [f"{prefix}/bin/{words[0]}", *words[1:], *program], allowed


def run(name, prefix, network, arguments, case, program):
    """Case and bytes -> microseconds; of a persistent case's blocking calls, too, which are a case of their own."""
    program = [program, case, str(arguments.least_ms), str(arguments.most_s)]
    words, variables = command(name, prefix, network, arguments.hosts, arguments.ranks, program)
    started = subprocess.Popen([*network.launcher(), *words], env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        output, errors = started.communicate(timeout=arguments.time_s)
        if started.returncode:
            sys.exit(f"{name}: {' '.join(words)}: status {started.returncode}: {errors}")
    except subprocess.TimeoutExpired:
        network.end_all()
        output, _ = started.communicate()
    found = {}
    for case, size, *times in (line.split() for line in output.splitlines()):
        found.update(zip((f"{case} {size}", f"{BLOCKING}{case} {size}"), map(float, times)))
    return found


def measure(arguments, prefixes, found):
    key = f"{arguments.hosts} x {arguments.ranks}"
    with tempfile.TemporaryDirectory() as folder:
        programs = {}
        for name, prefix in prefixes.items():
            programs[name] = os.path.join(folder, name)
            source = [os.path.join(HERE, "peers.c"), "-o", programs[name]]
            subprocess.run([f"{prefix}/bin/mpicc", "-O2", *source], check=True, env={**os.environ, "OPAL_PREFIX": prefix}
                           if name == "openmpi" else None)
        network = Network(arguments.hosts, folder)
        try:
            cases = arguments.only.split(",")
            for case, name in [(case, name) for case in cases for _ in range(arguments.rounds) for name in prefixes]:
                times = run(name, prefixes[name], network, arguments, case, programs[name])
                for cell, time in times.items():
                    found.setdefault(key, {}).setdefault(cell, {}).setdefault(name, []).append(time)
        finally:
            network.close()


def show(found):
    for key, cells in found.items():
        names = sorted({name for times in cells.values() for name in times}, key=lambda name: (name != "oxmpi", name))
        print(f"\n{key} ranks, us (median of {max(len(t) for c in cells.values() for t in c.values())} rounds)\n")
        print("| case | bytes |", " | ".join(names), "| best peer / oxmpi | blocking / persistent |")
        print("|---|---:|" + "---:|" * (len(names) + 2))
        median = {cell: {name: statistics.median(times) for name, times in of.items()} for cell, of in cells.items()}
        for cell, times in median.items():
            case, size = cell.split()
            if case.startswith(BLOCKING):
                continue
            own, peers = times.get("oxmpi"), [time for name, time in times.items() if name != "oxmpi"]
            ratio = f"{min(peers) / own:.2f}" if own and peers else ""
            blocking = cells.get(BLOCKING + cell, {}).get("oxmpi", [])
            gains = [call / start for call, start in zip(blocking, cells[cell].get("oxmpi", []))]
            gain = f"{statistics.median(gains):.2f}" if gains else ""
            shown = " | ".join(f"{times[name]:.1f}" if name in times else "" for name in names)
            print(f"| {case} | {size} | {shown} | {ratio} | {gain} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("implementations", nargs="*")
    for name, default in [("hosts", 2), ("ranks", 1), ("rounds", 3)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--least-ms", type=float, default=0.5)
    parser.add_argument("--most-s", type=float, default=0.5)
    parser.add_argument("--time-s", type=float, default=300)
    parser.add_argument("--out")
    parser.add_argument("--show", nargs="+", default=[])
    arguments = parser.parse_args()
    # What was made is removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    found = {}
    for name in arguments.show:
        with open(name) as file:
            for key, cells in json.load(file).items():
                for cell, times in cells.items():
                    for who, list_ in times.items():
                        found.setdefault(key, {}).setdefault(cell, {}).setdefault(who, []).extend(list_)
    if arguments.implementations:
        measure(arguments, dict(item.split("=", 1) for item in arguments.implementations), found)
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(found, file)
    show(found)


if __name__ == "__main__":
    main()
