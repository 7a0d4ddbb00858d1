#!/usr/bin/env python3
"""What we aim at, what is measured, and a verdict.

    targets.py [options] NAME=PREFIX [NAME=PREFIX ...]     measure, then print
    targets.py --show FILE [FILE ...]                      print what was measured before

NAME is one of oxmpi, mpich, openmpi and intel, as for collectives.py, which this is made of: implementations take turns,
each peer stands at its best variant, and near and far processors are reported apart. Run it under `nice -n -20` on a
machine that does nothing else; all of it takes about an hour, `--only NAME,NAME` parts of it, and what `--out` has
written of earlier parts is shown along by `--show`.

A ratio is the best peer's time in a lifetime over ours in the same: above 1 we are the faster. A cell is an operation,
a root, a size and a number of ranks; it falls short if the 95 % bound of its ratio over the rounds is below the aim. The
mean is the geometric one over the cells' medians.
"""
import argparse
import json
import math
import os
import statistics
from collections import defaultdict

import collectives
import company
import edges
import pictures

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = "oxmpi"
COLLECTIVES = "barrier,bcast,gather,scatter,allgather,alltoall,reduce,allreduce,reduce_scatter_block,scan"
BETWEEN = "barrier,bcast,gather,scatter,allgather,alltoall,reduce,allreduce"
PAIRS = ("pingpong", "window")
FEW = ["--sizes", "8,64,1K,16K,64K,512K,1M,4M", "--ops", f"{COLLECTIVES},{','.join(PAIRS)}"]
MANY = ["--sizes", "8,1K,64K,1M", "--ops", f"{COLLECTIVES},{','.join(PAIRS)}"]
SHORT = ["--batches", "5", "--batch-ms", "3", "--point-ms", "400"]
# Name -> ranks, options of the program.
SETTINGS = {
    "two": (2, FEW),
    "two-page": (2, [*FEW, "--offset", "0"]),
    "two-alloc": (2, [*FEW, "--alloc-mem"]),
    "two-used": (2, [*FEW, "--used"]),
    "four": (4, MANY),
    "four-page": (4, [*MANY, "--offset", "0"]),
    "four-alloc": (4, [*MANY, "--alloc-mem"]),
    "eight": (8, MANY),
    "eight-page": (8, [*MANY, "--offset", "0"]),
    "eight-alloc": (8, [*MANY, "--alloc-mem"]),
    "two-between": (2, ["--inter", *FEW[:2], "--ops", BETWEEN]),
    "four-between": (4, ["--inter", *MANY[:2], "--ops", BETWEEN]),
    "eight-between": (8, ["--inter", *MANY[:2], "--ops", BETWEEN]),
}
K = 1 << 10
# Ranks, bytes from and to.
COLUMNS = {
    "2 ranks, 8-64 B": ((2,), 0, 64),
    "2 ranks, 1-64 KiB": ((2,), K, 64 * K),
    "2 ranks, 512 KiB-4 MiB": ((2,), 512 * K, 4 * K * K),
    "4 and 8 ranks": ((4, 8), 0, 4 * K * K),
}
PLAIN = ("two", "two-page", "four", "four-page", "eight", "eight-page")
ALLOC = ("two-alloc", "four-alloc", "eight-alloc")
USED = ("two-used",)
INTER = ("two-between", "four-between", "eight-between")
# What, in which settings, which operations, in which lifetime, and by column the aims of mean and worst cell.
AIMS = [
    ("persistent collectives", PLAIN, False, "persistent", ((1.8, 1.1), (1.8, 1.0), (1.25, 0.95), (1.2, 0.9))),
    ("the same, MPI_Alloc_mem", ALLOC, False, "persistent", ((1.8, None), (2.0, None), (1.8, None), (1.5, None))),
    ("blocking collectives", PLAIN, False, "blocking", ((1.1, 0.9), (1.2, 0.9), (1.1, 0.95), (1.2, 0.9))),
    ("nonblocking and wait", PLAIN, False, "nonblocking", ((1.8, 1.1), (1.5, 1.0), (1.2, 0.95), (1.2, 0.9))),
    *(
        (f"messages, {lifetime}", PLAIN, True, lifetime, ((None, 1.0),) * 4)
        for lifetime in collectives.LIFETIMES
    ),
    *(
        (f"between groups, {lifetime}", INTER, False, lifetime, ((1.2, 0.9), (1.2, 0.9), (1.1, 0.9), (1.1, 0.8)))
        for lifetime in collectives.LIFETIMES
    ),
]
# The same where data are written before each call and read after it: nobody has set an aim.
NO_AIM = ((None, None),) * 4
AIMS += [
    (f"data that are used, {lifetime}", USED, False, lifetime, NO_AIM) for lifetime in collectives.LIFETIMES
]
# Ranks, how many processes compute beside them, and how nice those are.
BESIDE = ((2, 2, 0), (2, 4, 19), (4, 2, 0), (4, 4, 19))
BESIDE_AIM = (1.0, 0.5)
# Student's t, two-sided 95 %, by rounds less one; beyond, as for ever.
STUDENT = (math.inf, 12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)


class Cell:
    """The ratio of one cell: its median and what it is at most, by the rounds."""

    def __init__(self, setting, row, ratios):
        self.setting, self.row = setting, row
        logs = [math.log(ratio) for ratio in ratios]
        self.ratio = math.exp(statistics.median(logs))
        t = STUDENT[min(len(logs), len(STUDENT)) - 1]
        spread = t * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
        self.most = math.exp(min(statistics.fmean(logs) + spread, 99))

    def __str__(self):
        operation, root, _, size = self.row
        return f"{operation}{' rotating' if root == 'rotating' else ''} {size} B ({self.setting}) {self.ratio:.2f}"


def measure(setting, arguments):
    """The points of a setting."""
    if setting == "edges":
        prefixes = dict(item.split("=", 1) for item in arguments.implementations)
        points = edges.measure(prefixes, arguments.rounds, OURS)
    elif setting == "beside":
        prefixes = dict(item.split("=", 1) for item in arguments.implementations)
        # Intel's package has no compiler.
        prefixes = {name: prefix for name, prefix in prefixes.items() if os.path.exists(f"{prefix}/bin/mpicc")}
        points = [
            {"ranks": ranks, "beside": beside, "nice": nice, **point}
            for ranks, beside, nice in BESIDE
            for point in company.rounds_beside(prefixes, ranks, beside, nice, arguments.rounds, 0.25)
        ]
    else:
        arguments.np, options = SETTINGS[setting]
        points = collectives.measure(arguments, [*options, *SHORT])
    return [{"setting": setting, **point} for point in points]


def by_rounds(points):
    """(state, setting, row, lifetime) -> implementation -> variant -> round -> microseconds, without what is wrong."""
    bad = collectives.faults(points)
    split = collectives.gap(sorted(point["line_lo"] for point in points if "line_lo" in point))
    times = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for point in points:
        at = collectives.state(point, split)
        if "med_us" in point and at is not None and collectives.subject_of(point) not in bad:
            row = (point["op"], point["root"], point["blocks"], point["bytes"])
            key = (at, point["setting"], row, point["mode"])
            times[key][point["impl"]][point["variant"]][point["turn"]] = point["med_us"]
    return times


def best(variants):
    """The rounds of an implementation's best variant."""
    return min(variants.values(), key=lambda rounds: statistics.median(rounds.values()))


def ratios(times):
    """The best peer over us, by the rounds that both have; None if one of them is missing."""
    peers = [best(variants) for name, variants in times.items() if name != OURS]
    if OURS not in times or not peers:
        return None
    mine, other = best(times[OURS]), min(peers, key=lambda rounds: statistics.median(rounds.values()))
    return [other[turn] / mine[turn] for turn in mine if turn in other] or None


def cells(times, state, settings, pairs, lifetime, column):
    ranks, least, most = COLUMNS[column]
    for (at, setting, row, mode), by_name in times.items():
        wanted = at == state and setting in settings and mode == lifetime and (row[0] in PAIRS) == pairs
        if wanted and SETTINGS[setting][0] in ranks and least <= row[3] <= most:
            found = ratios(by_name)
            if found:
                yield Cell(setting, row, found)


def cells_beside(points, column):
    """The calls of company.c, the longest with those of 4 MiB."""
    ranks, least, most = COLUMNS[column]
    times = defaultdict(lambda: defaultdict(lambda: {"": {}}))
    for point in points:
        times[point["ranks"], point["beside"], point["call"]][point["impl"]][""][point["turn"]] = point["us"]
    for (number, beside, call), by_name in times.items():
        operation, size, found = call.partition("-")[0], company.bytes_of(call), ratios(by_name)
        if found and number in ranks and least <= min(size, 4 * K * K) <= most:
            yield Cell(f"{number} beside {beside}", (operation, "", 0, size), found)


def verdict(found, aim):
    """The text of an entry of the table, and the cells that fall short."""
    mean_aim, worst_aim = aim
    if not found:
        return "-", []
    short = [cell for cell in found if worst_aim is not None and cell.most < worst_aim]
    mean, worst = statistics.geometric_mean(cell.ratio for cell in found), min(cell.ratio for cell in found)
    if aim == (None, None):
        return f"{mean:.2f} / {worst:.2f}", []
    parts = []
    if mean_aim is not None:
        parts.append(f"{mean:.2f} ({mean_aim})" if mean >= mean_aim else f"**{mean:.2f}** ({mean_aim})")
    if worst_aim is not None:
        count = f", {len(short)} of {len(found)} short" if short else ""
        parts.append(f"**{worst:.2f}** ({worst_aim}{count})" if short else f"{worst:.2f} ({worst_aim})")
    return " / ".join(parts), short


def print_aims(times, beside, state):
    print("| mean / worst cell (aim) | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
    falls_short = []
    for what, settings, pairs, lifetime, aims in AIMS:
        texts = []
        for column, aim in zip(COLUMNS, aims):
            text, short = verdict(list(cells(times, state, settings, pairs, lifetime, column)), aim)
            texts.append(text)
            falls_short += [(what, cell) for cell in short]
        print(f"| {what} | " + " | ".join(texts) + " |")
    texts = []
    for column in COLUMNS:
        text, short = verdict(list(cells_beside(beside, column)), BESIDE_AIM)
        texts.append(text)
        falls_short += [("beside others", cell) for cell in short]
    print("| beside 2 and 4 that compute | " + " | ".join(texts) + " |")
    return falls_short


def slower_than_blocking(times, state):
    """Cells in which our persistent form is slower than our blocking one, beyond doubt."""
    for (at, setting, row, lifetime), by_name in times.items():
        blocking = times.get((at, setting, row, "blocking"), {}).get(OURS)
        if at == state and lifetime == "persistent" and blocking and OURS in by_name:
            mine, other = best(by_name[OURS]), best(blocking)
            found = [other[turn] / mine[turn] for turn in mine if turn in other]
            if found and Cell(setting, row, found).most < 1:
                yield Cell(setting, row, found)


def report(points, folder):
    apart = [point for point in points if point["setting"] == "edges"]
    beside = [point for point in points if point["setting"] == "beside"]
    points = [point for point in points if point["setting"] not in ("edges", "beside")]
    times = by_rounds(points)
    for state in sorted({key[0] for key in times} or {""}):
        print(f"\n## Against the aims{state}\n")
        falls_short = print_aims(times, beside, state)
        slower = list(slower_than_blocking(times, state))
        print(f"\nPersistent slower than blocking: {', '.join(map(str, slower)) or 'nowhere'}.\n")
        for what, cell in sorted(falls_short, key=lambda pair: pair[1].ratio):
            print(f"- {what}: {cell}")
        if folder:
            draw(times, state, folder)
    if apart:
        edges.report(apart, OURS)
    if folder:
        draw_beside(beside, folder)


def draw(times, state, folder):
    """A picture for each operation and setting: time over size, a panel a lifetime, a line an implementation."""
    curves = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for (at, setting, (operation, root, _, size), lifetime), by_name in times.items():
        if at == state and root != "rotating" and operation != "barrier":
            for name, variants in by_name.items():
                curves[setting, operation][lifetime][name][size] = statistics.median(best(variants).values())
    os.makedirs(folder, exist_ok=True)
    for (setting, operation), panels in curves.items():
        name = f"{setting}-{operation}{state.replace(', ', '-')}.svg"
        title = f"{operation}, {SETTINGS[setting][0]} ranks{state}"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(pictures.time_over_size(title, panels))


def draw_beside(points, folder):
    """A picture of the calls for each number of ranks and of others: bars, a group a call."""
    runs = defaultdict(list)
    for point in points:
        runs[point["ranks"], point["beside"], point["nice"]].append(point)
    for (ranks, beside, nice), found in runs.items():
        title = f"{ranks} ranks beside {beside} processes that compute, nice {nice}"
        with open(os.path.join(folder, f"beside-{ranks}-{beside}.svg"), "w", encoding="utf-8") as file:
            file.write(pictures.bars(f"{title}: microseconds", company.medians(found)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--patience", type=float, default=30, help="seconds without a point after which a run hangs")
    parser.add_argument("--only", type=lambda text: text.split(","), help=f"of {', '.join(SETTINGS)}, beside, edges")
    parser.add_argument("--out", help="file to add the points to, one a line")
    parser.add_argument("--pictures", metavar="FOLDER", help="write SVGs there")
    parser.add_argument("--show", action="store_true", help="the arguments are files of points")
    parser.add_argument("implementations", nargs="+")
    arguments = parser.parse_intermixed_args()
    if arguments.show:
        lines = [line for file in arguments.implementations for line in open(file, encoding="utf-8")]
        points = list(map(json.loads, lines))
    else:
        points = []
        for setting in arguments.only or [*SETTINGS, "beside", "edges"]:
            got = measure(setting, arguments)
            points += got
            if arguments.out:
                with open(arguments.out, "a", encoding="utf-8") as file:
                    file.writelines(json.dumps(point) + "\n" for point in got)
    report(points, arguments.pictures)


if __name__ == "__main__":
    main()
