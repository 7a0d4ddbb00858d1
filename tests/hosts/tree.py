#!/usr/bin/env python3
"""Runs the multi-process tests of the tree, unchanged, on hosts that are namespaces of the network.

    cargo xtask hosts [FILE ...] [WORD ...]
    tests/hosts/tree.py PREFIX [FILE ...] [WORD ...]

All files of `tests/tests`, or those named (`requests`, `matrix`); of their tests all, or those whose names contain one of
the words. Needs root. A job of six ranks has two on each of three hosts; one of fewer or more has as many everywhere, but
for one. `tree.txt` beside this file names the tests that are not run, and why; what it names and nobody finds is an error.
Where the system has no libfabric, LD_LIBRARY_PATH names it.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile

from network import Network

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "tests")
HOSTS = 3


def left_out():
    """File -> tests of it that are not run; none for all of them."""
    tests = {}
    with open(os.path.join(HERE, "tree.txt")) as lines:
        for line in lines:
            if line.strip() and not line.startswith(("#", " ")):
                file, *names = line.split()
                tests.setdefault(file, []).extend(names)
    return tests


def script(path, command, unless="", options=()):
    """Makes a program of a command, with these options unless some words are among its arguments."""
    with open(path, "w") as file:
        file.write("#!/bin/sh\n")
        if options:
            file.write(f"case \" $* \" in *\" {unless} \"*) ;; *) set -- {' '.join(options)} \"$@\" ;; esac\n")
        file.write(f"exec {' '.join(command)} \"$@\"\n")
    os.chmod(path, 0o755)
    return path


def run(file, skipped, words, variables):
    """Whether all passed, and how many did."""
    command = ["cargo", "test", "--quiet", "--package", "oxmpi-tests", "--test", file, "--", *words]
    # Names are compared as a whole where there are no words, which are parts of names.
    command += [] if words else ["--exact"]
    # One at a time: all hosts share the memory and the processors of this machine.
    command += ["--test-threads", "1"]
    with open(os.path.join(TESTS, file + ".rs")) as source:
        text = source.read()
    for name in skipped:
        if not re.search(rf"\b{name}\b", text):
            sys.exit(f"tree.txt: there is no {name} in {file}")
        command += ["--skip", name]
    ended = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True)
    passed = sum(int(number) for number in re.findall(r"(\d+) passed", ended.stdout))
    if ended.returncode:
        print(ended.stdout, flush=True)
    return ended.returncode == 0, passed


def main():
    prefix, *arguments = sys.argv[1:]
    files = sorted(name[:-3] for name in os.listdir(TESTS) if name.endswith(".rs"))
    named = [word for word in arguments if word in files]
    words = [word for word in arguments if word not in files]
    # What was made is removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    out, failed, total = left_out(), [], 0
    with tempfile.TemporaryDirectory() as folder:
        network = Network(HOSTS, folder)
        try:
            hosts = ",".join(network.address(host) for host in range(1, HOSTS + 1))
            # Tests pass it on to nobody; where the system has no libfabric, it names one, behind what a test may say.
            path = os.environ.get("LD_LIBRARY_PATH")
            found = ["env", f'LD_LIBRARY_PATH="${{LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}}{path}"'] if path else []
            launch = [*found, *network.launcher(), f"{prefix}/bin/mpiexec"]
            variables = {
                "OXMPI_TEST_PREFIX": prefix,
                # A test that names hosts has these alone, all of which are that of the launcher.
                "OXMPI_TEST_MPIEXEC": script(os.path.join(folder, "mpiexec"), launch, "-launcher fork",
                                             ["-launcher", network.enter, "-host", hosts]),
                # A program without a launcher is where the first ranks of others are.
                "OXMPI_TEST_ALONE": script(os.path.join(folder, "alone"), [*found, network.enter, network.address(1)]),
            }
            for file in named or files:
                if out.get(file) == []:  # all of it
                    continue
                passes, passed = run(file, out.get(file, []), words, variables)
                total += passed
                failed += [] if passes else [file]
                print(f"{file}: {passed} passed{'' if passes else ', others FAILED'}", flush=True)
        finally:
            network.close()
    print(f"{total} passed; failed: {', '.join(failed) or 'none'}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
