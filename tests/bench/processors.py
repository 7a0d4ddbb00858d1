#!/usr/bin/env python3
"""Pictures of what docs/performance.md says of two ranks on each processor, from its tables.

    processors.py PAGE FOLDER

A table stands under a heading `Two ranks, PROCESSOR`; its rows are calls and lifetimes, and its first columns our time
and the best peer's, near, with buffers as malloc gives them. A bar is the peer's time over ours: above 1 we are the
faster.
"""
import os
import sys

import collectives
import pictures

HEADING = "## Two ranks, "


def ratios(page):
    """Lifetime -> call -> processor -> the best peer's time over ours."""
    found = {lifetime: {} for lifetime in collectives.LIFETIMES}
    processor = call = None
    for line in page:
        if line.startswith("## "):
            processor = line[len(HEADING) :].strip() if line.startswith(HEADING) else None
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if processor and line.startswith("|") and len(cells) > 3 and cells[1] in found:
            call = cells[0].partition(",")[0] or call
            ours, best = float(cells[2]), float(cells[3])
            found[cells[1]].setdefault(call, {})[processor] = best / ours
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    _, page, folder = sys.argv
    with open(page, encoding="utf-8") as file:
        found = ratios(file)
    os.makedirs(folder, exist_ok=True)
    for lifetime, calls in found.items():
        title = f"2 ranks, {lifetime}: the best peer's time over ours"
        with open(os.path.join(folder, f"processors-{lifetime}.svg"), "w", encoding="utf-8") as file:
            file.write(pictures.bars(title, calls, base=2, foot=1))


if __name__ == "__main__":
    main()
