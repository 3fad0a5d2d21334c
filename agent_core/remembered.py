"""What was made of a thing, remembered for as long as somebody else holds the thing.

A request is built of the whole conversation before every model call. With this, each of its steps does its work once a
message, and not once a message and call; what is left is a look-up.
"""

import weakref
from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Generic, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")


class _Reference(weakref.ref[T]):
    """Knows under which key its object was remembered."""

    __slots__ = ("key",)
    key: int


_ITSELF = object()
"""Stands for the object itself, which must not be held here."""
_NOTHING = object()


class Remembered(Generic[T, R]):
    """`make`, asked once for each object. Objects are told apart by identity, so they must not change."""

    def __init__(self, make: Callable[[T], R]) -> None:
        self._make = make
        self._made: dict[int, object] = {}
        """By id. An entry goes before its object does, so no later object is taken for it."""
        self._held: dict[int, _Reference[T]] = {}
        self._row: tuple[Sequence[T], list[R]] = (), []

        made, held = self._made, self._held  # not this object, which would hold itself
        ours = _Reference  # when the program ends, things go after their modules' names have gone

        def forget(gone: weakref.ref[T]) -> None:
            if isinstance(gone, ours):
                made.pop(gone.key, None)
                held.pop(gone.key, None)

        self._forget = forget

    def __call__(self, item: T) -> R:
        return self.each((item,))[0]

    def each(self, items: Iterable[T]) -> list[R]:
        """What was made of each, in order."""
        get = self._made.get
        found = [
            item if (made := get(id(item), _NOTHING)) is _ITSELF else made if made is not _NOTHING else self._new(item)
            for item in items
        ]
        return cast(list[R], found)

    def row(self, items: Sequence[T]) -> list[R]:
        """As `each`, for a conversation that is asked about again when it has grown at its end: what it had before is
        not even looked up. The last row that was asked about is held."""
        before, made = self._row
        if len(before) > len(items) or not all(map(is_, before, items)):
            before, made = (), []
        made = [*made, *self.each(items[len(before) :])]
        self._row = tuple(items), made  # a list may grow
        return made

    def forget(self) -> None:
        """Make everything anew when it is asked for."""
        self._row = (), []
        self._made.clear()
        self._held.clear()

    def _new(self, item: T) -> R:
        made, key = self._make(item), id(item)
        reference = _Reference(item, self._forget)
        reference.key = key
        self._held[key] = reference
        self._made[key] = _ITSELF if made is item else made
        return made
