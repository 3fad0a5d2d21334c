"""Rows of tables, as text."""

from collections.abc import Iterable

CELL_CHARS = 2_000
"""Longest cell; the rest is left out."""


def row(cells: Iterable[str]) -> str:
    """Return a row as a line of Markdown."""
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    flat = " / ".join(filter(None, (line.strip() for line in text.splitlines()))).replace("|", "\\|")
    return flat if len(flat) <= CELL_CHARS else f"{flat[:CELL_CHARS]}…"
