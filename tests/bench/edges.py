"""What lies at the edges of the table of aims: floors, start-up, memory and idle ranks. Part of targets.py."""
import os
import statistics
import subprocess
import tempfile
import time

import collectives

HERE = os.path.dirname(os.path.abspath(__file__))
RANKS = 8


def floors():
    """Name -> microseconds, of the machine without MPI."""
    with tempfile.TemporaryDirectory() as where:
        program = os.path.join(where, "floors")
        subprocess.run(["cc", "-O2", os.path.join(HERE, "floors.c"), "-o", program], check=True)
        text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {name: float(ns) / 1e3 for name, ns in map(str.split, text.splitlines())}


def run(one, variant, program, *arguments):
    """What the program prints, and milliseconds of the whole job."""
    command, environment = one.command(variant, RANKS, [program, *arguments])
    begin = time.perf_counter()
    text = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, timeout=60).stdout
    return dict(map(str.split, text.splitlines())), 1e3 * (time.perf_counter() - begin)


def measure(prefixes, rounds):
    """Points: the implementation (the machine, of floors), what, and the median of its best variant."""
    points = []
    with tempfile.TemporaryDirectory() as where:
        implementations = [collectives.Implementation(name, prefixes, where) for name in prefixes]
        samples = {}
        for _ in range(rounds):
            for what, value in floors().items():
                samples.setdefault(("machine", what, ""), []).append(value)
            for one in implementations:
                program = one.compile("edges", [os.path.join(HERE, "edges.c")])
                for name, variant in collectives.VARIANTS[one.name]["over"].items():
                    values, _ = run(one, variant, program)
                    values["start"] = run(one, variant, program, "start")[1]
                    for what, value in values.items():
                        samples.setdefault((one.name, what, name), []).append(float(value))
    for (name, what, variant), values in samples.items():
        points.append({"impl": name, "what": what, "variant": variant, "value": statistics.median(values)})
    return points


def report(points, ours, times):
    """`times`: (operation, ranks, lifetime) of ours, 8 B -> microseconds, where they have been measured."""
    least = {}
    for point in points:
        key = (point["impl"], point["what"])
        least[key] = min(point["value"], least.get(key, point["value"]))

    def best_peer(what):
        return min((value for (name, key), value in least.items() if key == what and name != ours), default=None)

    floor, hand_over = (least.get(("machine", what)) for what in ("exchange", "hand-over"))
    rows = [
        (f"persistent {operation} 8 B, in exchanges", times.get((operation, 2, "persistent")), floor, 1.35)
        for operation in ("allreduce", "barrier")
    ]
    rows += [
        ("barrier of 8 ranks, in hand-overs", times.get(("barrier", RANKS, "blocking")), hand_over, 7),
        ("memory of a rank, over the best peer's", least.get((ours, "kib")), best_peer("kib"), 1),
        ("start-up, over the best peer's", least.get((ours, "start")), best_peer("start"), 0.1),
        ("an idle rank, parts of a processor", least.get((ours, "idle")), 1, 0.02),
    ]
    print("\n| 8 ranks, if nothing else is said | measured | unit | ratio | aim |\n|---|---:|---:|---:|---:|")
    for what, mine, unit, aim in rows:
        if mine is not None and unit is not None:
            ratio = mine / unit
            mark = "**" if ratio > aim else ""
            print(f"| {what} | {mine:.4g} | {unit:.4g} | {mark}{ratio:.3g}{mark} | {aim} |")
