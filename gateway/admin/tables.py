"""Plain tables on a screen, for which nobody has to write HTML."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.admin.screen import View


@dataclass(frozen=True)
class Moment:
    """A time, shown in the zone of the installation."""

    at: float


@dataclass(frozen=True)
class Action:
    """A button that gives a command in the visitor's own chat. Nobody sees it who may not give the command."""

    command: str
    label: str
    is_dangerous: bool = False


@dataclass(frozen=True)
class Amount:
    """A number with its unit, shown on the right as numbers are."""

    words: str


Cell = str | int | float | Amount | Moment | Action
"""The content of a cell. Texts are shown as they are."""


@dataclass(frozen=True)
class PlainTable:
    """A table under a title.

    Attributes:
        title: The title.
        columns: What stands above each column; empty above one of buttons.
        rows: The rows, each with a cell for each column.
        nothing: What is said if there are no rows.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    nothing: str


def tables_view(*tables: PlainTable, about: str = "") -> View:
    """Return a screen of these tables, below a sentence about them."""
    return View("tables.html", {"tables": tables, "about": about})
