"""Messages are values that survive JSON, whatever text, numbers or ids they hold."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agent_core.events import event_adapter
from agent_core.loop.answer import DeltaMismatch, PartialAssembler
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    ImageContent,
    NotificationMessage,
    StopReason,
    SummaryMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    message_adapter,
)
from agent_core.models.llm import TextDelta, ThinkingDelta, ToolCallDelta
from agent_core.origin import CLEAN
from tests.examples import examples
from tests.messages import user

ANY_TEXT = st.text(st.characters(), max_size=20) | st.sampled_from(
    ["\ud800", "\ud83d\ude00", "a\udc00b", "\u200f\u202e"]
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
ANY_OBJECT = st.dictionaries(ANY_TEXT, ANY_JSON, max_size=3)
ANY_MESSAGE: st.SearchStrategy[AgentMessage] = st.one_of(
    st.builds(lambda text, source: user(text, source=source, context=source), ANY_TEXT, ANY_TEXT),
    st.builds(
        lambda text, id_, arguments: AssistantMessage(
            content=(
                ThinkingContent(thinking=text),
                TextContent(text=text),
                ToolCall(id=id_, name=text, arguments=arguments, arguments_error=text),
            ),
            stop_reason=StopReason.TOOL_USE,
            error_message=text,
            origin=CLEAN,
        ),
        ANY_TEXT,
        ANY_TEXT,
        ANY_OBJECT,
    ),
    st.builds(
        lambda text, details: ToolResultMessage(
            tool_call_id=text, tool_name=text, content=(TextContent(text=text),), details=details, origin=CLEAN
        ),
        ANY_TEXT,
        ANY_JSON,
    ),
    st.builds(lambda text: SummaryMessage(summary=text, first_kept_id="x", tokens_before=1, origin=CLEAN), ANY_TEXT),
    st.builds(
        lambda text, data: NotificationMessage(kind="k", text=text, data=data, origin=CLEAN), ANY_TEXT, ANY_OBJECT
    ),
    st.builds(lambda data: CustomMessage(kind="k", data=data), ANY_OBJECT),
)


@given(ANY_MESSAGE)
@settings(max_examples=examples(200), deadline=None)
def test_any_message_survives_json(message: AgentMessage) -> None:  # S4-02, S3-20, C-28
    raw = message_adapter.dump_json(message)

    assert message_adapter.validate_json(raw) == message
    assert json.loads(raw.decode("utf-8"))["role"] == message.role


def test_a_split_pair_is_joined_and_a_lone_surrogate_replaced() -> None:
    assert TextContent(text="\ud83d\ude00").text == "😀"
    assert TextContent(text="a\ud800b").text == "a\ufffdb"


def test_what_json_cannot_say_becomes_what_it_can() -> None:
    message = CustomMessage(kind="k", data={"nan": float("nan"), "raw": b"bytes", "pair": (1, 2)})

    assert message.data == {"nan": None, "raw": "bytes", "pair": [1, 2]}


def test_a_message_is_never_changed_and_has_no_unknown_field() -> None:
    with pytest.raises(ValidationError):
        user("hi").content = ()  # type: ignore[misc]
    with pytest.raises(ValidationError):
        message_adapter.validate_python({"role": "user", "content": [], "metadata": {}})


def test_an_event_of_unknown_kind_is_refused() -> None:  # S4-11, S0-34
    with pytest.raises(ValidationError):
        event_adapter.validate_python({"type": "surprise"})


def test_pictures_stand_before_the_words() -> None:
    picture = ImageContent(data="aGk=", mime_type="image/png")

    assert user("what is it?", picture).content == (picture, TextContent(text="what is it?"))


def test_the_words_of_an_answer_are_without_thinking_and_calls() -> None:  # S2-19, S2-20
    message = AssistantMessage(
        content=(
            ThinkingContent(thinking="hm"),
            TextContent(text="a"),
            ToolCall(id="1", name="t", arguments={}),
            TextContent(text="b"),
        ),
        stop_reason=StopReason.STOP,
        origin=CLEAN,
    )

    assert message.text == "ab"
    assert [call.id for call in message.tool_calls] == ["1"]


def test_usage_adds_up() -> None:  # S0-22
    one = Usage(input=1, output=2, cache_read=3, cache_write=4, total=10, cost_usd=0.5)

    assert one + one == Usage(input=2, output=4, cache_read=6, cache_write=8, total=20, cost_usd=1.0)


def test_each_message_has_its_own_id_and_time() -> None:  # S3-24
    first, second = user("a"), user("a")

    assert first.id != second.id
    assert first.created_at <= second.created_at
    assert isinstance(first, UserMessage)


def test_deltas_make_the_message_again() -> None:  # C-17, S4-18, C-34
    partial = PartialAssembler()

    for delta in (
        ThinkingDelta(index=0, delta="h"),
        ThinkingDelta(index=0, delta="m"),
        TextDelta(index=1, delta="Hel"),
        ToolCallDelta(index=2, id="1", name="t", delta='{"a'),
        TextDelta(index=1, delta="lo"),
    ):
        partial.feed(delta)

    assert partial.text == "Hello"
    assert partial.content() == (ThinkingContent(thinking="hm"), TextContent(text="Hello"))


def test_a_delta_for_a_block_of_another_kind_is_an_error() -> None:  # D-20
    partial = PartialAssembler()
    partial.feed(TextDelta(index=0, delta="a"))

    with pytest.raises(DeltaMismatch, match="block 0 holds text_delta"):
        partial.feed(ThinkingDelta(index=0, delta="b"))
