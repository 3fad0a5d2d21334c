"""Whatever happens in a run, its events are balanced, its state is JSON, and a replay rebuilds it."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.agent import Agent
from agent_core.context.request_history import convert_to_llm, repair
from agent_core.events import (
    AgentEnd,
    AgentEvent,
    CompactionEnd,
    CompactionStart,
    MessageEnd,
    MessageStart,
    PermissionRequest,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnEnd,
    TurnStart,
    event_adapter,
)
from agent_core.loop.limits import LoopLimits
from agent_core.loop.queues import MessageQueues
from agent_core.loop.state import QueryState, reduce_event, state_adapter
from agent_core.messages import AssistantMessage, StopReason, ToolResultMessage
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Call, Calls, CutOff, Failure, Thinks, Turn, calls
from agent_core.origin import CLEAN
from agent_core.reasons import CallFailure, LoopState, TerminalReason, TransitionReason
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import RetryableToolError, Tool, ToolContext, tool
from tests.agent_core.kit import Talk, broken, echo, look, record, start_agent
from tests.examples import examples
from tests.process import REPOSITORY


@tool(execution="parallel")
async def glance(context: ToolContext) -> str:
    """Look for a moment."""
    context.on_update(ToolResult.of("half", CLEAN))
    await asyncio.sleep(0)
    return "seen"


@tool()
async def busy() -> str:
    """Always busy."""
    raise RetryableToolError("busy")


TOOLS: list[Tool] = [echo, look, glance, busy, broken]
TURNS: list[Turn] = [
    "An answer.",
    "",
    Thinks("hm", "So."),
    CutOff("It goes on"),
    Failure(FailureKind.TRANSIENT),
    Failure(FailureKind.TRANSIENT, after_words="I was"),
    Failure(FailureKind.QUOTA, after_words="Almost"),
    calls(("echo", {"text": "a"}), text="One moment."),
    calls(("echo", {}), ("nobody", {}), ("broken", {})),
    Calls(tuple(Call("look", {"text": str(number)}) for number in range(6))),
    calls(("glance", {}), ("glance", {})),
    calls(("busy", {}), ("echo", '{"text":')),
    Calls(tuple(Call("echo", {"text": str(number)}) for number in range(12))),
]


@dataclass(frozen=True)
class Plan:
    """A script of the model, and the events at which a user steers or stops the run."""

    turns: tuple[Turn, ...]
    steer_at: frozenset[int]
    abort_at: int | None
    follow_ups: int
    limits: LoopLimits
    together: bool

    def start(self) -> Talk:
        queues = MessageQueues("all", "all") if self.together else MessageQueues()
        talk = start_agent(*self.turns, tools=TOOLS, limits=self.limits, queues=queues)
        for number in range(self.follow_ups):
            talk.agent.follow_up(f"follow-up {number}")

        def meddle(event: AgentEvent) -> None:
            if event.seq in self.steer_at:
                talk.agent.steer(f"steering {event.seq}")
            if event.seq == self.abort_at:
                talk.agent.abort()

        talk.agent.subscribe(meddle)
        return talk


PLANS = st.builds(
    Plan,
    turns=st.lists(st.sampled_from(TURNS), max_size=6).map(tuple),
    steer_at=st.frozensets(st.integers(1, 60), max_size=3),
    abort_at=st.none() | st.integers(1, 60),
    follow_ups=st.integers(0, 2),
    limits=st.builds(
        LoopLimits, max_turns=st.integers(1, 6), max_tool_calls=st.integers(1, 9), finalize_on_limit=st.booleans()
    ),
    together=st.booleans(),
)
FEW = settings(max_examples=examples(60))


def assert_balanced(events: Sequence[AgentEvent]) -> None:
    open_messages: list[str] = []
    open_tools: list[str] = []
    open_turns = 0
    for event in events:
        match event:
            case MessageStart():
                assert not open_messages
                open_messages.append(event.message.id)
            case MessageEnd():
                assert open_messages.pop() == event.message.id
            case ToolExecutionStart():
                open_tools.append(event.tool_call_id)
            case ToolExecutionEnd():
                open_tools.remove(event.tool_call_id)
            case TurnStart() | TurnEnd():
                open_turns += 1 if isinstance(event, TurnStart) else -1
                assert open_turns in (0, 1)
                assert not open_tools
            case _:
                pass
    assert (open_messages, open_tools, open_turns) == ([], [], 0)
    assert [event for event in events if isinstance(event, AgentEnd)] == [events[-1]]


def assert_each_call_has_one_result(state: QueryState) -> None:
    called = [
        call.id
        for message in state.messages
        if isinstance(message, AssistantMessage) and message.stop_reason is not StopReason.ERROR
        for call in message.tool_calls
    ]
    answered = [message.tool_call_id for message in state.messages if isinstance(message, ToolResultMessage)]
    assert answered == called
    assert max(Counter(answered).values(), default=1) == 1


def save_at_turn_ends(agent: Agent) -> list[tuple[QueryState, bytes]]:
    saved: list[tuple[QueryState, bytes]] = []

    def save(event: AgentEvent) -> None:
        if isinstance(event, TurnEnd):
            saved.append((agent.state, state_adapter.dump_json(agent.state)))

    agent.subscribe(save)
    return saved


@given(PLANS)
@FEW
async def test_whatever_happens_the_events_are_balanced_and_every_call_has_one_result(plan: Plan) -> None:
    # S0-14, S0-23, S3-05, S3-11, S3-13, S4-20, S4-24
    talk = plan.start()

    events = await asyncio.wait_for(record(talk.agent.stream("go")), 30)

    assert_balanced(events)
    assert_each_call_has_one_result(talk.agent.state)
    assert not talk.agent.is_running


@given(PLANS)
@FEW
async def test_the_state_at_each_turn_end_survives_json(plan: Plan) -> None:  # S3-08, S3-20
    talk = plan.start()
    saved = save_at_turn_ends(talk.agent)

    await talk.says("go")

    assert saved
    assert all(state_adapter.validate_json(raw) == state for state, raw in saved)


@given(PLANS)
@FEW
async def test_replaying_the_stored_events_rebuilds_the_same_state(plan: Plan) -> None:  # S3-20, S4-36
    talk = plan.start()

    events = await talk.says("go")

    state = QueryState(run_id=events[0].run_id, session_id="chat")
    for event in events:
        reduce_event(state, event_adapter.validate_json(event_adapter.dump_json(event)))
    now = talk.agent.state
    assert state == replace(now, steering=[], follow_up=[])


@given(PLANS)
@FEW
async def test_every_request_is_one_that_any_provider_takes(plan: Plan) -> None:  # S0-23, S0-29, S4-03
    talk = plan.start()

    await talk.says("go")

    for request in talk.llm.requests:
        assert repair(request.messages) == request.messages
    assert repair(convert_to_llm(talk.agent.state.messages))


@given(PLANS, st.integers(1, 60))
@FEW
async def test_a_run_given_up_at_any_event_can_be_resumed(plan: Plan, at: int) -> None:  # S3-20, S0-14
    talk = plan.start()
    events = talk.agent.stream("go")
    async for event in events:
        if event.seq == at:
            break
    await events.aclose()
    if not talk.agent.state.messages:
        return
    after = start_agent("Going on.", tools=TOOLS)
    after.agent.replace_messages(talk.agent.state.messages)

    rest = await record(after.agent.resume())

    assert_balanced(rest)
    assert_each_call_has_one_result(after.agent.state)


def test_a_new_state_is_all_zero() -> None:  # S3-08
    state = QueryState(run_id="r", session_id="s")

    assert state_adapter.dump_python(state, exclude={"run_id", "session_id", "usage"}) == {
        "messages": [],
        "state": LoopState.IDLE,
        "turn_count": 0,
        "tool_call_count": 0,
        "transition_reason": None,
        "terminal_reason": None,
        "error": None,
        "pending_tool_calls": [],
        "auto_compact_tracking": None,
        "pending_tool_summary": None,
        "stop_hook_active": False,
        "max_output_recovery_count": 0,
        "has_attempted_reactive_compact": False,
        "denied_calls": [],
        "steering": [],
        "follow_up": [],
    }


def test_compaction_and_approval_are_states_of_their_own() -> None:  # S0-21
    state = QueryState(run_id="r", session_id="s")
    asks = PermissionRequest(request_id="1", tool_call_id="2", tool_name="t", args={}, reason="risky")
    compacted = CompactionEnd(boundary=None, tokens_before=2, tokens_after=1)
    seen: list[LoopState] = []

    for event in (CompactionStart(reason="threshold"), compacted, asks):
        reduce_event(state, event)
        seen.append(state.state)

    assert seen == [LoopState.COMPACTING, LoopState.THINKING, LoopState.WAITING_APPROVAL]


def test_every_end_leaves_the_agent_in_a_state() -> None:  # S0-21, S3-11, D-09
    left = {reason.value: reason.state_after for reason in TerminalReason}

    assert left == {
        "completed": LoopState.COMPLETED,
        "max_turns": LoopState.MAX_ITERATIONS,
        "max_tool_calls": LoopState.MAX_ITERATIONS,
        "max_seconds": LoopState.MAX_ITERATIONS,
        "repeated_calls": LoopState.MAX_ITERATIONS,
        "budget_exhausted": LoopState.MAX_ITERATIONS,
        "set_aside": LoopState.MAX_ITERATIONS,
        "aborted": LoopState.ABORTED,
        "permission_blocked": LoopState.ERROR,
        "error": LoopState.ERROR,
        "backgrounded": LoopState.BACKGROUNDED,
        "handed_over": LoopState.BACKGROUNDED,
        "tool_terminated": LoopState.COMPLETED,
    }


def test_a_run_that_reached_a_limit_may_be_continued_by_a_person() -> None:  # D-22
    assert {reason.value for reason in TerminalReason if reason.is_limit} == {
        "max_turns",
        "max_tool_calls",
        "max_seconds",
        "repeated_calls",
        "budget_exhausted",
        "set_aside",
    }


def test_the_reasons_of_a_turn_are_enumerated() -> None:  # S3-10
    assert {"start", "resume", "tool_round", "steering", "follow_up", "subagent"} <= set(TransitionReason)


@pytest.mark.parametrize("reasons", [TransitionReason, TerminalReason, CallFailure])
def test_every_reason_is_given_by_something(reasons: type[StrEnum]) -> None:  # S3-10, S3-11
    code = "".join(
        path.read_text("utf-8")
        for folder in ("agent_core", "gateway")
        for path in (REPOSITORY / folder).rglob("*.py")
        if path.name != "reasons.py"
    )

    assert [each.name for each in reasons if f"{reasons.__name__}.{each.name}" not in code] == []
