"""What was made of a thing, remembered for as long as somebody else holds the thing.

A request is built of the whole conversation before every model call. With this, each of its steps does its work once a
message, and not once a message and call.
"""

import weakref
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")


class _Itself:
    """Stands for the object itself, which must not be held here."""


class Remembered(Generic[T, R]):
    """`make`, asked once for each object. Objects are told apart by identity, so they must not change."""

    def __init__(self, make: Callable[[T], R]) -> None:
        self._make = make
        self._made: dict[int, tuple[R | _Itself, weakref.ref[T]]] = {}
        """By id. An entry goes before its object does, so no later object is taken for it."""

    def __call__(self, item: T) -> R:
        return self.each((item,))[0]

    def each(self, items: Iterable[T]) -> list[R]:
        """What was made of each, in order."""
        found: list[R] = []
        for item in items:
            known = self._made.get(id(item))
            made = self._new(item) if known is None else known[0]
            found.append(cast(R, item) if isinstance(made, _Itself) else made)
        return found

    def forget(self) -> None:
        """Make everything anew when it is asked for."""
        self._made.clear()

    def _new(self, item: T) -> R:
        made, key, forget = self._make(item), id(item), self._made.pop
        self._made[key] = _Itself() if made is item else made, weakref.ref(item, lambda _: forget(key, None))
        return made
