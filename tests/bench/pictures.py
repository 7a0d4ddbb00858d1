"""Pictures of measurements, as SVG: nothing but text, so that they lie beside the tables that they show."""
import html
import math

WIDTH, HEIGHT, MARGIN, GROUP = 300, 220, 48, 76
COLORS = {"oxmpi": "#c2410c", "mpich": "#1d4ed8", "openmpi": "#15803d", "intel": "#7e22ce"}


def color_of(name, names):
    """An implementation's own, or one for each of others."""
    others = list(COLORS.values())
    return COLORS.get(name, others[names.index(name) % len(others)])


def size_name(size):
    for unit, name in ((1 << 20, " MiB"), (1 << 10, " KiB")):
        if size >= unit:
            return f"{size / unit:g}{name}"
    return f"{size} B"


def text(x, y, content, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{html.escape(content)}</text>'


def panel(at, title, curves, sizes, least, most):
    """One diagram with logarithmic axes, `at` pixels from the left."""
    wide = math.log(sizes[-1] / sizes[0]) or 1
    high = math.log(most / least) or 1

    def x(size):
        return at + MARGIN + math.log(size / sizes[0]) / wide * (WIDTH - MARGIN - 12)

    def y(time):
        return HEIGHT - math.log(time / least) / high * (HEIGHT - MARGIN) + 8

    parts = [text(at + (WIDTH + MARGIN) / 2, 40, title)]
    decade = 10.0 ** math.floor(math.log10(least))
    while decade <= most:
        if decade >= least:
            parts.append(f'<path d="M{x(sizes[0]):.1f} {y(decade):.1f}H{at + WIDTH - 12}" stroke="#ddd"/>')
            parts.append(text(at + MARGIN - 6, y(decade) + 4, f"{decade:g}", "end"))
        decade *= 10
    for k, size in enumerate(sizes):
        if len(sizes) <= 4 or k % 2 == 0:
            parts.append(text(x(size), HEIGHT + 26, size_name(size), extra='font-size="9"'))
    for name, curve in curves.items():
        points = " ".join(f"{x(size):.1f},{y(time):.1f}" for size, time in sorted(curve.items()))
        color = COLORS.get(name, "#555")
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.6"/>')
    return parts


def time_over_size(title, panels):
    """`panels`: title -> implementation -> bytes -> microseconds. One scale for all panels."""
    everything = [(size, time) for curves in panels.values() for curve in curves.values() for size, time in curve.items()]
    sizes = sorted({size for size, _ in everything})
    least, most = min(time for _, time in everything), max(time for _, time in everything)
    parts = [text(12, 20, f"{title}: microseconds over bytes", "start", 'font-weight="bold"')]
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    for k, name in enumerate(names):
        parts.append(text(360 + 90 * k, 20, name, "start", f'fill="{COLORS.get(name, "#555")}"'))
    for k, (name, curves) in enumerate(panels.items()):
        parts += panel(k * WIDTH, name, curves, sizes, least, most)
    return document(WIDTH * len(panels), HEIGHT + 40, parts)


def bars(title, groups, base=10, foot=None):
    """`groups`: title -> implementation -> value, on one logarithmic scale whose lines are powers of `base`. Bars stand
    on the least of these, or stand on and hang from `foot`."""
    values = [value for row in groups.values() for value in row.values()]
    least = math.floor(math.log(min(values), base))
    most = max(math.ceil(math.log(max(values), base)), least + 1)
    names = list(dict.fromkeys(name for row in groups.values() for name in row))
    right = MARGIN + GROUP * len(groups)

    def y(value):
        return HEIGHT - (math.log(value, base) - least) / (most - least) * (HEIGHT - MARGIN) + 8

    parts = [text(12, 20, title, "start", 'font-weight="bold"')]
    for k, name in enumerate(names):
        parts.append(text(MARGIN + 90 * k, 38, name, "start", f'fill="{color_of(name, names)}"'))
    for power in range(least, most + 1):
        value = float(base) ** power
        parts.append(f'<path d="M{MARGIN} {y(value):.1f}H{right}" stroke="{"#555" if value == foot else "#ddd"}"/>')
        parts.append(text(MARGIN - 6, y(value) + 4, f"{value:g}", "end"))
    bottom = y(foot if foot else float(base) ** least)
    wide = (GROUP - 16) / len(names)
    for at, (group, row) in enumerate(groups.items()):
        left = MARGIN + GROUP * at + 8
        for k, name in enumerate(names):
            if name in row:
                top, high = min(y(row[name]), bottom), abs(y(row[name]) - bottom)
                place = f'x="{left + wide * k:.1f}" y="{top:.1f}" width="{wide - 2:.1f}" height="{high:.1f}"'
                parts.append(f'<rect {place} fill="{color_of(name, names)}"/>')
        parts.append(text(left + GROUP / 2 - 8, HEIGHT + 24, group, extra='font-size="9"'))
    return document(right + 8, HEIGHT + 40, parts)


def document(wide, high, parts):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="11">'
    return "\n".join([head, f'<rect width="{wide}" height="{high}" fill="white"/>', *parts, "</svg>\n"])
