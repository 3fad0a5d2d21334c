"""The origin of a text: a value that every copy, part and derivation of it is made with.

There are three levels. A clean text holds nothing but the words of people with rights here, and Parley's own. Data is
what such a person brought, a file or the output of a program: it is trusted, and may still hold the text of others.
Named sources are untrusted input, see `sources`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import TypeAdapter

from agent_core.sources import MOST, UNKNOWN, Sources, listed, read

_DATA = "data"
"""Data without sources, in a line."""


@dataclass(frozen=True)
class Origin:
    """The origin of a text. Joined with another one it is never lower: clean < data < named sources."""

    is_data: bool
    """True if some of it may not be the words of the current user or of Parley; models are shown it as data."""
    sources: Sources
    """Sources of untrusted input in it, sorted; whatever has them is data."""

    def __post_init__(self) -> None:
        """Bring the sources into the one form in which equal origins are equal; too many of them become UNKNOWN."""
        named = sorted({*self.sources} - {UNKNOWN})
        is_unknown = UNKNOWN in self.sources or len(named) > MOST
        object.__setattr__(self, "sources", (*named[:MOST], *((UNKNOWN,) if is_unknown else ())))
        object.__setattr__(self, "is_data", self.is_data or bool(self.sources))

    def __or__(self, other: "Origin") -> "Origin":
        return Origin(self.is_data or other.is_data, (*self.sources, *other.sources))

    @property
    def is_clean(self) -> bool:
        return not self.is_data

    @property
    def is_tainted(self) -> bool:
        """True if untrusted input may be in it."""
        return bool(self.sources)

    @property
    def line(self) -> str:
        """Return it as one line, to be parsed by `in_line`; empty if it is clean."""
        return listed(self.sources) or (_DATA if self.is_data else "")


origin_adapter: TypeAdapter[Origin] = TypeAdapter(Origin)
CLEAN = Origin(is_data=False, sources=())
"""The origin of what people with rights here wrote, and of Parley's own words."""
DATA = Origin(is_data=True, sources=())
"""The origin of what such people brought: a file, or the output of a program."""
NOT_KNOWN = Origin(is_data=True, sources=(UNKNOWN,))
"""The origin of what was stored without one."""


def named(source: str, *more: str) -> Origin:
    """Return the origin of untrusted input from these sources."""
    return Origin(is_data=True, sources=(source, *more))


def joined(origins: Iterable[Origin]) -> Origin:
    """Return the origin of what is made from all of these; clean if there are none."""
    is_data, sources = False, set[str]()
    for origin in origins:
        is_data |= origin.is_data
        sources.update(origin.sources)
    return Origin(is_data, tuple(sources)) if is_data else CLEAN


def in_line(line: str) -> Origin:
    """Parse a line made by `Origin.line`."""
    if not line.strip():
        return CLEAN
    return DATA if line.strip() == _DATA else Origin(is_data=True, sources=read(line))
