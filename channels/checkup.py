"""Findings of the checks that `parley doctor` runs.

A channel may provide a module `doctor` with `async def check(config) -> Sequence[Finding]`. It changes nothing, waits
at most five seconds for the network, does not raise for network failures, and puts no secret into its findings.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

Check = Callable[[BaseModel], Awaitable[Sequence["Finding"]]]


@dataclass(frozen=True)
class Finding:
    """One line of the report. A problem prevents something from working; a note is only information."""

    mark: Literal["ok", "note", "problem"]
    what: str
    fix: str = ""
    """Remedy; every problem has one."""


def ok(what: str) -> Finding:
    return Finding("ok", what)


def note(what: str, fix: str = "") -> Finding:
    return Finding("note", what, fix)


def problem(what: str, fix: str) -> Finding:
    return Finding("problem", what, fix)
