"""Calls of a conversation have ids of their own in a request, though small servers count those of each answer anew."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from agent_core.context.request_history import RequestHistory
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    LlmMessage,
    StopReason,
    ToolCall,
    ToolResultMessage,
    Usage,
)
from agent_core.origin import CLEAN
from tests.messages import user


def turn(*ids: str) -> list[AgentMessage]:
    """Return a question, an answer with calls of these ids, and their results."""
    calls = tuple(ToolCall(id=each, name="clock", arguments={}) for each in ids)
    answer = AssistantMessage(content=calls, stop_reason=StopReason.TOOL_USE, usage=Usage(), model="m", origin=CLEAN)
    results = [
        ToolResultMessage(tool_call_id=each, tool_name="clock", content=user(f"{number}").content, origin=CLEAN)
        for number, each in enumerate(ids)
    ]
    return [user("What time is it?"), answer, *results]


def ids_of(messages: Sequence[LlmMessage]) -> list[str]:
    return [call.id for each in messages if isinstance(each, AssistantMessage) for call in each.tool_calls]


def answered(messages: Sequence[LlmMessage]) -> list[str]:
    return [each.tool_call_id for each in messages if isinstance(each, ToolResultMessage)]


def test_an_id_that_an_earlier_call_has_is_another_one_in_the_request() -> None:
    request = RequestHistory().of([*turn("call_0", "call_1"), *turn("call_0")])

    assert ids_of(request)[:2] == ["call_0", "call_1"]
    assert len(set(ids_of(request))) == 3
    assert answered(request) == ids_of(request)


def test_ids_that_nothing_repeats_go_out_as_they_came() -> None:
    assert ids_of(RequestHistory().of([*turn("functions.clock:0"), *turn("functions.clock:1")])) == [
        "functions.clock:0",
        "functions.clock:1",
    ]


@given(st.lists(st.lists(st.sampled_from(["a", "a_1", "a_2", "b"]), min_size=1, max_size=3, unique=True), max_size=6))
def test_each_call_has_its_own_id_which_stays_while_the_conversation_grows(turns: list[list[str]]) -> None:
    history, said = RequestHistory(), list[AgentMessage]()
    before: list[str] = []
    for ids in turns:
        said += turn(*ids)
        request = history.of(said)
        assert len(set(ids_of(request))) == len(ids_of(request))
        assert answered(request) == ids_of(request)
        assert ids_of(request)[: len(before)] == before
        before = ids_of(request)

    assert history.of(said) == RequestHistory().of(said)
