"""The origin of a text: a join never lowers it, and each form in which it is kept gives it back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agent_core.messages import SummaryMessage, UserMessage, message_adapter
from agent_core.origin import CLEAN, DATA, NOT_KNOWN, Origin, in_line, joined, named, origin_adapter
from agent_core.sources import MOST, UNKNOWN, file, page, person
from agent_core.tool_result import ToolResult
from tests.messages import user

SOURCES = st.sampled_from([page(f"https://{number}.example/") for number in range(MOST + 3)] + [UNKNOWN, file("a b;c")])
ORIGINS = st.one_of(st.just(CLEAN), st.just(DATA), st.lists(SOURCES, min_size=1).map(lambda found: named(*found)))


def level(origin: Origin) -> int:
    return origin.is_data + origin.is_tainted


@given(ORIGINS, ORIGINS, ORIGINS)
def test_a_join_is_associative_commutative_and_idempotent(one: Origin, two: Origin, three: Origin) -> None:
    assert (one | two) | three == one | (two | three) == joined([three, one, two])
    assert one | two == two | one
    assert one | one == one == one | CLEAN


@given(ORIGINS, ORIGINS)
def test_a_join_is_never_lower(one: Origin, two: Origin) -> None:
    both = one | two

    assert level(both) >= max(level(one), level(two))
    assert UNKNOWN in both.sources or {*one.sources, *two.sources} <= {*both.sources}


@given(ORIGINS)
def test_what_is_kept_is_read_again(origin: Origin) -> None:
    said = user("x", origin=origin)

    assert in_line(origin.line) == origin
    assert origin_adapter.validate_json(origin_adapter.dump_json(origin)) == origin
    assert message_adapter.validate_json(said.model_dump_json()) == said


def test_more_sources_than_a_row_holds_are_unknown_ones() -> None:
    assert named(*(person(str(number)) for number in range(40))).sources[-1] == UNKNOWN


def test_what_has_sources_is_data() -> None:
    assert Origin(is_data=False, sources=(UNKNOWN,)) == NOT_KNOWN


@pytest.mark.parametrize(
    ("earlier", "origin"),
    [
        ('"untrusted": false, "sources": []', CLEAN),
        ('"untrusted": true, "sources": []', DATA),
        ('"untrusted": true, "sources": ["page:a.example"]', named("page:a.example")),
        ('"untrusted": true', NOT_KNOWN),
        ('"by_guest": false', NOT_KNOWN),
    ],
    ids=["clean", "data", "named", "without sources", "without anything"],
)
def test_a_row_of_an_earlier_version_keeps_what_was_known_of_it(earlier: str, origin: Origin) -> None:
    row = f'{{"role": "user", "content": [{{"type": "text", "text": "x"}}], {earlier}}}'
    message = message_adapter.validate_json(row)

    assert isinstance(message, UserMessage)
    assert message.origin == origin


@pytest.mark.parametrize(
    "make",
    [
        lambda: UserMessage.model_validate({"content": []}),
        lambda: SummaryMessage.model_validate({"summary": "", "first_kept_id": "", "tokens_before": 1}),
        lambda: ToolResult.model_validate({}),
    ],
    ids=["message", "summary", "result"],
)
def test_nothing_is_made_without_its_origin(make: object) -> None:
    with pytest.raises(ValidationError, match="origin"):
        make()  # type: ignore[operator]
