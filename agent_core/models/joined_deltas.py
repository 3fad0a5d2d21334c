"""Deltas of words that came together, as one: each costs the whole way to the person who reads them."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from agent_core.models.llm import StreamDelta, TextDelta, ThinkingDelta

_BLOCK = attrgetter("type", "index")


def joined(deltas: Iterable[StreamDelta]) -> Iterator[StreamDelta]:
    """Yield the deltas, words in a row of one block as one."""
    for _, row in groupby(deltas, _BLOCK):
        first, *more = row
        if more and isinstance(first, TextDelta | ThinkingDelta):
            yield type(first)(index=first.index, delta="".join(each.delta for each in (first, *more)))
        else:
            yield from (first, *more)
