"""Conversations are converted to the OpenAI protocol (behaviour rows S0-15, S2-15, S2-44)."""

import json

import pytest
from msgspec.structs import replace

from agent_core.messages import (
    AssistantMessage,
    ImageContent,
    LlmMessage,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
)
from agent_core.models.llm import LlmRequest, ToolSpec
from agent_core.models.manner import AS_USUAL
from agent_core.models.openai_wire import Reader, WireObject, WireText, messages_to_wire, tools_to_wire
from agent_core.origin import CLEAN
from tests.messages import user

NOBODY = Reader()
PNG = ImageContent(data="aGk=", mime_type="image/png")
PNG_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def said(*parts: TextContent | ThinkingContent | ToolCall) -> AssistantMessage:
    return AssistantMessage(content=parts, stop_reason=StopReason.STOP, origin=CLEAN)


def result(call_id: str, *parts: TextContent | ImageContent) -> ToolResultMessage:
    return ToolResultMessage(tool_call_id=call_id, tool_name="look", content=parts, origin=CLEAN)


def wire(*messages: LlmMessage, vision: bool = True, reader: Reader = NOBODY) -> list[WireObject]:
    return messages_to_wire(LlmRequest(system="", messages=messages), replace(reader, vision=vision))


def test_the_system_prompt_comes_first_and_an_empty_one_is_left_out() -> None:
    assert messages_to_wire(LlmRequest(system="Be kind.", messages=(user("Hi"),)), NOBODY) == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
    ]
    assert wire(user("Hi")) == [{"role": "user", "content": "Hi"}]


def test_the_context_stands_before_the_speaker_and_the_speaker_before_the_words() -> None:
    (message,) = wire(user("Lunch?", source="Ann", context="It is noon."))
    assert message["content"] == "<context>\nIt is noon.\n</context>\nAnn: Lunch?"


def test_pictures_stand_before_the_text() -> None:  # S2-15, C-22
    (message,) = wire(user("What is this?", PNG))
    assert message["content"] == [PNG_PART, {"type": "text", "text": "What is this?"}]


def test_a_model_without_eyes_gets_a_sentence_instead() -> None:  # C-22
    asked, shown = wire(user("What is this?", PNG), result("c", PNG), vision=False)
    note = "[a picture (image/png), which this model cannot see]"
    assert (asked["content"], shown["content"]) == (f"{note}\nWhat is this?", note)


def test_calls_go_back_as_json_and_unreadable_ones_as_empty() -> None:  # S0-15
    good = ToolCall(id="a", name="note", arguments={"q": "it's née", "n": True})
    bad = ToolCall(id="b", name="note", arguments={}, arguments_error="unreadable")
    (message,) = wire(said(TextContent(text="Wait."), good, bad))

    assert message["content"] == "Wait."
    assert message["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "note", "arguments": '{"q": "it\'s née", "n": true}'}},
        {"id": "b", "type": "function", "function": {"name": "note", "arguments": "{}"}},
    ]


def test_pictures_of_tools_follow_all_results_of_the_answer() -> None:
    first, second = (ToolCall(id=name, name="look", arguments={}) for name in "ab")
    messages = wire(said(first, second), result("a", TextContent(text="One."), PNG), result("b", PNG), user("Well?"))

    assert [message["role"] for message in messages] == ["assistant", "tool", "tool", "user", "user"]
    assert messages[0]["content"] is None
    assert [message["content"] for message in messages[1:3]] == [
        "One.\n[a picture, shown below]",
        "[a picture, shown below]",
    ]
    assert messages[3]["content"] == [
        PNG_PART,
        PNG_PART,
        {"type": "text", "text": "The pictures that the tools returned."},
    ]


def test_thinking_that_an_earlier_version_kept_goes_back_to_the_model_that_signed_it() -> None:
    signed = ThinkingContent(thinking="Hm.", signature="s")
    message = said(ThinkingContent(thinking="Aha."), signed, TextContent(text="Yes."))
    message = message.model_copy(update={"model": "anthropic/one"})
    itself, another = Reader("anthropic", "anthropic/one"), Reader("anthropic", "anthropic/two")

    assert wire(message) == wire(message, reader=another) == [{"role": "assistant", "content": "Yes."}]
    (with_thinking,) = wire(message, reader=itself)
    assert with_thinking["thinking_blocks"] == [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]
    assert wire(said(signed)) == []


def test_a_tool_is_sent_as_a_function() -> None:
    tool = ToolSpec(name="clock", description="The time.", parameters={"type": "object", "properties": {}})
    assert tools_to_wire([tool], AS_USUAL) == [
        {
            "type": "function",
            "function": {"name": "clock", "description": "The time.", "parameters": tool.parameters},
        }
    ]


@pytest.mark.parametrize("vision", [True, False])
def test_written_bit_by_bit_it_is_the_same(vision: bool) -> None:  # noqa: FBT001 - both ways
    look = ToolCall(id="c", name="look", arguments={"at": "好"})
    history = (
        user("What is this?", PNG),
        said(ThinkingContent(thinking="hm")),
        said(TextContent(text="Let me see."), look, look.model_copy(update={"id": "d"})),
        result("c", PNG),
        result("d", TextContent(text="a cat"), PNG),
        user("And?"),
        said(look),
        result("c", PNG),
    )
    written = WireText()

    for end in (1, 3, len(history), 2, len(history)):
        request = LlmRequest(system="Be kind." if end > 1 else "", messages=history[:end])
        whole = json.dumps(messages_to_wire(request, Reader(vision=vision)), ensure_ascii=False, separators=(",", ":"))
        assert written.of(request, Reader(vision=vision)) == whole
