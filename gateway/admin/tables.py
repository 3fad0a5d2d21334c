"""Plain tables on a screen, for which nobody has to write HTML."""

from collections.abc import Sequence

from msgspec import Struct

from gateway.admin.screen import View


class Moment(Struct, frozen=True):
    """A time, shown in the zone of the installation."""

    at: float


class Action(Struct, frozen=True):
    """A button that gives a command in the visitor's own chat. Nobody sees it who may not give the command."""

    command: str
    label: str
    is_dangerous: bool = False


class Amount(Struct, frozen=True):
    """A number with its unit, shown on the right as numbers are."""

    words: str


class Pick(Struct, frozen=True):
    """A checkbox that chooses its row for the actions of `PlainTable.each`, whose commands end in `ending` for it."""

    ending: str
    what: str
    """The name of the row, for a screen reader."""


Cell = str | int | float | Amount | Moment | Action | Pick
"""The content of a cell. Texts are shown as they are."""


class PlainTable(Struct, frozen=True):
    """A table under a title.

    Attributes:
        title: The title.
        columns: What stands above each column; empty above one of buttons.
        rows: The rows, each with a cell for each column.
        nothing: What is said if there are no rows.
        each: What can be done with all rows that somebody chooses, where each has a `Pick`. Nobody is asked first, so
            name what can be taken back: if each reply has one button, they become one button.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    nothing: str
    each: Sequence[Action] = ()

    @property
    def acts(self) -> Sequence[tuple[str, str, str]]:
        """The beginnings of the commands of `each`, with their labels and styles."""
        return [(act.command, act.label, "danger" if act.is_dangerous else "") for act in self.each]


def tables_view(*tables: PlainTable, about: str = "") -> View:
    """Return a screen of these tables, below a sentence about them."""
    return View("tables.html", {"tables": tables, "about": about})
