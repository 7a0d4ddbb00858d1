#!/usr/bin/env python3
"""Compare what measuring chooses (binding.c) with each algorithm forced in turn.

    binding.py [--ops NAME,NAME,...] [--ranks N,N,...] [--bytes N,N,...] [--ms MS] [--trials] PREFIX

A cell is a collective, a number of ranks and a length. For each are printed what was estimated to be the best, what
was measured to be and what is, forced in turn, with its time in us, and the times of what was measured and estimated
over that: medians, of the ratios of batches that ran one after the other. A cell is found if the measured one takes at
most 5 % longer than the best, missed if it does so in three quarters of the batches, and else left open by the noise.
Algorithms that do not serve a cell are not among those of `oxmpi plan`. With --trials what each took while it was
tried is printed over what it takes when it is bound. Run it with nothing else on the machine.
"""
import argparse
import collections
import os
import re
import statistics
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLLECTIVES = ["allgather", "allreduce", "alltoall", "barrier", "bcast", "exscan", "gather", "reduce",
               "reduce_scatter_block", "scan", "scatter"]
TOLERANCE = 1.05


def algorithms(prefix, collective, ranks, length):
    """The admissible ones, by the list that `oxmpi plan` prints above the plans."""
    command = [f"{prefix}/bin/oxmpi", "plan", collective, "-n", str(ranks), "--count", str(length // 8), "--rank", "0"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    listed = re.findall(r"^ [* ] ([a-z-]+)", text.split("\nrank ")[0], re.M)
    return listed


def measure(prefix, program, collective, ranks, length, milliseconds):
    """(wish -> ns of each batch, wish -> what it came to, algorithm -> ns while it was tried)."""
    wishes = [*algorithms(prefix, collective, ranks, length), "measure", "estimate"]
    command = [f"{prefix}/bin/mpiexec", "-n", str(ranks), program, collective, str(length), str(milliseconds), *wishes]
    environment = {**os.environ, "OXMPI_SHOW_PLANS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    times = {wish: list(map(float, batches)) for wish, *batches in map(str.split, done.stdout.splitlines())}
    chosen = re.findall(r"ranks: ([a-z-]+) \(", done.stderr)
    tried = re.search(r"\(measured: (.*)\)", done.stderr)[1]
    tried = {name: 1000 * float(us) for name, us in re.findall(r"([a-z-]+) ([0-9.]+) us", tried)}
    return times, dict(zip(wishes, chosen)), tried


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ops", default=",".join(COLLECTIVES))
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--bytes", default="8,1024,16384,131072,1048576")
    parser.add_argument("--ms", type=int, default=300, help="of each wish in each cell")
    parser.add_argument("--trials", action="store_true")
    parser.add_argument("prefix")
    arguments = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as where:
        program = os.path.join(where, "binding")
        source = os.path.join(HERE, "binding.c")
        subprocess.run([f"{arguments.prefix}/bin/mpicc", "-O2", source, "-o", program], check=True)
        print(f"{'collective':22}{'ranks':>6}{'bytes':>9}  {'estimated':20}{'measured':20}{'best':20}{'us':>10}"
              f"{'measured':>10}{'estimated':>10}")
        for ranks in map(int, arguments.ranks.split(",")):
            for collective in arguments.ops.split(","):
                for length in [8] if collective == "barrier" else map(int, arguments.bytes.split(",")):
                    times, chosen, tried = measure(arguments.prefix, program, collective, ranks, length, arguments.ms)
                    forced = {wish: ns for wish, ns in times.items() if wish not in ("measure", "estimate")}
                    if len(forced) < 2:
                        continue
                    best = min(forced, key=lambda wish: statistics.median(forced[wish]))
                    # What was chosen, as it runs when it is forced: the same plan is timed once.
                    over = {wish: statistics.quantiles(ratios(forced[chosen[wish]], forced[best]))
                            for wish in ("measure", "estimate")}
                    quartile, median, _ = over["measure"]
                    verdict = "found" if median <= TOLERANCE else "missed" if quartile > TOLERANCE else "open"
                    counts[verdict] += 1
                    print(f"{collective:22}{ranks:6}{length:9}  {chosen['estimate']:20}{chosen['measure']:20}{best:20}"
                          f"{statistics.median(forced[best]) / 1000:10.2f}{median:10.2f}{over['estimate'][1]:10.2f}"
                          f"{'' if verdict == 'found' else '  ' + verdict}", flush=True)
                    if arguments.trials:
                        bound = {wish: statistics.median(forced[wish]) for wish in forced}
                        print("    tried over bound:", ", ".join(
                            f"{wish} {tried[wish] / bound[wish]:.2f} of {bound[wish] / 1000:.2f}"
                            for wish in sorted(bound, key=bound.get) if wish in tried))
    print(", ".join(f"{verdict} {count}" for verdict, count in counts.items()), f"of {counts.total()} cells")


def ratios(ones, others):
    return [one / other for one, other in zip(ones, others)]


if __name__ == "__main__":
    main()
