"""When the output limit cuts an answer off, the model continues it and users see one answer."""

from pathlib import Path

import pytest

from agent_core.agent import Agent
from agent_core.context.context import ContextManager
from agent_core.events import TurnStart
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.answer import GOES_ON, joined
from agent_core.loop.calls import ToolSetup
from agent_core.loop.decision import GO_ON
from agent_core.loop.limits import LoopLimits
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    NotificationMessage,
    StopReason,
    TextContent,
    ToolCall,
)
from agent_core.models.llm import FailureKind, LlmRequest
from agent_core.models.scripted import Call, CutOff, Failure, Thinks, Turn
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason, TransitionReason
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.tool import ToolEnvironment
from tests.agent_core.kit import StartAgent, answers, echo, end_of, kinds, people, record
from tests.agent_core.models.raw_models import anthropic, tables
from tests.emulators.model_script import Json
from tests.messages import user


async def test_the_model_is_asked_to_go_on_where_it_stopped(starts: StartAgent) -> None:  # S3-22
    talk = starts(CutOff("It goes on and o"), "n and on.")

    events = await talk.says("tell me all")

    assert [event.reason for event in events if isinstance(event, TurnStart)] == [
        TransitionReason.START,
        TransitionReason.MAX_OUTPUT_RECOVERY,
    ]
    assert talk.heard == [
        "user: tell me all",
        "assistant: It goes on and o",
        f"user: <notification>\n{GO_ON}\n</notification>",
    ]
    assert end_of(events).reason is TerminalReason.COMPLETED
    assert talk.agent.state.max_output_recovery_count == 1


@pytest.mark.parametrize("fails", [[Failure(FailureKind.AUTH)], [Failure(after_words="n and")] * 4])
async def test_a_continuation_that_failed_leaves_nothing_that_the_next_turn_would_obey(
    starts: StartAgent, fails: list[Turn]
) -> None:
    # S3-22
    talk = starts(CutOff("It goes on and o"), *fails, "Fine.")
    await talk.says("tell me all")

    await talk.says("how are you?")

    assert talk.heard == ["user: tell me all", "assistant: It goes on and o", "user: how are you?"]


@pytest.mark.parametrize("cut", ["It goes on and o", "It goes on and on", "第一"])
async def test_people_read_both_parts_without_a_seam(starts: StartAgent, cut: str) -> None:  # S3-22, S2-02, S2-07
    assert await starts(CutOff(cut), " the rest").agent.run_direct("go") == f"{cut} the rest"
    pieces = [piece async for piece in starts(CutOff(cut), " the rest").agent.stream_text("go")]
    assert "".join(pieces) == f"{cut} the rest"


async def test_it_is_gone_on_with_once_and_no_more(starts: StartAgent) -> None:  # S3-22
    talk = starts(CutOff("one "), CutOff("two "), "never")

    events = await talk.says("go")

    assert len(talk.llm.requests) == 2
    assert end_of(events).reason is TerminalReason.COMPLETED
    last = talk.agent.state.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.stop_reason is StopReason.LENGTH


@pytest.mark.parametrize("most", [0, 1, 3])
async def test_how_often_is_a_limit_of_the_loop(starts: StartAgent, most: int) -> None:  # S3-22
    talk = starts(*[CutOff("on ")] * 9, limits=LoopLimits(max_output_recoveries=most))

    assert await talk.agent.run_direct("go") == "on " * (most + 1)
    assert len(talk.llm.requests) == most + 1


async def test_a_resumed_run_does_not_go_on_for_ever_either(starts: StartAgent) -> None:  # S3-22, S3-20
    talk = starts(CutOff("one "), CutOff("two "), "never")
    await talk.says("go")

    assert kinds(await record(talk.agent.resume())) == ["agent_start", "agent_end completed"]


async def test_a_run_that_stopped_after_the_cut_goes_on_with_it(starts: StartAgent) -> None:  # S3-22, S3-20
    talk = starts("n and on.")
    cut = AssistantMessage(content=(TextContent(text="On and o"),), stop_reason=StopReason.LENGTH, origin=CLEAN)
    talk.agent.replace_messages([user("go"), cut])

    events = await record(talk.agent.resume())

    assert kinds(events)[1:4] == ["turn_start max_output_recovery", "+notification", "-notification"]
    assert answers(events) == ["n and on."]


@pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")
async def test_a_model_that_paused_gets_its_answer_back_and_goes_on() -> None:
    one: Json = {"type": "text", "text": "One, "}
    two: Json = {"type": "text", "text": "two."}
    async with tables() as opens:
        chat = await opens.litellm("anthropic/claude-test", anthropic(one, finish="pause_turn"), anthropic(two))
        context = ContextManager(ToolRegistry())
        loop = AgentLoop(Models(chat.client, chat.model), context, ToolSetup(ToolRegistry()))
        agent = Agent(loop, context, ToolEnvironment("chat", Path("/dev/null/no-such-workspace")))

        assert await agent.run_direct("Count.") == "One, two."
        (sent,) = chat.server.answers_of(1)
        messages = chat.server.bodies[1]["messages"]

    assert isinstance(messages, list)
    assert messages[-1] == sent == {"role": "assistant", "content": [{"type": "text", "text": "One,"}]}


async def test_a_run_that_stopped_at_a_pause_goes_on_with_it(starts: StartAgent) -> None:  # S3-20
    talk = starts("two.")
    paused = AssistantMessage(content=(TextContent(text="One, "),), stop_reason=StopReason.PAUSE, origin=CLEAN)
    talk.agent.replace_messages([user("Count."), paused])

    events = await record(talk.agent.resume())

    assert kinds(events)[1] == "turn_start pause"
    (whole,) = joined([paused, *end_of(events).messages])
    assert isinstance(whole, AssistantMessage)
    assert whole.text == "One, two."


async def test_what_the_person_says_meanwhile_comes_first(starts: StartAgent) -> None:  # S3-22, C-01
    def cut(_: LlmRequest) -> Turn:
        talk.agent.steer("shorter please")
        return CutOff("A long story beg")

    talk = starts(cut, "In short: no.")

    events = await talk.says("go")

    assert people(events) == ["go", "shorter please"]
    assert await talk.agent.run_direct("") != ""
    assert answers(events) == ["A long story beg", "In short: no."]


async def test_an_answer_cut_off_in_the_last_turn_is_the_answer(starts: StartAgent) -> None:  # S3-22, C-06
    talk = starts(CutOff("one"), "never", limits=LoopLimits(max_turns=1))

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.COMPLETED
    assert len(talk.llm.requests) == 1


async def test_thinking_that_took_all_the_room_is_gone_on_with_too(starts: StartAgent) -> None:  # S3-22
    talk = starts(Thinks("hm hm hm", CutOff()), "Four.")

    assert answers(await talk.says("2 + 2?")) == ["", "Four."]


async def test_an_answer_cut_off_before_its_first_word_is_an_overflow(starts: StartAgent) -> None:  # U-10
    talk = starts(CutOff(""), "never")

    events = await talk.says("go")

    assert end_of(events).failure is FailureKind.OVERFLOW
    assert kinds(events)[-3:] == ["-assistant", "turn_end 0", "agent_end error"]


async def test_calls_of_a_cut_answer_are_told_so_and_nothing_else_is_asked(starts: StartAgent) -> None:  # U-06, C-27
    talk = starts(CutOff("", (Call("echo"),)), "Again.", tools=[echo])

    events = await talk.says("go")

    assert [event.reason.value for event in events if isinstance(event, TurnStart)] == ["start", "tool_round"]


CUT = AssistantMessage(content=(TextContent(text="a"),), stop_reason=StopReason.LENGTH, origin=CLEAN)
REST = AssistantMessage(content=(TextContent(text="b"),), stop_reason=StopReason.STOP, origin=CLEAN)
ASKS = NotificationMessage(kind=GOES_ON, text="", to_model=True, origin=CLEAN)
FAILED = AssistantMessage(content=(TextContent(text="x"),), stop_reason=StopReason.ERROR, origin=CLEAN)
STOPPED = AssistantMessage(content=(TextContent(text="b"),), stop_reason=StopReason.ABORTED, origin=CLEAN)
CALLS = AssistantMessage(
    content=(ToolCall(id="1", name="echo", arguments={}),), stop_reason=StopReason.TOOL_USE, origin=CLEAN
)
LIMIT = NotificationMessage(kind="max_turns", text="limit", origin=CLEAN)


@pytest.mark.parametrize(
    ("messages", "seen"),
    [
        ([CUT, ASKS, REST], ["ab"]),
        ([CUT, ASKS, FAILED, REST], ["x", "ab"]),
        ([CUT, REST], ["a", "b"]),
        ([CUT, ASKS, STOPPED], ["a", "b"]),
        ([CUT, ASKS, CALLS], ["a", ""]),
        ([CUT, ASKS], ["a"]),
        ([CUT, ASKS, CUT, ASKS, REST], ["aab"]),
        ([CUT, LIMIT], ["a", "limit"]),
        ([CUT, ASKS, CUT, LIMIT], ["aa", "limit"]),
        ([], []),
    ],
)
def test_only_parts_of_one_answer_are_joined(messages: list[AgentMessage], seen: list[str]) -> None:  # S3-22
    told = [
        message.text
        for message in joined(messages)
        if isinstance(message, AssistantMessage) or (isinstance(message, NotificationMessage) and not message.to_model)
    ]

    assert told == seen


async def test_a_failed_attempt_between_the_parts_leaves_no_trace(starts: StartAgent) -> None:  # S3-22, C-05
    talk = starts(CutOff("one "), Failure(after_words="tw"), "two")

    assert await talk.agent.run_direct("go") == "one two"
