"""A cache of values computed from objects, kept for as long as the objects exist.

Every request is built from the whole conversation. With this cache each step runs once per message instead of once per
message and model call; the rest are look-ups.
"""

import weakref
from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Generic, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")


class _Reference(weakref.ref[T]):
    """A weak reference that knows its cache key."""

    __slots__ = ("key",)
    key: int


_ITSELF = object()
"""Marks a value that is the object itself, which must not be held here."""
_NOTHING = object()


class IdentityCache(Generic[T, R]):
    """Calls `make` once per object. Objects are compared by identity, so they must be immutable."""

    def __init__(self, make: Callable[[T], R]) -> None:
        self._make = make
        self._made: dict[int, object] = {}
        """Values by object id. An entry is removed before its object is freed, so no later object can match it."""
        self._held: dict[int, _Reference[T]] = {}
        self._row: tuple[Sequence[T], list[R]] = (), []

        ours = weakref.ref(self)  # weak, so that the callback does not keep this object alive
        kind = _Reference  # bound here, because at interpreter exit module globals are cleared first

        def forget(gone: weakref.ref[T]) -> None:
            remembered = ours()
            if remembered is not None and isinstance(gone, kind):
                remembered.drop(gone.key)

        self._forget = forget

    def __call__(self, item: T) -> R:
        made = self._made.get(id(item), _NOTHING)
        if made is _NOTHING:
            return self.put(item, self._make(item))
        return cast(R, item if made is _ITSELF else made)

    def each(self, items: Iterable[T]) -> list[R]:
        """Return the values of all items, in order."""
        get, values = self._made.get, list[object]()
        for item in items:
            made = get(id(item), _NOTHING)
            if made is _NOTHING:
                made = self.put(item, self._make(item))
            values.append(item if made is _ITSELF else made)
        return cast(list[R], values)

    def row(self, items: Sequence[T]) -> list[R]:
        """Like `each`, optimised for a conversation that has only grown at its end: the known start is not even looked
        up. Holds the items of the last call."""
        before, made = self._row
        if len(before) > len(items) or not all(map(is_, before, items)):
            before, made = (), []
        elif len(before) == len(items):
            return made
        made = [*made, *self.each(items[len(before) :])]
        self._row = tuple(items), made  # a copy, because a list may grow
        return made

    def forget(self) -> None:
        """Drop all values, to be computed anew."""
        self._row = (), []
        self._made.clear()
        self._held.clear()

    def drop(self, key: int) -> None:
        """Drop the entry with this id, because its object is being freed."""
        self._made.pop(key, None)
        self._held.pop(key, None)

    def put(self, item: T, made: R) -> R:
        """Set the value of an item, and return the value."""
        key = id(item)
        reference = _Reference(item, self._forget)
        reference.key = key
        self._held[key] = reference
        self._made[key] = _ITSELF if made is item else made
        return made
