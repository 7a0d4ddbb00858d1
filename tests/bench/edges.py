"""What lies at the edges of the table of aims: floors, start-up, memory and idle ranks. Part of targets.py."""
import os
import statistics
import subprocess
import tempfile
import time

import collectives

HERE = os.path.dirname(os.path.abspath(__file__))
RANKS = 8
# Which of our calls is compared with which floor: operation, lifetime, ranks, the floor, and how many of it are aimed at.
FLOORED = [
    ("allreduce", "persistent", 2, "exchange", 1.35),
    ("barrier", "persistent", 2, "exchange", 1.35),
    ("barrier", "blocking", RANKS, "hand-over", 7),
]
# The processors of a virtual machine move from second to second: a call counts if the floors measured before and behind
# it differ by less, and is measured so often until they do.
STEADY = 1.4
TRIES = 8


def floors():
    """Name -> microseconds, of the machine without MPI."""
    with tempfile.TemporaryDirectory() as where:
        program = os.path.join(where, "floors")
        subprocess.run(["cc", "-O2", os.path.join(HERE, "floors.c"), "-o", program], check=True)
        text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {name: float(ns) / 1e3 for name, ns in map(str.split, text.splitlines())}


def in_floors(one, operation, lifetime, ranks, floor):
    """Microseconds of our call and of the floor, of a time in which the floor stayed as it was; None if there was none."""
    options = ["--ops", operation, "--modes", lifetime, "--roots", "fixed", "--sizes", "8", "--batches", "7"]
    [variant] = collectives.VARIANTS[one.name]["over" if ranks > len(os.sched_getaffinity(0)) else "fit"].values()
    for _ in range(TRIES):
        before = floors()
        points = one.run(variant, ranks, options, 60)
        around = [before.get(floor), floors().get(floor)]
        if points and None not in around and max(around) < STEADY * min(around):
            return points[0]["med_us"], statistics.fmean(around)
    return None


def run(one, variant, program, *arguments):
    """What the program prints, and milliseconds of the whole job."""
    command, environment = one.command(variant, RANKS, [program, *arguments])
    begin = time.perf_counter()
    text = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, timeout=60).stdout
    return dict(map(str.split, text.splitlines())), 1e3 * (time.perf_counter() - begin)


def measure(prefixes, rounds, ours):
    """Points: the implementation, what, and the median of a variant. Of ours also the calls compared with floors, with
    the floor's microseconds and the ratio, each the median of rounds."""
    points = []
    with tempfile.TemporaryDirectory() as where:
        implementations = [collectives.Implementation(name, prefixes, where) for name in prefixes]
        samples = {}
        for _ in range(rounds):
            for one in implementations:
                program = one.compile("edges", [os.path.join(HERE, "edges.c")])
                for name, variant in collectives.VARIANTS[one.name]["over"].items():
                    values, _ = run(one, variant, program)
                    values["start"] = run(one, variant, program, "start")[1]
                    for what, value in values.items():
                        samples.setdefault((one.name, what, name), []).append(float(value))
        for call in FLOORED:
            [one] = [one for one in implementations if one.name == ours]
            pairs = [pair for pair in (in_floors(one, *call[:-1]) for _ in range(rounds)) if pair]
            if pairs:
                mine, unit, ratio = map(statistics.median, zip(*((mine, unit, mine / unit) for mine, unit in pairs)))
                points.append({"impl": ours, "what": title(*call[:-1]), "value": mine, "unit": unit, "ratio": ratio})
    for (name, what, variant), values in samples.items():
        points.append({"impl": name, "what": what, "variant": variant, "value": statistics.median(values)})
    return points


def title(operation, lifetime, ranks, floor):
    return f"{lifetime} {operation} of {ranks}, in {floor}s"


def report(points, ours):
    least = {}
    for point in points:
        key = (point["impl"], point["what"])
        least[key] = min(point["value"], least.get(key, point["value"]))

    def over_best_peer(what):
        mine, peers = least.get((ours, what)), [value for (name, key), value in least.items() if key == what and name != ours]
        return (mine, min(peers), mine / min(peers)) if mine is not None and peers else None

    floored = {point["what"]: (point["value"], point["unit"], point["ratio"]) for point in points if "ratio" in point}
    rows = [(title(*call), floored.get(title(*call)), aim) for *call, aim in FLOORED]
    rows += [
        ("memory of a rank, over the best peer's", over_best_peer("kib"), 1),
        ("start-up, over the best peer's", over_best_peer("start"), 0.1),
    ]
    if (idle := least.get((ours, "idle"))) is not None:
        rows.append(("an idle rank, parts of a processor", (idle, 1, idle), 0.02))
    print("\n| 8 ranks, if nothing else is said | measured | unit | ratio | aim |\n|---|---:|---:|---:|---:|")
    for what, found, aim in rows:
        if found is not None:
            mine, unit, ratio = found
            mark = "**" if ratio > aim else ""
            print(f"| {what} | {mine:.4g} | {unit:.4g} | {mark}{ratio:.3g}{mark} | {aim} |")
