"""Writes the table of docs/people.md: who may give which command where, from the rights that the commands declare."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from bench.modules import REPOSITORY
from gateway.commands.budget import SHOW
from gateway.commands.command import Command
from gateway.commands.levels import WIDE
from gateway.permissions.policy import Policy
from gateway.permissions.rights import OTHERWISE, Place, Right
from gateway.permissions.roles import Role

PAGE = REPOSITORY / "docs" / "people.md"
HEAD = """\
| command | in a private chat | in a group | page: a group | page: another's chat | page: an owner's chat |
| --- | --- | --- | --- | --- | --- |
"""
_TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")
_NOBODY = "–"
_WORDS = {OTHERWISE: "…", WIDE: "… everywhere", SHOW: ""}
"""Arguments of forms that are not named by their first word."""


def page(shown: Iterable[Command]) -> str:
    """Return the new text of docs/people.md."""
    return _TABLE.sub(lambda _: table(shown), PAGE.read_text("utf-8"), count=1)


def table(shown: Iterable[Command]) -> str:
    """Return the table, in which forms and commands with the same rights share a row."""
    rows: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for command in shown:
        for cells, forms in _forms(command).items():
            rows[cells].append(forms)
    lines = (f"| {', '.join(forms)} | {' | '.join(cells)} |\n" for cells, forms in rows.items())
    return HEAD + "".join(lines)


def least(right: Right, place: Place) -> str:
    """Return the weakest role that has a right in a place, with the rows of docs/tools.md as they are by default."""
    return next((str(role) for role in reversed(Role) if Policy().permits(right, role, place)), _NOBODY)


def _forms(command: Command) -> dict[tuple[str, ...], str]:
    """Return the forms of a command by what they need."""
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for form, right in command.rights.forms.items():
        found[tuple(least(right, place) for place in Place)].append(form)
    if len(found) == 1:
        return {next(iter(found)): f"`/{command.name}`"}
    return {cells: ", ".join(_named(command.name, forms)) for cells, forms in found.items()}


def _named(name: str, forms: Iterable[str]) -> Iterator[str]:
    for form in sorted(forms):
        yield f"`/{name} {_WORDS.get(form, form)}`".replace(" `", "`")
