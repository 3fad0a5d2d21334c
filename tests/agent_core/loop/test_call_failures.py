"""A failed call's result says in its details why it failed, whatever the cause (S3-33)."""

import asyncio

import pytest
from pydantic import JsonValue

from agent_core.events import ToolExecutionEnd
from agent_core.loop.limits import LoopLimits
from agent_core.loop.permissions import Answer, EverythingAllowed, PermissionDecision, Proposal
from agent_core.messages import AssistantMessage, StopReason, ToolCall, ToolResultMessage
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Call, Calls, CutOff, Turn, calls
from agent_core.origin import CLEAN
from agent_core.reasons import LoopState, TerminalReason
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import ToolFailed, tool
from tests.agent_core.kit import StartAgent, Talk, broken, echo, end_of, record
from tests.messages import user


def failure(talk: Talk) -> JsonValue:
    """Return the failure recorded in the last tool result."""
    last = next(each for each in reversed(talk.agent.state.messages) if isinstance(each, ToolResultMessage))
    return last.details["failure"] if isinstance(last.details, dict) else None


class Says(EverythingAllowed):
    """Permissions that deny every call, or ask and return the given answer."""

    def __init__(self, answer: Answer | None = None) -> None:
        self._answer = answer

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        return PermissionDecision(behavior="ask" if self._answer else "deny", request_id="1")

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        return self._answer or Answer.DENIED


@tool(timeout_s=0.01)
async def slow() -> str:
    """Too slow."""
    await asyncio.Event().wait()
    return ""


@tool()
async def fussy() -> str:
    """Says why not."""
    raise ToolFailed("not today")


@tool()
async def honest() -> ToolResult:
    """Says it itself."""
    return ToolResult.of("it did not work", CLEAN, is_error=True).model_copy(
        update={"details": {"failure": "shell", "a": 1}}
    )


@tool()
async def terse() -> ToolResult:
    """Has details that are no object."""
    return ToolResult(is_error=True, details=[1], origin=CLEAN)


async def failed(starts: StartAgent, *turns: Turn, **how: object) -> Talk:
    talk = starts(*turns, "ok", tools=(echo, broken, slow, fussy, honest, terse), **how)
    await talk.says("go")
    return talk


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (calls(("nobody", {})), "tool_input_error"),
        (calls(("echo", {"text": 1, "more": 2})), "tool_input_error"),
        (calls(("echo", '{"te')), "tool_input_error"),
        (CutOff("", (Call("echo"),)), "tool_input_error"),
        (calls(("broken", {})), "tool_runtime_error"),
        (calls(("fussy", {})), "tool_runtime_error"),
        (calls(("terse", {})), "tool_runtime_error"),
        (calls(("honest", {})), "shell"),
        (calls(("slow", {})), "tool_timeout"),
        (Calls(tuple(Call("echo") for _ in range(11))), "limit_reached"),
    ],
)
async def test_the_kind_of_each_failure_is_told(starts: StartAgent, turn: Turn, kind: str) -> None:  # S3-33
    assert failure(await failed(starts, turn)) == kind


async def test_a_call_over_the_cap_of_the_run_is_one_too(starts: StartAgent) -> None:  # S3-33, C-06
    batch = calls(("echo", {}), ("echo", {}))
    assert failure(await failed(starts, batch, limits=LoopLimits(max_tool_calls=1))) == "limit_reached"


@pytest.mark.parametrize("answer", [None, Answer.DENIED, Answer.EXPIRED])
async def test_what_people_or_rules_refuse_is_told(starts: StartAgent, answer: Answer | None) -> None:  # S3-33, C-21
    assert failure(await failed(starts, calls(("echo", {})), permissions=Says(answer))) == "permission_denied"


async def test_what_is_skipped_for_a_person_is_told(starts: StartAgent) -> None:  # S3-33, S4-24
    def steers(_: LlmRequest) -> Turn:
        talk.agent.steer("wait")
        return calls(("echo", {}))

    talk = starts(steers, "ok", tools=[echo])
    await talk.says("go")

    assert failure(talk) == "skipped"


@pytest.mark.parametrize("at", ["tool_execution_start", "message_end"])
async def test_what_is_stopped_is_told(starts: StartAgent, at: str) -> None:  # S3-33, U-07
    talk = starts(calls(("slow", {}), ("echo", {})), tools=[slow, echo])
    talk.agent.subscribe(
        lambda event: talk.agent.abort() if event.type == at and len(talk.agent.state.messages) > 1 else None
    )

    await talk.says("go")

    assert failure(talk) == "task_killed"


async def test_what_nobody_knows_is_told(starts: StartAgent) -> None:  # S3-33, U-19
    talk = starts("ok", tools=[echo])
    call = ToolCall(id="1", name="echo", arguments={})
    talk.agent.replace_messages(
        [user("go", origin=CLEAN), AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)]
    )

    await record(talk.agent.resume())

    assert failure(talk) == "unknown_outcome"


async def test_a_success_has_the_details_that_the_tool_gave_it(starts: StartAgent) -> None:  # S3-33, S4-25
    talk = await failed(starts, calls(("echo", {})))

    last = next(each for each in talk.agent.state.messages if isinstance(each, ToolResultMessage))
    assert last.details is None


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        (TerminalReason.TOOL_TERMINATED, LoopState.COMPLETED),
        (TerminalReason.BACKGROUNDED, LoopState.BACKGROUNDED),
        (TerminalReason.HANDED_OVER, LoopState.BACKGROUNDED),
    ],
)
async def test_a_tool_may_end_the_run_because_others_go_on_with_it(
    starts: StartAgent, reason: TerminalReason, state: LoopState
) -> None:
    # S3-11, U-05, D-09
    @tool()
    async def leave() -> ToolResult:
        """Somebody else goes on with it."""
        return ToolResult.model_validate({"origin": CLEAN, "terminate": True, "ends_as": reason})

    talk = starts(calls(("leave", {})), "never", tools=[leave])

    events = await talk.says("go")

    assert end_of(events).reason is reason
    assert talk.agent.state.state is state
    assert [event.is_error for event in events if isinstance(event, ToolExecutionEnd)] == [False]
