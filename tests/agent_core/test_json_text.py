"""JSON that others have written."""

import inspect
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from agent_core.json_text import DEEPEST, TooDeep, read_first, read_json

VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
BRACKETS = st.text(st.sampled_from('[]{}"\\:, 1a'))


@given(VALUES, st.sampled_from([None, 2]), st.sampled_from(["utf-8", "utf-16", "utf-32-be"]))
def test_what_json_can_write_is_read(value: JsonValue, indent: int | None, encoding: str) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)

    assert read_json(text) == value
    assert read_json(json.dumps(value).encode(encoding)) == value
    assert read_first(f"x{text} and more", 1) == (value, 1 + len(text))


@given(BRACKETS)
def test_brackets_in_disorder_are_read_as_json_reads_them(text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            read_json(text)
    else:
        assert read_json(text) == value


@pytest.mark.parametrize("begin", ["[", '{"a":', '[{"b":', ' [ "]", '])
def test_what_nests_too_deep_is_refused_long_before_the_stack_is_full(begin: str) -> None:
    text = begin * 50_000
    room = len(inspect.stack(0)) + 100  # much less than the parser would take
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(room)
    try:
        with pytest.raises(TooDeep):
            read_json(text)
        with pytest.raises(TooDeep):
            read_first(text)
    finally:
        sys.setrecursionlimit(limit)


def test_what_nests_as_deep_as_allowed_is_read() -> None:
    deep = "[" * DEEPEST + "]" * DEEPEST

    assert json.dumps(read_json(deep)) == deep
    assert read_json(f'["{"[" * 1000}", {"[]," * 1000} 1]')
