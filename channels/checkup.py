"""The live check of a platform's account, for `parley doctor` and `parley connect`, and how an account is made.

A channel may provide a module `doctor` with `async def look(config) -> Account`. It changes nothing, waits at most five
seconds for the network, does not raise for network failures, and puts no secret into its findings. A module `setup`
with a constant `SETUP` makes the channel one that `parley connect` can set up.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from pydantic import BaseModel

Look = Callable[[BaseModel], Awaitable["Account"]]
"""Asks the platform about the account with these settings."""
Words = Mapping[str, str]
"""A text by language."""


class Finding(Struct, frozen=True):
    """One line of the report. A problem prevents something from working; a note is only information."""

    mark: Literal["ok", "note", "problem"]
    what: str
    fix: str = ""
    """Remedy; every problem has one."""
    can_wait: bool = False
    """True for a problem that keeps only a part from working, so that it may be put right later."""


def ok(what: str) -> Finding:
    """Return the finding that something works."""
    return Finding("ok", what)


def note(what: str, fix: str = "") -> Finding:
    """Return information that is no problem."""
    return Finding("note", what, fix)


def problem(what: str, fix: str, *, can_wait: bool = False) -> Finding:
    """Return what prevents something from working, with its remedy."""
    return Finding("problem", what, fix, can_wait)


class Account(Struct, frozen=True):
    """The account that Parley has on a platform, as the platform tells it."""

    findings: Sequence[Finding]
    name: str = ""
    """The name under which people find it, such as @parley_bot; empty if the platform did not tell."""
    refused: str = ""
    """The setting of the token that the platform rejects, if it rejects one."""
    link: str = ""
    """The address at which people reach it, or add it to a place where they do."""
    word: str = ""
    """The end of the link, which whoever follows it sends with `/start`; another one can be put in its place."""

    @property
    def problems(self) -> list[Finding]:
        """The findings that keep something from working."""
        return [each for each in self.findings if each.mark == "problem"]


class Token(Struct, frozen=True):
    """A token that is asked for."""

    field: str
    """The field of the channel's settings."""
    where: Words
    """What it is called, and where to find it."""


class Variant(Struct, frozen=True):
    """Another kind of account, which people may choose instead of the usual one."""

    word: str
    """The word that chooses it."""
    label: Words
    """Its name."""
    about: Words
    """The text for people: the difference, what cannot be undone, and how to choose it."""
    link: str
    """The address to begin at."""
    field: str
    """The field of the channel's settings that is true for it."""


class Setup(Struct, frozen=True):
    """The steps by which people make an account for Parley on a platform."""

    title: str
    """The name of the platform."""
    link: str
    """The one address to begin at, with everything filled in that can be."""
    steps: Words
    """What to do there."""
    tokens: Sequence[Token]
    hello: Words
    """How to write to the account for the first time; `{name}` stands for its name. Its address is shown above it."""
    variant: Variant | None = None
