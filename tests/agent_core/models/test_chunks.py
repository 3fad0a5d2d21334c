"""Chunks of streamed answers."""

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from agent_core.models.chunks import Unreadable, read_chunk


class Piece(BaseModel):
    """A piece as litellm hands it over: an object with the fields of the JSON."""

    model_config = ConfigDict(extra="allow")


_NAMES = st.sampled_from(
    ("content", "role", "refusal", "reasoning_content", "tool_calls", "function_call", "audio", "finish_reason")
)
_VALUES = st.one_of(
    st.none(), st.sampled_from(("", "stop", [], {}, 0, 7, False, [{"text": "part"}])), st.text(max_size=20)
)


@given(st.dictionaries(_NAMES, _VALUES, min_size=1, max_size=5))
def test_a_piece_of_words_is_read_as_every_other_piece_is(fields: dict[str, object]) -> None:
    assert _read(fields) == _read(Piece(**fields))


_BESIDE = st.dictionaries(
    st.sampled_from(("finish_reason", "logprobs", "usage", "error", "message", "text")),
    st.one_of(st.none(), st.sampled_from(("stop", {"prompt_tokens": 3}, {"content": "Hi"}))),
    max_size=3,
)


@given(_BESIDE, _BESIDE, st.sampled_from((0, 1, None, False, "0")))
def test_a_usual_chunk_is_read_as_one_with_more_in_it(
    fields: dict[str, object], beside: dict[str, object], index: object
) -> None:
    choice = {"index": index, "delta": {"role": "assistant", "content": "Hello"}, **beside}
    assert _read_whole({"choices": [choice], **fields}) == _read_whole({"choices": [choice], **fields, "more": 1})


def _read_whole(chunk: object) -> object:
    try:
        return read_chunk(chunk)
    except Unreadable as error:
        return str(error)


def _read(piece: object) -> object:
    try:
        return read_chunk({"choices": [{"index": 0, "delta": piece}]})
    except Unreadable as error:
        return str(error)
