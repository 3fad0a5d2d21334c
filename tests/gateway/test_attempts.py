"""The step in which a run has stopped, by its messages, and whether the run makes progress."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    JsonObject,
    StopReason,
    TextContent,
    ToolCall,
    ToolResultMessage,
)
from agent_core.origin import CLEAN
from agent_core.reasons import CallFailure
from gateway.runs.attempts import is_answered, steps_of
from tests.messages import user


def asks(number: int, *calls: ToolCall) -> AssistantMessage:
    return AssistantMessage(id=f"answer-{number}", content=calls, stop_reason=StopReason.TOOL_USE, origin=CLEAN)


def call(number: int, name: str = "look", **arguments: int) -> ToolCall:
    return ToolCall(id=f"call-{number}", name=name, arguments=dict[str, JsonObject](arguments))  # type: ignore[arg-type]


def result(number: int, failure: CallFailure | None = None) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=f"call-{number}",
        tool_name="look",
        content=(TextContent(text="x"),),
        details={"failure": failure.value} if failure else None,
        is_error=failure is not None,
        origin=CLEAN,
    )


HELLO = user("hello")


def test_the_same_call_is_the_same_step_whichever_answer_made_it() -> None:
    first: list[AgentMessage] = [HELLO, asks(1, call(1, a=1))]
    unknown: list[AgentMessage] = [*first, result(1, CallFailure.UNKNOWN), asks(2, call(2, a=1))]

    assert steps_of(first) == steps_of(unknown)


def test_once_it_has_brought_a_result_it_is_another_step() -> None:
    first: list[AgentMessage] = [HELLO, asks(1, call(1, a=1))]
    again: list[AgentMessage] = [*first, result(1), asks(2, call(2, a=1))]

    assert steps_of(first) != steps_of(again)


def test_other_arguments_are_another_step() -> None:
    assert steps_of([asks(1, call(1, a=1))]) != steps_of([asks(1, call(1, a=2))])


def test_a_call_that_people_are_asked_about_is_no_step_yet() -> None:
    asked: list[AgentMessage] = [HELLO, asks(1, call(1), call(2, "other"))]

    assert steps_of(asked, ["call-1"]) == steps_of([HELLO, asks(1, call(2, "other"))])
    assert steps_of(asked, ["call-1", "call-2"]) == []


@pytest.mark.parametrize("failure", [CallFailure.UNKNOWN, CallFailure.KILLED, CallFailure.SKIPPED])
def test_what_recovery_writes_makes_no_other_request(failure: CallFailure) -> None:
    called: list[AgentMessage] = [HELLO, asks(1, call(1))]

    assert steps_of([*called, result(1, failure)]) == ["request:answer-1"]


def test_a_failed_answer_makes_no_other_request() -> None:
    failed = AssistantMessage(content=(), stop_reason=StopReason.ERROR, origin=CLEAN)

    assert steps_of([HELLO, failed]) == steps_of([HELLO]) == [f"request:{HELLO.id}"]


def test_a_result_makes_another_request_though_the_tool_failed() -> None:
    called: list[AgentMessage] = [HELLO, asks(1, call(1))]

    assert steps_of([*called, result(1, CallFailure.TOOL)]) != steps_of([*called, result(1, CallFailure.UNKNOWN)])


@pytest.mark.parametrize(
    ("reason", "answered"),
    [(StopReason.STOP, True), (StopReason.ABORTED, True), (StopReason.LENGTH, False), (StopReason.ERROR, False)],
)
def test_an_answer_that_stands_needs_no_request_any_more(reason: StopReason, *, answered: bool) -> None:
    said = AssistantMessage(content=(TextContent(text="Hi."),), stop_reason=reason, origin=CLEAN)

    assert is_answered([HELLO, said]) is answered


@given(st.lists(st.integers(0, 2), min_size=1, max_size=64))
def test_a_run_that_advances_in_each_life_is_never_twice_in_the_same_step(arguments: list[int]) -> None:
    """Each attempt makes a call, possibly a repeated one, and gets its result."""
    said: list[AgentMessage] = [HELLO]
    seen: list[str] = []
    for number, argument in enumerate(arguments):
        seen += steps_of(said)
        said.append(asks(number, call(number, a=argument)))
        seen += steps_of(said)
        said.append(result(number))

    assert len(seen) == len(set(seen))
