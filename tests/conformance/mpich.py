#!/usr/bin/env python3
"""Runs MPICH's public test programs against an installed oxmpi, and counts them by category.

PREFIX is what `cargo xtask install --prefix` was given, MPICH a copy of MPICH's source, FOLDER where programs are
built and logs are written. A category is a folder below test/mpi of MPICH; without any, those of CATEGORIES run.
Each line of a category's testlist is one run: a program, a number of ranks, arguments, and how to judge the result.

Runs that end at a function which is not built yet are counted apart, and so are failures that `mpich.toml` names
with their reasons. The exit status is 1 if there are others, or if a program that is named there does not fail.
"""

import argparse
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

CATEGORIES = [
    *("attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "pt2pt"),
    *("part", "session", "spawn", "topo"),
    *(f"threads/{kind}" for kind in ("coll", "comm", "init", "part", "pt2pt", "spawn")),
    *(f"errors/{kind}" for kind in ("attr", "coll", "comm", "datatype", "group", "pt2pt", "session", "spawn", "topo")),
]
OUTCOMES = ["passed", "skipped", "function missing", "excused", "failed", "not compiled"]
DEFAULT_TIMEOUT_S = 180
COMMON_SOURCES = ["util/mtest.c", "util/mtest_common.c", "util/dtypes.c"]
COMMON_FLAGS = ["-g", "-O1", "-w"]

# What MPICH's configure script would find out about this machine and an MPI library that is not MPICH. Ten programs
# of neighbourhood collectives are empty but for MPICH itself, unless TEST_NEIGHB_COLL asks for what they test.
CONFIGURATION = """
#define _GNU_SOURCE 1
#define HAVE_ATOMIC 1
#define HAVE_DOUBLE__COMPLEX 1
#define HAVE_FLOAT__COMPLEX 1
#define HAVE_INTTYPES_H 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_DOUBLE__COMPLEX 1
#define HAVE_LONG_LONG 1
#define HAVE_LONG_LONG_INT 1
#define HAVE_MPI_COMPLEX32 1
#define HAVE_MPI_INTEGER16 1
#define HAVE_MPI_REAL16 1
#define HAVE_PTHREAD_BARRIER_INIT 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#define HAVE__BOOL 1
#define TEST_NEIGHB_COLL 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
#define USE_LONG_DOUBLE_COMPLEX 1
#define USE_STRICT_MPI 1
#include <stdint.h>
"""


@dataclass(frozen=True)
class Run:
    """One line of a testlist."""

    category: str
    program: str
    ranks: int
    arguments: tuple[str, ...] = ()
    judge: str = "TestNormal"
    timeout_s: int = field(default=DEFAULT_TIMEOUT_S, compare=False)
    memory_gib: float = field(default=0.0, compare=False)
    environment: tuple[tuple[str, str], ...] = ()

    def __str__(self):
        return " ".join([f"{self.category}/{self.program}", f"-n {self.ranks}", *self.arguments])


def translated(assignment):
    """What we call a variable of MPICH's that is set for a run, if we have it."""
    name, _, value = assignment.partition("=")
    if name.endswith("_COMM_CONNECT_TIMEOUT"):
        yield "OXMPI_CONNECT_TIMEOUT", value


def read_testlist(tests, category):
    """The runs of a category, each once: lines that differ in variables of MPICH alone are one run."""
    path = next(p for p in (tests / category / "testlist", tests / category / "testlist.in") if p.exists())
    runs = {}
    for line in path.read_text().splitlines():
        # MPICH runs these only when it was configured to look for arguments that do not match between ranks.
        if line.startswith("@coll_error@"):
            continue
        words = re.sub(r"@\w+@", "", line).split("#")[0].split()
        if len(words) < 2:
            continue
        options = [word.partition("=") for word in words[2:]]
        values = {key: value for key, _, value in options}
        run = Run(
            category,
            words[0],
            int(words[1]),
            tuple(value for key, _, value in options if key == "arg"),
            values.get("resultTest", "TestNormal"),
            int(values.get("timeLimit", DEFAULT_TIMEOUT_S)),
            float(values.get("mem", 0)),
            tuple(ours for key, _, value in options if key == "env" for ours in translated(value)),
        )
        runs.setdefault(run, run)
    return list(runs)


class Builder:
    """Compiles MPICH's programs with our compiler wrapper."""

    def __init__(self, prefix, tests, folder):
        self.compiler, self.tests, self.folder = prefix / "bin/mpicc", tests, folder
        include = folder / "include"
        include.mkdir(parents=True, exist_ok=True)
        (include / "mpitestconf.h").write_text(CONFIGURATION)
        # Declarations of MPICH's own functions, of which there are none here.
        (include / "mtest_mpix.h").write_text("")
        # Found from the include path, as "../dtpoolsconf.h".
        (folder / "dtpoolsconf.h").write_text(CONFIGURATION)
        includes = [include, tests / "include", tests / "dtpools/include"]
        self.flags = [*COMMON_FLAGS, *(f"-I{path}" for path in includes)]
        sources = [*(tests / source for source in COMMON_SOURCES), *sorted((tests / "dtpools/src").glob("*.c"))]
        self.common = [self.compile(source) for source in sources]
        self.init = {kind: self.compile(tests / f"util/mtest_{kind}.c") for kind in ("single", "thread")}
        self.main = self.compile(tests / "util/run_mpitests.c")
        self.built = {}

    def compile(self, source):
        built = self.folder / f"{source.stem}.o"
        subprocess.run([self.compiler, *self.flags, "-c", source, "-o", built], check=True)
        return built

    def program(self, run):
        """The program of a run, or the compiler's complaint."""
        key = (run.category, run.program)
        if key not in self.built:
            self.built[key] = self.link(*key)
        return self.built[key]

    def link(self, category, name):
        folder = self.tests / category
        makefile = (folder / "Makefile.am").read_text()
        assigned = {
            what: re.search(rf"^{name}_{what}\s*=(.*)", makefile, re.M) for what in ("SOURCES", "CPPFLAGS")
        }
        names = assigned["SOURCES"].group(1).split() if assigned["SOURCES"] else [f"{name}.c"]
        flags = assigned["CPPFLAGS"].group(1).split() if assigned["CPPFLAGS"] else []
        sources = [folder / source for source in names]
        if not sources[0].exists():
            return None, f"no {sources[0].name}"
        objects = [*self.common, self.init["thread" if category.startswith("threads") else "single"]]
        # These programs leave main to a driver.
        if re.search(r"^int run\(const char", sources[0].read_text(), re.M):
            objects.append(self.main)
        # They spawn themselves as ./NAME.
        program = self.folder / category / name
        program.parent.mkdir(parents=True, exist_ok=True)
        flags = [flag for flag in flags if flag.startswith("-D")]
        command = [self.compiler, *self.flags, f"-I{folder}", *flags, *sources, *objects]
        done = subprocess.run([*command, "-lpthread", "-lm", "-o", program], capture_output=True, text=True)
        errors = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
        return (program, "") if done.returncode == 0 else (None, "; ".join(errors[:3]))


def judged(run, status, output):
    """Whether a run passed, was skipped by the program itself, or failed: the rules of MPICH's own driver."""
    lines = [line.strip() for line in output.splitlines()]
    if run.judge in ("TestErrFatal", "TestStatus"):
        # mpiexec answers 124 when time is up; a program with a limit of its own is there to meet it.
        hung = status == 124 and run.timeout_s == DEFAULT_TIMEOUT_S
        return "failed" if status == 0 or hung else "passed"
    quiet = all(re.fullmatch(r"No [Ee]rrors|Test Skipped|", line) for line in lines)
    if status != 0 or not (quiet or run.judge == "TestAllowWarnings"):
        return "failed"
    if "Test Skipped" in lines:
        return "skipped"
    return "passed" if any(re.fullmatch("No [Ee]rrors", line) for line in lines) else "failed"


def execute(prefix, launch, program, run, timeout_s):
    command = [prefix / "bin/mpiexec", *launch, "--timeout", timeout_s, "-n", run.ranks, program, *run.arguments]
    done = subprocess.run(
        [str(word) for word in command],
        cwd=program.parent,
        env=os.environ | dict(run.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return done.returncode, done.stdout


def outcome(builder, prefix, run, options):
    """What came of one run, and what to say about it."""
    if run.memory_gib > options.memory_gib:
        return "skipped", f"needs {run.memory_gib:g} GiB"
    program, complaint = builder.program(run)
    if program is None:
        return "not compiled", complaint
    status, output = execute(prefix, options.launch, program, run, min(run.timeout_s, options.timeout_s))
    result = judged(run, status, output)
    missing = re.search(r"(MPI_\w+): not built in this version", output)
    if result == "failed" and missing:
        return "function missing", f"{missing[1]}\n{output[:4000]}"
    return result, "" if result == "passed" else f"exit status {status}\n{output[:4000]}"


@dataclass
class Report:
    """Counts by category, and what was not expected."""

    excuses: dict[tuple[str, str], str]
    logs: Path
    counts: dict[str, Counter] = field(default_factory=dict)
    programs: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def add(self, run, result, why):
        key = (run.category, run.program)
        excuse = self.excuses.get(key)
        if result in ("failed", "not compiled") and excuse:
            result = "excused"
        self.programs.setdefault(key, set()).add(result)
        self.counts.setdefault(run.category, Counter()).update(["runs", result])
        if result != "passed":
            print(f"{run}: {result}: {excuse or why.splitlines()[0]}", flush=True)
            self.logs.mkdir(exist_ok=True)
            (self.logs / f"{str(run).replace('/', '_').replace(' ', '_')}.txt").write_text(why)

    def table(self):
        columns = ["programs", "runs", *OUTCOMES]
        yield "| category |" + "".join(f" {column} |" for column in columns)
        yield "|---|" + "---:|" * len(columns)
        for category, count in self.counts.items():
            programs = sum(of == category for of, _ in self.programs)
            row = [category, programs, *(count[column] for column in columns[1:])]
            yield "|" + "".join(f" {cell} |" for cell in row)

    def surprises(self):
        """What should make somebody look: bad results that are not excused, and excuses for nothing."""
        for (category, program), results in self.programs.items():
            excused = (category, program) in self.excuses
            if results & {"failed", "not compiled"}:
                yield f"{category}/{program} is not excused"
            if excused and "excused" not in results:
                yield f"{category}/{program} is excused without need"


def read_excuses(path):
    """Reasons by category and program."""
    named = tomllib.loads(path.read_text())
    return {(category, program): why for category, of in named.items() for program, why in of.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=Path)
    parser.add_argument("mpich", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("category", nargs="*", default=CATEGORIES)
    parser.add_argument("--only", type=lambda names: names.split(","), help="programs, separated by commas")
    parser.add_argument("--memory-gib", type=float, default=4, help="skip runs that need more")
    parser.add_argument("--timeout-s", type=int, default=60, help="end runs that take longer")
    parser.add_argument("--launch", type=str.split, default=[], help="options of mpiexec, such as its hosts")
    options = parser.parse_intermixed_args()
    prefix, tests, folder = options.prefix.resolve(), options.mpich.resolve() / "test/mpi", options.folder.resolve()

    builder = Builder(prefix, tests, folder)
    report = Report(read_excuses(Path(__file__).with_suffix(".toml")), folder / "logs")
    for category in options.category:
        for run in read_testlist(tests, category):
            if not options.only or run.program in options.only:
                report.add(run, *outcome(builder, prefix, run, options))
    print("\n".join(report.table()))
    surprises = list(report.surprises())
    print("\n".join(surprises))
    sys.exit(bool(surprises))


if __name__ == "__main__":
    main()
