"""What a look at one part of the house found, for `parley doctor`.

A channel may bring a module `doctor` with `async def check(config) -> Sequence[Finding]`. It changes nothing, waits at
most five seconds for the network, never raises for what the network does, and puts no secret into its words.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

Check = Callable[[BaseModel], Awaitable[Sequence["Finding"]]]


@dataclass(frozen=True)
class Finding:
    """One line. A problem keeps something from working; a note is only good to know."""

    mark: Literal["ok", "note", "problem"]
    what: str
    fix: str = ""
    """What to do about it; every problem has one."""


def ok(what: str) -> Finding:
    return Finding("ok", what)


def note(what: str, fix: str = "") -> Finding:
    return Finding("note", what, fix)


def problem(what: str, fix: str) -> Finding:
    return Finding("problem", what, fix)
