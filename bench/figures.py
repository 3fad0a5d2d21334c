"""The figures of a bench and the table that prints them."""

import os
import platform
import sqlite3
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of the table. `most` is the target, if there is one; `bare` is the bare bot's figure."""

    name: str
    ours: float
    unit: str
    most: float | None = None
    bare: float | None = None
    at_least: bool = False
    """True if the target is a minimum."""

    @property
    def verdict(self) -> str:
        if self.most is None:
            return ""
        met = self.ours >= self.most if self.at_least else self.ours <= self.most
        return "ok" if met else "MISSED"

    def row(self) -> tuple[str, ...]:
        sign = ">=" if self.at_least else "<="
        return (
            self.name,
            f"{_short(self.ours)} {self.unit}",
            "" if self.most is None else f"{sign} {_short(self.most)}",
            self.verdict,
            "" if self.bare is None else _short(self.bare),
            f"{self.ours / self.bare:.1f}x" if self.bare else "",
        )


HEAD = ("figure", "Parley", "target", "", "bare bot", "ratio")


def table(figures: Sequence[Figure]) -> str:
    rows = [HEAD, *(figure.row() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def machine() -> str:
    """Describe the machine, on which the figures depend."""
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, load {load:.1f}, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    return sorted(values)[max(0, round(0.95 * len(values)) - 1)]


def _short(value: float) -> str:
    return f"{value:.0f}" if value == round(value) or abs(value) >= 100 else f"{value:.2f}"
