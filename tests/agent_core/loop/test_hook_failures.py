"""When a hook raises, the run ends with balanced events and an explanation, and the next message works."""

import asyncio
from collections.abc import Sequence
from typing import Literal

import pytest

from agent_core.cancel import CancelToken
from agent_core.events import AgentEnd, ToolExecutionEnd
from agent_core.loop.hooks import Hooks
from agent_core.loop.permissions import PermissionDecision
from agent_core.loop.state import QueryState
from agent_core.messages import (
    AgentMessage,
    LlmMessage,
    StopReason,
    ToolCall,
)
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure, calls
from agent_core.reasons import LoopState, TerminalReason
from agent_core.tools.tool import ToolContext, tool
from tests.agent_core.kit import StartAgent, answers, end_of, kinds, look, people, results
from tests.agent_core.loop.test_hooks import failures

Word = Literal["continue", "end"] | None


class Raises(Hooks):
    """Hooks of which the one with the given name fails once."""

    def __init__(self, name: str, error: BaseException) -> None:
        self._name = name
        self._error: BaseException | None = error

    def _reach(self, name: str) -> None:
        if name == self._name and self._error is not None:
            error, self._error = self._error, None
            raise error

    async def transform_context(self, messages: Sequence[AgentMessage], cancel: CancelToken) -> Sequence[AgentMessage]:
        self._reach("transform_context")
        return messages

    def convert_to_llm(self, messages: Sequence[AgentMessage]) -> Sequence[LlmMessage] | None:
        self._reach("convert_to_llm")
        return None

    async def get_api_key(self, provider: str) -> str | None:
        self._reach("get_api_key")
        return None

    async def before_tool_call(self, call: ToolCall, context: ToolContext) -> PermissionDecision | None:
        self._reach("before_tool_call")
        return None

    async def before_turn(self, state: QueryState) -> None:
        self._reach("before_turn")

    async def after_turn(self, state: QueryState) -> Word:
        self._reach("after_turn")
        return None


@pytest.mark.parametrize("error", [ValueError("oh no"), asyncio.CancelledError()])
@pytest.mark.parametrize("name", ["transform_context", "convert_to_llm", "get_api_key", "before_turn"])
async def test_a_hook_that_fails_before_the_answer_ends_the_run_in_balance(
    starts: StartAgent, name: str, error: BaseException
) -> None:
    # S4-05
    talk = starts("Better.", hooks=Raises(name, error))

    events = await talk.says("go")

    assert kinds(events)[2:] == ["+user", "-user", "+assistant", "-assistant", "turn_end 0", "agent_end error"]
    end = end_of(events)
    assert end.failure is FailureKind.FATAL
    assert f"the hook {name} failed" in (end.error or "")
    assert talk.agent.state.state is LoopState.ERROR
    assert answers(await talk.says("again")) == ["Better."]
    assert talk.heard == ["user: go", "user: again"]
    assert talk.clock.slept == []


async def test_a_check_that_fails_makes_no_call_and_ends_the_run(starts: StartAgent) -> None:  # S4-05, S3-13
    ran: list[str] = []

    @tool()
    async def act(text: str) -> str:
        """Do it."""
        ran.append(text)
        return "done"

    batch = calls(("act", {"text": "a"}), ("act", {"text": "b"}))
    talk = starts(batch, "Better.", tools=[act], hooks=Raises("before_tool_call", ValueError("oh no")))

    events = await talk.says("go")

    assert ran == []
    assert len(results(events)) == 2
    assert failures(talk) == ["hook_blocked", "hook_blocked"]
    assert kinds(events)[-2:] == ["turn_end 2", "agent_end error"]
    assert "oh no" in (end_of(events).error or "")
    assert answers(await talk.says("again")) == ["Better."]


async def test_calls_that_already_run_beside_a_failing_check_come_to_their_end(
    starts: StartAgent,
) -> None:  # S4-05, C-01
    class FailsSecond(Hooks):
        async def before_tool_call(self, call: ToolCall, context: ToolContext) -> PermissionDecision | None:
            if call.arguments["text"] == "b":
                raise ValueError("oh no")
            return None

    batch = calls(("look", {"text": "a"}), ("look", {"text": "b"}), ("look", {"text": "c"}))
    talk = starts(batch, tools=[look], hooks=FailsSecond())

    events = await talk.says("go")

    assert results(events)[0] == "saw a"
    assert failures(talk) == [None, "hook_blocked", "hook_blocked"]
    assert [event.attempts for event in events if isinstance(event, ToolExecutionEnd)] == [0, 0, 1]


async def test_a_hook_that_fails_after_the_turn_ends_the_run_with_the_answer_kept(starts: StartAgent) -> None:  # S4-05
    talk = starts("Hi.", "Better.", hooks=Raises("after_turn", ValueError("oh no")))

    events = await talk.says("go")

    assert kinds(events)[-3:] == ["-assistant", "turn_end 0", "agent_end error"]
    assert answers(events) == ["Hi."]
    assert answers(await talk.says("again")) == ["Better."]


async def test_a_key_that_fails_is_not_asked_of_the_next_attempt(starts: StartAgent) -> None:  # S4-05, S4-06
    talk = starts(Failure(), "never", hooks=Raises("get_api_key", ValueError("oh no")))

    end: AgentEnd = end_of(await talk.says("go"))

    assert talk.llm.requests == []
    assert end.messages[-1].role == "assistant"


async def test_what_stops_a_run_is_heard_before_a_failing_hook(starts: StartAgent) -> None:  # C-16, S4-05
    class Stops(Hooks):
        async def before_turn(self, state: QueryState) -> None:
            talk.agent.abort()

    talk = starts("never", hooks=Stops())

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.ABORTED
    assert people(events) == ["go"]
    assert talk.llm.requests == []
    last = end_of(events).messages[-1]
    assert getattr(last, "stop_reason", None) is StopReason.ABORTED
