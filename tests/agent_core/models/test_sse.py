"""An event stream is parsed the same however the network splits it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.models.event_stream import LONGEST_LINE, NotAnEventStream, SseReader
from tests.cpu import growth

payloads = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=20)


def read(*chunks: bytes) -> list[str]:
    reader = SseReader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + [*reader.finish()]


@given(st.lists(payloads, max_size=6), st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_any_cut_gives_the_same_events(texts: list[str], newline: str, data: st.DataObject) -> None:
    lines = [
        part
        for text in texts
        for part in (": a comment", "event: message", data.draw(st.sampled_from(["data:", "data: "])) + text, "")
    ]
    stream = newline.join(lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    edges = [0, *cuts, len(stream)]

    assert read(*(stream[start:end] for start, end in pairwise(edges))) == texts


@given(st.lists(payloads, max_size=3))
def test_one_byte_at_a_time_is_enough(texts: list[str]) -> None:
    stream = "".join(f"data: {text}\r\n\r\n" for text in texts).encode()
    assert read(*(stream[at : at + 1] for at in range(len(stream)))) == texts


def test_an_event_needs_no_empty_line_and_the_last_one_no_line_break() -> None:
    assert read(b"data: one\ndata: two\n\ndata:\n\nretry: 5\nid: 7\ndata: three") == ["one", "two", "three"]


def test_broken_utf8_is_shown_as_such() -> None:
    assert read(b"data: caf\xc3\n") == ["caf\ufffd"]


@pytest.mark.parametrize("line", [b"<html>\n", b"{oops\n", b"datum: x\n"])
def test_a_line_of_something_else_is_refused(line: bytes) -> None:
    with pytest.raises(NotAnEventStream):
        read(line)


def test_events_before_a_bad_line_are_still_told() -> None:
    events = SseReader().feed(b"data: fine\n\n<html>\n")
    assert next(events) == "fine"
    with pytest.raises(NotAnEventStream):
        next(events)


def test_a_line_without_end_is_refused_before_it_fills_the_memory() -> None:
    reader = SseReader()
    assert not [*reader.feed(b"data: " + b"x" * (LONGEST_LINE - 10))]
    with pytest.raises(NotAnEventStream):
        [*reader.feed(b"x" * 10)]


def test_twice_as_many_pieces_of_a_line_take_twice_as_long() -> None:
    def feed(pieces: int) -> None:
        reader = SseReader()
        for _ in range(pieces):
            assert not [*reader.feed(b"data: x")]
        assert len([*reader.finish()]) == 1

    assert growth(lambda: feed(40_000), lambda: feed(80_000), times=2, most=2.5) <= 2.5
