"""Comparing what was to be sent with what arrived notices every kind of loss."""

from collections.abc import Callable

import pytest

from agent_core.messages import (
    AssistantMessage,
    ImageContent,
    StopReason,
    TextContent,
    ToolCall,
    ToolResultMessage,
)
from agent_core.models.llm import LlmRequest, ToolSpec
from agent_core.models.manner import AS_USUAL
from agent_core.models.openai_wire import Reader, messages_to_wire, tools_to_wire
from agent_core.origin import CLEAN
from tests.agent_core.arrived import missing
from tests.emulators.model_script import Json, ModelRequest
from tests.messages import user

CALL = ToolCall(id="1", name="look", arguments={"at": "left"})
REQUEST = LlmRequest(
    system="Be brief.",
    messages=(
        user("What is there?", ImageContent(data="aGk=", mime_type="image/png"), source="Ann", context="Now: noon"),
        AssistantMessage(
            content=(TextContent(text="Let me see."), CALL), stop_reason=StopReason.TOOL_USE, origin=CLEAN
        ),
        ToolResultMessage(tool_call_id="1", tool_name="look", content=(TextContent(text="A cat."),), origin=CLEAN),
        user("And now?"),
    ),
    tools=(ToolSpec(name="look", description="Look.", parameters={"type": "object"}),),
)
Changes = Callable[[list[Json]], object]


def arrived(changes: Changes = list, tools: tuple[str, ...] = ("look",)) -> ModelRequest:
    messages = messages_to_wire(REQUEST, Reader())
    changes(messages)
    body: Json = {"messages": list(messages), "tools": tools_to_wire(REQUEST.tools, AS_USUAL)}
    return ModelRequest("m", messages, list(tools), stream=True, body=body, headers={}, at=0.0, size=0)


def test_a_request_that_arrived_whole_misses_nothing() -> None:
    assert missing(REQUEST, arrived(), vision=True) is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (lambda messages: messages[0].update(content="Be brief"), "the system prompt arrived as 'Be brief'"),
        (lambda messages: messages[1].update(content="Ann: What is there?"), "0 of 1 pictures arrived"),
        (lambda messages: messages[2].pop("tool_calls"), "the calls arrived as"),
        (lambda messages: messages[2].update(content=None), "arrived without 'Let me see.'"),
        (lambda messages: messages[3].update(tool_call_id="2"), "the calls arrived as"),
        (lambda messages: messages[3].update(content="A dog."), "arrived without 'A cat.'"),
        (lambda messages: messages.pop(), "arrived without 'And now?'"),
        (lambda messages: messages.insert(1, messages.pop()), "arrived without 'And now?'"),
    ],
)
def test_what_is_lost_or_changed_is_named(changes: Changes, told: str) -> None:
    assert told in (missing(REQUEST, arrived(changes), vision=True) or "")


def test_a_tool_that_is_not_offered_is_named() -> None:
    assert missing(REQUEST, arrived(tools=()), vision=True) == "the tools arrived as []"
