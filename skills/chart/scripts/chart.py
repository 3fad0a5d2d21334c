"""Draws a bar or line chart of a CSV file as a PNG. Prints one line about it, or an error with exit code 2."""

import argparse
import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from canvas import WHITE, Canvas, Color, Point, text_width
from table import Table, Unusable, read_table, thinned

WIDTH, HEIGHT = 900, 520
INK, SOFT, GRID, AXIS = (31, 41, 55), (107, 114, 128), (232, 235, 240), (160, 167, 178)
COLORS = ((59, 111, 224), (240, 112, 74), (24, 160, 133), (139, 92, 214), (226, 160, 34), (96, 108, 128))
TEXT, TITLE, MARGIN, TURN = 10.0, 15.0, 32, 38
EXACT, LONG = 1_000, 1e15
UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
MOST_BARS, MOST_POINTS, FEW = 60, 300, 24


class Axis:
    """Axis with round numbers from below the lowest value to above the highest."""

    def __init__(self, values: Sequence[float], *, from_zero: bool) -> None:
        low, high = min(values), max(values)
        if from_zero or 0 < low < 0.4 * high:
            low, high = min(low, 0), max(high, 0)
        if low == high:
            low, high = (low - abs(low) / 2, high + abs(high) / 2) if low else (0, 1)
        rough = (high - low) / 5
        power = 10 ** math.floor(math.log10(rough))
        self._step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
        first, last = math.floor(low / self._step + 1e-6), math.ceil(high / self._step - 1e-6)
        last = max(last, first + 1)
        if from_zero and low < 0 and low - first * self._step < self._step / 4:
            first -= 1  # room for the number under the bar
        self.ticks = [index * self._step for index in range(first, last + 1)]
        most = max(abs(self.ticks[0]), abs(self.ticks[-1]))
        self._unit, self._name = next(((unit, name) for unit, name in UNITS if most >= unit), (1, ""))

    def share(self, value: float) -> float:
        """Return the position of a value between the lowest (0) and the highest tick (1)."""
        return (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])

    def label(self, value: float) -> str:
        step = self._step / self._unit
        digits = next((digits for digits in range(7) if abs(round(step, digits) - step) < step / 1000), None)
        if digits is None or abs(value) >= LONG:
            return compact(value)
        return f"{value / self._unit:,.{digits}f}{self._name}" if value else "0"


def compact(value: float) -> str:
    if abs(value) >= LONG:
        return f"{value:.4g}"
    unit, name = next(((unit, name) for unit, name in UNITS if abs(value) >= unit), (1, ""))
    value /= unit
    return f"{value:,.0f}{name}" if abs(value) >= EXACT or value == round(value) else f"{value:.4g}{name}"


class Chart:
    """One chart: heading, axes, and the bars or lines between them."""

    def __init__(self, table: Table, kind: str, title: str) -> None:
        self._table = table
        self._bars = kind == "bar"
        self._canvas = Canvas(WIDTH, HEIGHT)
        values = [value for one in table.series for value in one.values if value is not None]
        self._axis = Axis(values, from_zero=self._bars)
        self._left = MARGIN + max(text_width(self._axis.label(tick), TEXT) for tick in self._axis.ticks) + 14
        self._right = WIDTH - MARGIN - 4
        self._top = 98
        self._slot = (self._right - self._left) / len(table.labels)
        self._labels = [cut(label) for label in table.labels]
        self._widest = max(text_width(label, TEXT) for label in self._labels)
        self._turned = self._bars and self._widest + 10 > self._slot and len(self._labels) <= FEW
        self._bottom = HEIGHT - 46 - (self._widest * math.sin(math.radians(TURN)) if self._turned else 0)
        self._heading(title)
        self._axes()
        if self._bars:
            self._draw_bars()
        else:
            self._draw_lines()

    def save(self, path: Path) -> None:
        self._canvas.save(path)

    def _heading(self, title: str) -> None:
        names, what = [one.name for one in self._table.series], self._table.label
        usual = f"{', '.join(names)} by {what}" if what else ", ".join(names)
        self._canvas.text(
            cut(title or usual[:1].upper() + usual[1:], WIDTH - 2 * MARGIN, TITLE), (MARGIN, 44), TITLE, INK, bold=True
        )
        if len(names) == 1:
            if title:
                self._canvas.text(cut(usual, WIDTH - 2 * MARGIN), (MARGIN, 70), TEXT, SOFT)
            return
        x = float(MARGIN)
        for name, color in zip(names, COLORS, strict=False):
            self._canvas.stroke([[(x + 4, 65), (x + 10, 65)]], 8, color)
            self._canvas.text(cut(name), (x + 22, 70), TEXT, SOFT)
            x += 22 + text_width(cut(name), TEXT) + 24

    def _axes(self) -> None:
        for tick in self._axis.ticks:
            y = round(self._y(tick))
            self._canvas.rectangle(self._left, y, self._right, y + 1, GRID)
            self._canvas.text(self._axis.label(tick), (self._left - 12, y + TEXT / 2), TEXT, SOFT, align=1)
        wanted = 20 if self._turned else self._widest + 18
        every = max(1, math.ceil(wanted / self._pitch()))
        for index in range(0, len(self._labels), every):
            x, width = self._x(index), text_width(self._labels[index], TEXT)
            if self._turned:
                start = (
                    x + 4 - width * math.cos(math.radians(TURN)),
                    self._bottom + 18 + width * math.sin(math.radians(TURN)),
                )
                self._canvas.text(self._labels[index], start, TEXT, SOFT, turn=TURN)
            else:
                middle = min(x, WIDTH - 10 - width / 2)
                self._canvas.text(self._labels[index], (middle, self._bottom + 24), TEXT, SOFT, align=0.5)

    def _draw_bars(self) -> None:
        group = min(0.72 * self._slot, 110)
        width = group / len(self._table.series)
        for at, (one, color) in enumerate(zip(self._table.series, COLORS, strict=False)):
            for index, value in enumerate(one.values):
                if value is not None:
                    left = self._x(index) - group / 2 + at * width
                    self._bar(left, left + max(1, width - min(2, width / 4)), value, color)
        self._zero()
        values = self._table.series[0].values
        if len(self._table.series) == 1 and all(
            text_width(compact(value), TEXT) + 6 < self._slot for value in values if value is not None
        ):
            for index, value in enumerate(values):
                if value is not None:
                    y = self._y(value) + (-7 if value >= 0 else 7 + TEXT)
                    self._canvas.text(compact(value), (self._x(index), y), TEXT, INK, align=0.5)

    def _bar(self, left: float, right: float, value: float, color: Color) -> None:
        """Draw a bar that is rounded at the end that shows the value."""
        left, right = round(left), max(round(right), round(left) + 1)
        end, zero = self._y(value), self._y(0)
        top, bottom = round(min(end, zero)), round(max(end, zero))
        radius = min(5, (right - left) / 2, bottom - top)
        inner = (top + radius, bottom) if value >= 0 else (top, bottom - radius)
        self._canvas.rectangle(left, inner[0], right, inner[1], color)
        if radius >= 1:
            y = inner[0] if value >= 0 else inner[1] - 1
            ends = [(left + radius - 0.5, y), (right - radius - 0.5, y)]
            self._canvas.stroke([ends], 2 * radius, color)

    def _draw_lines(self) -> None:
        if self._axis.ticks[0] <= 0:
            self._zero()
        for one, color in reversed(list(zip(self._table.series, COLORS, strict=False))):
            points = [None if value is None else (self._x(at), self._y(value)) for at, value in enumerate(one.values)]
            runs = list(_runs(points))
            if len(self._table.series) == 1:
                for run in runs:
                    self._shade(run, color)
            self._canvas.stroke([run if len(run) > 1 else run * 2 for run in runs], 2.6, color)
            for x, y in (point for run in runs for point in run if len(points) <= 2 * FEW or len(run) == 1):
                self._canvas.stroke([[(x, y), (x, y)]], 7.5, color)
                self._canvas.stroke([[(x, y), (x, y)]], 3.5, WHITE)

    def _shade(self, run: list[Point], color: Color) -> None:
        height = self._bottom - self._top
        for (ax, ay), (bx, by) in itertools.pairwise(run):
            for x in range(math.ceil(ax), math.ceil(bx)):
                top = ay + (by - ay) * (x - ax) / (bx - ax)
                for y in range(round(top), round(self._bottom)):
                    self._canvas.blend(x, y, color, 0.2 * (self._bottom - y) / height)

    def _zero(self) -> None:
        y = round(self._y(0))
        self._canvas.rectangle(self._left, y, self._right, y + 1, AXIS)

    def _pitch(self) -> float:
        return self._slot if self._bars else (self._right - self._left) / max(1, len(self._labels) - 1)

    def _x(self, index: int) -> float:
        if self._bars or len(self._labels) == 1:
            return self._left + (index + 0.5) * self._slot
        return self._left + index * self._pitch()

    def _y(self, value: float) -> float:
        return self._bottom - self._axis.share(value) * (self._bottom - self._top)


def _runs(points: Sequence[Point | None]) -> Iterator[list[Point]]:
    """Yield the runs of points between gaps."""
    for there, run in itertools.groupby(points, key=lambda point: point is not None):
        if there:
            yield [point for point in run if point]


def cut(text: str, width: float = 150, size: float = TEXT) -> str:
    text = " ".join(text.split())
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def summary(table: Table, kind: str, path: Path) -> str:
    ranges = []
    for one in table.series:
        values = [value for value in one.values if value is not None]
        ranges.append(f"{one.name} {compact(min(values))} to {compact(max(values))}")
    by = f" by {table.label}" if table.label else ""
    means = f", shown as {len(table.labels)} means" if len(table.labels) < table.rows else ""
    return f"{path}: {kind} chart of {', '.join(ranges)}{by}, {table.rows:,} rows{means}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="chart.py", description="Draw a CSV file as a chart.")
    parser.add_argument("csv", type=Path)
    parser.add_argument("png", type=Path, nargs="?", default=Path("chart.png"))
    parser.add_argument("--kind", choices=("bar", "line"), help="else bars for few rows, a line for many")
    parser.add_argument("--x", metavar="COLUMN", help="the labels")
    parser.add_argument("--y", metavar="COLUMN,...", help="the numbers")
    parser.add_argument("--title", default="")
    parser.add_argument("--encoding", default="", help="of the CSV, else UTF-8")
    asked = parser.parse_args(arguments)
    try:
        table = read_table(asked.csv, asked.x, asked.y, asked.encoding)
        kind = asked.kind or ("bar" if table.rows <= FEW else "line")
        table = thinned(table, MOST_BARS if kind == "bar" else MOST_POINTS)
        Chart(table, kind, asked.title).save(asked.png)
    except (Unusable, OSError) as error:
        sys.stderr.write(f"chart.py: {error}\n")
        return 2
    sys.stdout.write(f"{summary(table, kind, asked.png)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
