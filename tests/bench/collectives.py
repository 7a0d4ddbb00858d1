#!/usr/bin/env python3
"""Run collectives/ with several MPI implementations in turn, and compare.

    collectives.py [options] NAME=PREFIX [NAME=PREFIX ...] [-- options of the program]
    collectives.py --show FILE [FILE ...]

NAME is one of oxmpi, mpich, openmpi and intel; PREFIX is where bin/mpiexec is. Intel MPI without a compiler is compiled
with the headers of MPICH, which must be named too. Run it under `nice -n -20`; what the program takes stands in
collectives/main.c, and `--inter`, `--sizes`, `--ops` are the most useful.

First every implementation runs once with --check. A point with wrong data, an error, a crash or a hang is named and
counts for nobody. Then they take turns, round after round. A figure is the median over the rounds of the median over
batches, in microseconds, and a peer stands at the best of its variants. Two processors of a virtual machine may be near
to one another or far; with no more ranks than processors, the program tells which, and the two are reported apart.

Ratios are times of the subject over those of the others: below 1 it is the faster. P/P: persistent over the best peer's
persistent; P/any: over the best peer's best lifetime; P/B: over its own blocking; B/any: blocking over the best peer's
best; P/reg: over the persistent form whose blocks have no lengths (only where they are all alike); P/msg: exchange with
neighbours over the same by persistent messages.
"""
import argparse
import itertools
import json
import math
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import uuid
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
# Where the scheduler groups processes by session, a nice value counts within the group only; a group has its own.
RANK = ["sh", "-c", '(nice > /proc/self/autogroup) 2> /dev/null; exec "$0" "$@"']
LIFETIMES = ("blocking", "nonblocking", "persistent")
SM = ["--mca", "pml", "ob1", "--mca", "btl", "self,sm"]
UCX = ["--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any"]
# Arguments of mpiexec and environment, where the ranks fit the processors and where they do not.
VARIANTS = {
    "oxmpi": {"fit": {"default": ([], {})}, "over": {"default": ([], {})}},
    "mpich": {
        "fit": {"bind": (["-bind-to", "core"], {})},
        "over": {
            "throttle": (
                [],
                {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "64"},
            )
        },
    },
    "openmpi": {
        "fit": {
            "ucx": (["--bind-to", "core", *UCX], {"UCX_TLS": "self,sm"}),
            "sm": (["--bind-to", "core", *SM], {}),
            "sm-nocma": (["--bind-to", "core", *SM, "--mca", "smsc", "^cma"], {}),
        },
        "over": {
            "sm": (["--map-by", ":OVERSUBSCRIBE", *SM, "--mca", "mpi_yield_when_idle", "1"], {}),
            "sm-nocma": (
                ["--map-by", ":OVERSUBSCRIBE", *SM, "--mca", "mpi_yield_when_idle", "1", "--mca", "smsc", "^cma"],
                {},
            ),
        },
    },
    "intel": {"fit": {"default": ([], {})}, "over": {"default": ([], {}), "yield": ([], {"I_MPI_THREAD_YIELD": "2"})}},
}
# The form without lengths of what takes lengths, and the same exchange by messages.
REGULAR = {
    "gatherv": "gather",
    "scatterv": "scatter",
    "allgatherv": "allgather",
    "alltoallv": "alltoall",
    "alltoallw": "alltoall",
    "reduce_scatter": "reduce_scatter_block",
    "neighbor_allgatherv": "neighbor_allgather",
    "neighbor_alltoallv": "neighbor_alltoall",
    "neighbor_alltoallw": "neighbor_alltoall",
}
BY_MESSAGES = {
    "neighbor_alltoall": "halo_messages",
    "neighbor_alltoallv": "halo_messages",
    "neighbor_alltoallw": "halo_messages",
    "field_alltoallw": "field_messages",
}
MESSAGES = set(BY_MESSAGES.values())
WRONG = "wrong data"


class Implementation:
    """One that is compiled for, with what must not be run with it."""

    def __init__(self, name, prefixes, where):
        self.name, self.prefix, self.skip = name, prefixes[name], []
        self.where = where
        self.environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        self.compiler = [f"{self.prefix}/bin/mpicc"]
        if name == "intel" and not os.path.exists(self.compiler[0]):
            library = ["-L" + f"{self.prefix}/lib", "-l:libmpi.so.12", "-Wl,--allow-shlib-undefined"]
            self.compiler = ["cc", "-I" + f"{prefixes['mpich']}/include", *library]
            self.environment |= {"I_MPI_ROOT": self.prefix, "LD_LIBRARY_PATH": f"{self.prefix}/lib"}
        folder = os.path.join(HERE, "collectives")
        sources = [os.path.join(folder, file) for file in os.listdir(folder) if file.endswith(".c")]
        self.program = self.compile("collectives", sources)

    def compile(self, what, sources):
        program = os.path.join(self.where, f"{self.name}-{what}")
        compiler, *libraries = self.compiler
        subprocess.run([compiler, "-std=c99", "-O2", *sources, "-o", program, *libraries], check=True)
        return program

    def command(self, variant, ranks, program, tag=""):
        """What starts a program, and its environment, with something that tells its processes."""
        options, environment = variant
        environment = {**os.environ, **self.environment, **environment, "COLLECTIVES_RUN": tag}
        return [f"{self.prefix}/bin/mpiexec", *options, "-n", str(ranks), *program], environment

    def run(self, variant, ranks, program_arguments, patience_s):
        """The points of a run; what stops one is skipped from then on, and the run begun again behind it."""
        points = []
        while True:
            done = [label(point) for point in points]
            finished, unfinished = self.launch(variant, ranks, program_arguments, done, patience_s)
            points += finished
            if unfinished is None:
                return points
            print(f"# {self.name} stops in {label(unfinished)}", file=sys.stderr, flush=True)
            points.append({**unfinished, "error": "crash or hang"})
            whole = f"{unfinished['op']}/{unfinished['mode']}"
            again = sum(skipped.startswith(whole) for skipped in self.skip) >= 2
            self.skip.append(whole if again else label(unfinished))

    def launch(self, variant, ranks, program_arguments, done, patience_s):
        """Points that came to an end, and the one that did not, if any."""
        skip = [*self.skip, *done]
        if "--skip" in program_arguments:
            skip.append(program_arguments[program_arguments.index("--skip") + 1])
        program_arguments = [*program_arguments, "--skip", ",".join(skip)]
        tag = uuid.uuid4().hex
        command, environment = self.command(variant, ranks, [*RANK, self.program, *program_arguments], tag)
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
            text, hung = read(process.stdout, patience_s)
            if hung:
                end_all(tag)
            process.stdout.close()
            code = process.wait()
            errors.seek(0)
            tail = errors.read()[-300:]
        lines = [line for line in text.splitlines() if line.startswith('{"op"')]
        points = [json.loads(line) for line in lines if line.endswith("}")]
        started = [json.loads(line.split(',"wrong"')[0] + "}") for line in lines[-1:] if not line.endswith("}")]
        if code != 0 and not points and not started:
            print(f"# {' '.join(command)}: {code}\n{tail}", file=sys.stderr, flush=True)
        return points, started[0] if started else None


def read(pipe, patience_s):
    """All that comes out, and whether nothing came for too long."""
    text = b""
    while select.select([pipe], [], [], patience_s)[0]:
        piece = os.read(pipe.fileno(), 1 << 16)
        if not piece:
            return text.decode(errors="replace"), False
        text += piece
    return text.decode(errors="replace"), True


def end_all(tag):
    """Ends the processes of a run that hangs, and only those: they carry its tag."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                if tag.encode() in file.read():
                    os.kill(int(process), signal.SIGKILL)
        except OSError:
            pass


def label(point):
    return "/".join(str(point[key]) for key in ("op", "mode", "root", "blocks", "bytes"))


def measure(arguments, program_arguments):
    """All points of the check and of the rounds, as they are written to the file."""
    prefixes = dict(item.split("=", 1) for item in arguments.implementations)
    fit = "fit" if arguments.np <= len(os.sched_getaffinity(0)) else "over"
    points = []
    with tempfile.TemporaryDirectory() as where:
        implementations = [Implementation(name, prefixes, where) for name in prefixes]
        runs = [(one, name, variant) for one in implementations for name, variant in VARIANTS[one.name][fit].items()]
        turns = [("check", one, *next(iter(VARIANTS[one.name][fit].items()))) for one in implementations]
        turns += [(f"round {k}", *run) for k in range(arguments.rounds) for run in runs]
        for turn, one, name, variant in turns:
            options = [*program_arguments, *(["--check", "--batches", "4"] if turn == "check" else [])]
            got = one.run(variant, arguments.np, options, arguments.patience)
            points += [{"impl": one.name, "variant": name, "turn": turn, **point} for point in got]
            print(f"# {turn}: {one.name} {name}: {len(got)} points", file=sys.stderr, flush=True)
    return points


def faults(points):
    """(implementation, communicator, ranks, operation, lifetime, root, blocks) -> what is wrong with it."""
    found = {}
    for point in points:
        if point.get("wrong") or point.get("error"):
            found.setdefault(subject_of(point), point.get("error") or WRONG)
    return found


def subject_of(point):
    return tuple(point[key] for key in ("impl", "comm", "np", "op", "mode", "root", "blocks"))


def gap(times):
    """Nanoseconds between near and far, of sorted times: where two groups of them are most unlike; None if these are
    alike."""
    logs = [math.log(time) for time in times if time > 0]
    mean = sum(logs) / max(len(logs), 1)
    sums = list(itertools.accumulate(log - mean for log in logs))
    places = range(1, len(logs))
    # As much of the variance as possible lies between the groups, not within.
    split = max(places, key=lambda k: sums[k - 1] ** 2 / (k * (len(logs) - k)), default=None)
    if split is None:
        return None
    near, far = statistics.median(logs[:split]), statistics.median(logs[split:])
    return math.exp((near + far) / 2) if far - near >= math.log(1.7) else None


def state(point, split):
    """The end of a title; None if the machine changed while the point was measured."""
    if "line_lo" not in point:
        return ""
    if split is None:
        return ""
    return ", near" if point["line_hi"] < split else ", far" if point["line_lo"] >= split else None


def medians(points, bad):
    """Title -> (operation, root, blocks, bytes) -> lifetime -> implementation -> microseconds, without the bad."""
    split = gap(sorted(point["line_lo"] for point in points if "line_lo" in point))
    samples = defaultdict(list)
    for point in points:
        if "med_us" not in point or subject_of(point) in bad:
            continue
        at = state(point, split)
        if at is not None:
            kind = "between two halves of" if point["comm"] == "inter" else "within"
            title = f"{kind} {point['np']} ranks{at}"
            row = (point["op"], point["root"], point["blocks"], point["bytes"])
            samples[title, row, point["mode"], point["impl"], point["variant"]].append(point["med_us"])
    tables = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for (title, row, lifetime, name, _), times in samples.items():
        cell = tables[title][row][lifetime]
        cell[name] = min(cell.get(name, math.inf), statistics.median(times))
    return tables


def least(times, names):
    """The best of the named implementations, (microseconds, name), or None."""
    return min(((times[name], name) for name in names if name in times), default=None)


def over(mine, other):
    return mine / other if mine is not None and other is not None else None


def ratios(table, row, subject, peers):
    """Column -> ratio of the subject's time to another one, None where one of them is missing."""
    operation, root, blocks, size = row
    times = table[row]
    mine = {lifetime: times[lifetime].get(subject) for lifetime in LIFETIMES}
    best = {lifetime: (least(times[lifetime], peers) or (None,))[0] for lifetime in LIFETIMES}
    best_any = min((time for time in best.values() if time is not None), default=None)
    persistent = mine["persistent"]

    def instead(operations, root=root, blocks=blocks):
        other = (operations.get(operation), root, blocks, size)
        return table[other]["persistent"].get(subject) if other in table else None

    regular = instead(REGULAR) if blocks == "equal" else None
    return {
        "P/P": over(persistent, best["persistent"]),
        "P/any": over(persistent, best_any),
        "P/B": over(persistent, mine["blocking"]),
        "B/any": over(mine["blocking"], best_any),
        "P/reg": over(persistent, regular),
        "P/msg": over(persistent, instead(BY_MESSAGES)) if blocks == "equal" else None,
    }


def figure(number):
    if number is None:
        return "-"
    return f"{number:.3f}" if number < 1 else f"{number:.2f}" if number < 10 else f"{number:.0f}"


def name_of(row):
    operation, root, blocks, _ = row
    return operation + (", rotating" if root == "rotating" else "") + (", uneven" if blocks == "uneven" else "")


def print_peers(table, names):
    """Without a subject: each implementation in each lifetime, the best in bold."""
    print("| op | bytes |" + "".join(f" {lifetime}: {' / '.join(names)} |" for lifetime in LIFETIMES) + " least |")
    print("|---|---:|" + "---|" * (len(LIFETIMES) + 1))
    for row, times in table.items():
        cells, candidates = [], []
        for lifetime in LIFETIMES:
            best = least(times[lifetime], names)
            shown = [figure(times[lifetime].get(name)) for name in names]
            if best:
                shown[names.index(best[1])] = f"**{figure(best[0])}**"
                candidates.append((*best, lifetime))
            cells.append(" / ".join(shown))
        time, name, lifetime = min(candidates)
        print(f"| {name_of(row)} | {row[3]} | {' | '.join(cells)} | {figure(time)} {name} {lifetime[0].upper()} |")


def print_subject(table, names, subject):
    """The subject beside the best of the others, and ratios; then their geometric means."""
    peers = [name for name in names if name != subject]
    columns = ("P/P", "P/any", "P/B", "B/any", "P/reg", "P/msg")
    print(f"| op | bytes | {subject} B / N / P | best peer B / N / P | " + " | ".join(columns) + " |")
    print("|---|---:|---|---|" + "---:|" * len(columns))
    means = defaultdict(lambda: defaultdict(list))
    for row, times in table.items():
        if not any(subject in times[lifetime] for lifetime in LIFETIMES):
            continue
        mine = " / ".join(figure(times[lifetime].get(subject)) for lifetime in LIFETIMES)
        best = [least(times[lifetime], peers) for lifetime in LIFETIMES]
        theirs = " / ".join(f"{figure(pair[0])} {pair[1]}" if pair else "-" for pair in best)
        found = ratios(table, row, subject, peers)
        print(f"| {name_of(row)} | {row[3]} | {mine} | {theirs} | " + " | ".join(map(figure, found.values())) + " |")
        for column, ratio in found.items():
            if ratio is not None:
                means[name_of(row)][column].append(ratio)
                if row[0] not in MESSAGES:
                    means["all collectives"][column].append(ratio)
    print("\nGeometric mean over the sizes (greatest):\n")
    print("| op | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
    for name in [*(name for name in means if name != "all collectives"), "all collectives"]:
        cells = [means[name][column] for column in columns]
        shown = (f"{statistics.geometric_mean(cell):.2f} ({max(cell):.2f})" if cell else "-" for cell in cells)
        print(f"| {name} | " + " | ".join(shown) + " |")


def report(points, subject, with_wrong):
    names = list(dict.fromkeys(point["impl"] for point in points))
    lines = sorted(point["line_lo"] for point in points if "line_lo" in point)
    if lines:
        deciles = " ".join(f"{lines[k * (len(lines) - 1) // 10]:.0f}" for k in range(11))
        print(f"A cache line crosses in (ns, deciles): {deciles}")
    bad = faults(points)
    left_out = {point: why for point, why in bad.items() if not with_wrong or why != WRONG}
    for title, table in medians(points, left_out).items():
        print(f"\n## {title[0].upper()}{title[1:]}\n")
        if subject in names and len(names) > 1:
            print_subject(table, names, subject)
        else:
            print_peers(table, names)
    if bad:
        print("\n## " + ("Faults, with what is only wrong above" if with_wrong else "Left out") + "\n")
    for (name, comm, ranks, *what), why in bad.items():
        print(f"- {name}, {comm}, {ranks} ranks: {'/'.join(what)}: {why}")


def main():
    arguments, program_arguments = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, program_arguments = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--np", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=30, help="seconds without a point after which a run hangs")
    parser.add_argument("--out", help="file to add the points to, one a line")
    parser.add_argument("--show", action="store_true", help="the arguments are such files: print their tables")
    parser.add_argument("--subject", default="oxmpi")
    parser.add_argument("--with-wrong", action="store_true", help="what leaves wrong data in the right time counts too")
    parser.add_argument("implementations", nargs="+")
    arguments = parser.parse_args(arguments)
    if arguments.show:
        lines = [line for file in arguments.implementations for line in open(file, encoding="utf-8")]
        points = list(map(json.loads, lines))
    else:
        points = measure(arguments, program_arguments)
        if arguments.out:
            with open(arguments.out, "a", encoding="utf-8") as file:
                file.writelines(json.dumps(point) + "\n" for point in points)
    report(points, arguments.subject, arguments.with_wrong)


if __name__ == "__main__":
    main()
