"""Whatever models, tools, users and hooks do, a run is balanced, ends once, and the next one works."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from structlog.testing import capture_logs

from agent_core.agent import Agent
from agent_core.events import (
    AgentEnd,
    AgentEvent,
    CompactionEnd,
    CompactionStart,
    MessageEnd,
    MessageStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from agent_core.loop.hooks import Hooks
from agent_core.loop.limits import LoopLimits
from agent_core.loop.permissions import EverythingAllowed, PermissionDecision, Proposal
from agent_core.loop.state import QueryState, state_adapter
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    LlmMessage,
    StopReason,
    ToolCall,
    ToolResultMessage,
    text_of,
)
from agent_core.models.llm import FailureKind, LlmRequest
from agent_core.models.scripted import Call, Calls, CutOff, Failure, ScriptedLlm, Thinks, Turn, calls
from agent_core.origin import CLEAN
from agent_core.reasons import LoopState, TerminalReason
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, tool
from tests.agent_core.kit import MakeModel, agent_over, broken, echo, look, numbered, record
from tests.agent_core.loop.compactors import Shortens
from tests.agent_core.loop.test_hook_failures import Raises
from tests.clock import FakeClock
from tests.examples import examples

QUIET = settings(max_examples=examples(120))
FAR = LoopLimits(max_turns=100, max_tool_calls=1000, max_calls_per_answer=40)
"""Limits that no run of these tests reaches."""
NEAR = LoopLimits(max_turns=4, max_tool_calls=5, max_calls_per_answer=3, finalize_on_limit=True)


RAN: ContextVar[Counter[str]] = ContextVar("ran")
"""Number of runs of each call on the current stage."""


@tool()
async def act(context: ToolContext, text: str = "") -> str:
    """Has an effect."""
    RAN.get()[context.call_id] += 1
    return f"done {text}"


@tool(timeout_s=0.002)
async def hangs(context: ToolContext) -> str:
    """Never ends by itself."""
    RAN.get()[context.call_id] += 1
    await asyncio.Event().wait()
    return ""


@tool()
async def much(context: ToolContext) -> str:
    """Says much, and shows much meanwhile."""
    RAN.get()[context.call_id] += 1
    for number in range(30):
        context.on_update(ToolResult.of(f"{number}", CLEAN))
    return "long\n" * 5_000


@tool()
async def leaves() -> ToolResult:
    """Ends the run."""
    return ToolResult(terminate=True, origin=CLEAN)


TOOLS: Sequence[Tool] = (act, hangs, much, leaves, echo, look, broken)


@dataclass
class Stage:
    """One agent, the calls it ran, and its state at the end of each turn."""

    script: Sequence[str]
    folder: Path
    limits: LoopLimits = FAR
    hooks: Hooks | None = None
    most: int = 12
    skipped: int = 0
    """Requests of the script made before the restart."""
    over: ScriptedLlm | None = None
    """Client that plays the script in place of `ScriptedLlm`."""
    ran: Counter[str] = field(default_factory=Counter)
    stops: list[tuple[QueryState, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        turns = [self._turn(step, number) for number, step in enumerate(self.script)]
        self.llm = self.over or ScriptedLlm(new_id=self._call_id)
        self.llm.add(*turns[self.skipped :], *["The end."] * 30)
        self.agent: Agent = agent_over(
            self.llm,
            FakeClock(),
            tools=TOOLS,
            limits=self.limits,
            permissions=Forbids(),
            hooks=self.hooks,
            compactor=Shortens(most=self.most),
        )
        self.agent.environment = replace(self.agent.environment, workspace=self.folder)
        self.agent.loop.runtime = replace(self.agent.loop.runtime, new_id=numbered(f"life {self.skipped}"))
        self.agent.subscribe(self._look)

    def _call_id(self) -> str:
        return f"call {self.skipped + len(self.llm.requests)}"  # so that the calls of one answer have one id

    def _look(self, event: AgentEvent) -> None:
        if isinstance(event, TurnEnd):
            state = self.agent.state
            assert state_adapter.validate_json(state_adapter.dump_json(state)) == state
            self.stops.append((state, self.skipped + len(self.llm.requests)))

    def _turn(self, step: str, number: int) -> Turn:
        before, _, rest = step.rpartition(" then ")
        if not before:
            return PLAIN[rest](number) if rest in PLAIN else calls((rest, {"text": f"{number}"}))

        def speak(_: LlmRequest) -> Turn:
            match before:
                case "steer":
                    self.agent.steer(f"wait {number}")
                case "follow":
                    self.agent.follow_up(f"later {number}")
                case "abort":
                    self.agent.abort()
                case _:
                    raise RuntimeError("the client is broken")
            return self._turn(rest, number)

        return speak


class Forbids(EverythingAllowed):
    async def decide(self, proposal: Proposal) -> PermissionDecision:
        return PermissionDecision(behavior="deny" if proposal.call.arguments.get("text") == "no" else "allow")


def _same_ids(number: int) -> Turn:
    return Calls((Call("act", {"text": f"{number}"}, id="same"), Call("act", {"text": "b"}, id="same")))


def _times(number: int, name: str) -> Calls:
    return Calls(tuple(Call(name, {"text": f"{each}"}) for each in range(number)))


PLAIN: Mapping[str, Callable[[int], Turn]] = {
    "say": lambda number: f"answer {number}",
    "nothing": lambda _: "",
    "think": lambda number: Thinks("hm", f"thought {number}"),
    "cut": lambda number: CutOff(f"part {number}"),
    "cut calls": lambda _: CutOff("", (Call("act"),)),
    "full": lambda _: CutOff(""),
    "overflow": lambda _: Failure(FailureKind.OVERFLOW),
    "busy": lambda _: Failure(),
    "breaks off": lambda _: Failure(after_words="I was about to"),
    "broke": lambda _: Failure(FailureKind.QUOTA),
    "bad": lambda _: calls(("act", '{"text":')),
    "refused": lambda _: calls(("act", {"text": "no"})),
    "same ids": _same_ids,
    "mixed": lambda _: calls(("look", {}), ("nobody", {}), ("act", {}), ("broken", {}), ("act", {"text": "no"})),
    "seen": lambda _: _times(9, "look"),
    "many": lambda _: _times(50, "act"),
}
STEPS = st.sampled_from([*PLAIN, "act", "hangs", "much", "nobody", "broken", "look"])
EVENTS = st.sampled_from(["steer", "follow", "abort", "raise"])
SCRIPTS = st.lists(
    st.one_of(STEPS, STEPS, st.just("leaves"), st.tuples(EVENTS, STEPS).map(" then ".join)), min_size=1, max_size=7
)
CALM = st.lists(
    st.one_of(STEPS, st.tuples(st.sampled_from(["steer", "follow"]), STEPS).map(" then ".join)), min_size=1, max_size=6
)


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Iterator[None]:
    """Capture logs, because formatting a traceback takes longer than a run."""
    with capture_logs():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Workspace for outputs that are too long to be shown."""
    return tmp_path_factory.mktemp("workspace")


async def play(stage: Stage, text: str = "go") -> list[AgentEvent]:
    RAN.set(stage.ran)
    return await record(stage.agent.stream(text))


def check(stage: Stage, events: Sequence[AgentEvent]) -> AgentEnd:
    """Assert everything that holds for any run, and return its last event."""
    end = events[-1]
    assert isinstance(end, AgentEnd)
    assert [event.type for event in events].count("agent_end") == 1
    assert [event.type for event in events].count("agent_start") == 1
    assert balanced(events) == []
    assert [event.message for event in events if isinstance(event, MessageEnd)] == list(end.messages)
    assert unanswered(end.messages) == []
    for request in stage.llm.requests:
        assert unanswered(request.messages) == []
        assert not isinstance(request.messages[0], ToolResultMessage)
    assert max(stage.ran.values(), default=1) == 1
    assert not stage.agent.is_running
    assert stage.agent.streaming_message is None
    assert stage.agent.state.state in {reason.state_after for reason in TerminalReason}
    return end


def balanced(events: Sequence[AgentEvent]) -> list[str]:
    """Return what is still open at the end; fail if something ends unopened or starts twice."""
    still_open: list[str] = []
    for event in events:
        match event:
            case MessageStart() | MessageEnd():
                key = f"message {event.message.id}"
            case ToolExecutionStart() | ToolExecutionEnd():
                key = f"tool {event.tool_call_id}"
            case TurnStart() | TurnEnd():
                key = "turn"
            case CompactionStart() | CompactionEnd():
                key = "compaction"
            case _:
                continue
        if event.type.endswith("_start"):
            assert key not in still_open
            still_open.append(key)
        else:
            still_open.remove(key)
    return still_open


def unanswered(messages: Sequence[AgentMessage | LlmMessage]) -> list[str]:
    """Return ids of calls without a result; fail if a result has no call or a message stands in between."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            waiting.remove(message.tool_call_id)
            continue
        if message.role in ("user", "assistant"):
            assert waiting == []
        if isinstance(message, AssistantMessage) and message.stop_reason is not StopReason.ERROR:
            waiting = [call.id for call in message.content if isinstance(call, ToolCall)]
    return waiting


async def check_next(stage: Stage) -> None:
    """Assert that the next message is answered, whatever was left behind."""
    stage.agent.loop.models.llm = ScriptedLlm(*["Of course."] * 9)
    events = await play(stage, "and now?")
    end = check(stage, events)
    assert end.reason is TerminalReason.COMPLETED
    assert stage.agent.state.state is LoopState.COMPLETED
    assert last_words(stage.agent) == "Of course."


def last_words(agent: Agent) -> str:
    said = [message.text for message in agent.state.messages if isinstance(message, AssistantMessage)]
    return said[-1]


@given(script=SCRIPTS, limits=st.sampled_from([FAR, NEAR]), most=st.sampled_from([3, 12, 99]))
@QUIET
async def test_every_run_is_balanced_and_the_next_one_works(
    script: list[str], limits: LoopLimits, most: int, folder: Path
) -> None:
    # S3-20, S3-13, S3-11, S4-05, S0-14, S3-08, U-15
    stage = Stage(script, folder, limits, most=most)
    check(stage, await play(stage))
    await check_next(stage)


@pytest.mark.parametrize("step", [*PLAIN, "act", "broken", "leaves"])
async def test_whatever_a_provider_answers_the_run_is_balanced(model_of: MakeModel, step: str, folder: Path) -> None:
    # S3-20, S3-13, S0-14, S3-08, S3-24
    stage = Stage([step, "act", step], folder, over=model_of())
    check(stage, await play(stage))
    assert all(state_adapter.validate_json(state_adapter.dump_json(state)) == state for state, _ in stage.stops)
    await check_next(stage)


HOOKS = ["transform_context", "convert_to_llm", "get_api_key", "before_tool_call", "before_turn", "after_turn"]


@given(script=SCRIPTS, name=st.sampled_from(HOOKS))
@settings(QUIET, max_examples=examples(60))
async def test_a_hook_that_raises_leaves_a_run_that_people_can_read(script: list[str], name: str, folder: Path) -> None:
    # S4-05, S3-20
    stage = Stage(script, folder, hooks=Raises(name, ValueError("oh no")))
    end = check(stage, await play(stage))
    if name not in ("before_tool_call", "after_turn"):
        assert end.reason is TerminalReason.ERROR
        assert "oh no" in (end.error or "")
    stage.agent.loop.models.llm = ScriptedLlm(*["Yes."] * 9)
    check(stage, await play(stage))
    await check_next(stage)


async def go_on(stage: Stage) -> None:
    """Resume, then continue until no message is queued."""
    RAN.set(stage.ran)
    check(stage, await record(stage.agent.resume()))
    while stage.agent.has_queued_messages:
        await stage.agent.continue_()


@given(script=CALM)
@settings(QUIET, max_examples=examples(50))
async def test_resuming_from_any_turn_gives_the_same_final_answer(script: list[str], folder: Path) -> None:
    # S3-08, S3-20, S3-17
    stage = Stage(script, folder)
    end = check(stage, await play(stage))
    if end.reason is not TerminalReason.COMPLETED:
        return
    for state, made in stage.stops:
        stored = state_adapter.validate_json(state_adapter.dump_json(state))
        if stored.steering and failed(stored.messages[-1]):
            continue  # queued messages are read now together with the last question, so there is one answer fewer
        again = Stage(script, folder, skipped=made)
        again.agent.replace_messages(stored.messages)
        for message in stored.steering:
            again.agent.steer(message)
        for message in stored.follow_up:
            again.agent.follow_up(message)

        await go_on(again)

        assert last_words(again.agent) == last_words(stage.agent)
        assert not set(again.ran) & {call.id for message in stored.messages for call in _calls(message)}


def failed(message: AgentMessage) -> bool:
    return isinstance(message, AssistantMessage) and message.stop_reason is StopReason.ERROR


def _calls(message: AgentMessage) -> Sequence[ToolCall]:
    return message.tool_calls if isinstance(message, AssistantMessage) else ()


async def test_two_hundred_calls_at_once_are_all_answered(folder: Path) -> None:  # S0-23, D-06
    talk = Stage(["say"], folder, LoopLimits())
    talk.llm = ScriptedLlm(_times(200, "act"), "Done.")
    talk.agent.loop.models.llm = talk.llm

    end = check(talk, await play(talk))

    assert len([message for message in end.messages if isinstance(message, ToolResultMessage)]) == 200
    assert sum(talk.ran.values()) == 10


async def test_of_ten_thousand_updates_that_nobody_had_time_to_read_the_newest_arrives() -> None:  # S4-22
    @tool()
    async def chatty(context: ToolContext) -> str:
        """Shows every step."""
        for number in range(10_000):
            context.on_update(ToolResult.of(f"{number}", CLEAN))
            if number == 4_999:
                await asyncio.sleep(0)
        return "done"

    agent = agent_over(ScriptedLlm(calls(("chatty", {})), "Done."), FakeClock(), tools=[chatty])
    events = await record(agent.stream("go"))

    kinds = [event.type for event in events if event.type.startswith("tool_execution")]
    assert kinds == ["tool_execution_start", *["tool_execution_update"] * 2, "tool_execution_end"]
    shown = [text_of(event.partial.content) for event in events if isinstance(event, ToolExecutionUpdate)]
    assert shown == ["4999", "9999"]
