"""A route of a plugin: what a program on this machine asks, and what it is answered."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Asked:
    """A request by GET."""

    headers: Mapping[str, str]
    """By name, in any case."""


@dataclass(frozen=True)
class Answer:
    """The answer to a request."""

    body: bytes
    status: int = 200
    content_type: str = TEXT
    headers: Mapping[str, str] = field(default_factory=dict)
    """Other headers."""


Route = Callable[[Asked], Awaitable[Answer]]
"""Answers a request."""
