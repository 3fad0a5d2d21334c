"""Deltas of words that came together, as one: each costs the whole way to the person who reads them."""

from collections.abc import Iterable, Iterator

from agent_core.models.llm import StreamDelta, TextDelta, ThinkingDelta


def joined(deltas: Iterable[StreamDelta], errors: tuple[type[Exception], ...]) -> Iterator[StreamDelta]:
    """Yield the deltas, words in a row of one block as one. What came before one of the errors is yielded, too."""
    last: TextDelta | ThinkingDelta | None = None
    pieces: list[str] = []
    try:
        for delta in deltas:
            if last is not None:
                if type(delta) is type(last) and delta.index == last.index:
                    pieces.append(delta.delta)
                    continue
                yield _whole(last, pieces)
                last = None
            if isinstance(delta, TextDelta | ThinkingDelta):
                last, pieces = delta, [delta.delta]
            else:
                yield delta
    except errors:
        if last is not None:
            yield _whole(last, pieces)
        raise
    if last is not None:
        yield _whole(last, pieces)


def _whole(last: TextDelta | ThinkingDelta, pieces: list[str]) -> StreamDelta:
    return last if len(pieces) == 1 else type(last)(index=last.index, delta="".join(pieces))
