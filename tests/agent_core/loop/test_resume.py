"""Tests for resuming a conversation after a crash or on purpose."""

import pytest

from agent_core.loop.agent_loop import CannotContinue
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    NotificationMessage,
    StopReason,
    TextContent,
    ToolCall,
    ToolResultMessage,
)
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from agent_core.tools.tool import tool
from tests.agent_core.kit import StartAgent, answers, echo, end_of, kinds, look, people, record, results
from tests.messages import user

NOTING = 27
"""Events of a run that calls two tools and answers."""


def answer(*content: TextContent | ToolCall, stop: StopReason = StopReason.STOP) -> AssistantMessage:
    return AssistantMessage(content=content, stop_reason=stop, origin=CLEAN)


def call(name: str, number: int, text: str = "x") -> ToolCall:
    return ToolCall(id=f"old_{number}", name=name, arguments={"text": text})


def result(number: int) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=f"old_{number}", tool_name="look", content=(TextContent(text="before"),), origin=CLEAN
    )


SAID = TextContent(text="Done.")


async def test_a_question_without_an_answer_is_answered_and_not_asked_again(
    starts: StartAgent,
) -> None:  # S4-13, S4-14, S3-20
    talk = starts("Here I am.")
    talk.agent.replace_messages([user("are you there?")])

    events = await record(talk.agent.resume())

    assert kinds(events) == [
        "agent_start",
        "turn_start resume",
        "+assistant",
        "~",
        "-assistant",
        "turn_end 0",
        "agent_end completed",
    ]
    assert [message.role for message in end_of(events).messages] == ["assistant"]


async def test_open_calls_are_answered_first_and_only_harmless_ones_are_run(starts: StartAgent) -> None:  # S3-13, C-04
    talk = starts("Seen.", tools=[look, echo])
    talk.agent.replace_messages([user("go"), answer(call("look", 1), call("echo", 2), call("look", 3)), result(1)])

    events = await record(talk.agent.resume())

    assert results(events)[0].startswith("Error: the program stopped while this ran, so its outcome is unknown.")
    assert results(events)[1] == "saw x"
    assert kinds(events)[:3] == ["agent_start", "turn_start resume", ">echo"]
    assert [line.partition(":")[0] for line in talk.heard] == ["user", "assistant", *["tool_result"] * 3]
    assert talk.heard[2] == "tool_result: before"


async def test_a_finished_conversation_ends_at_once(starts: StartAgent) -> None:  # S4-13
    talk = starts("never said")
    talk.agent.replace_messages([user("go"), answer(SAID), CustomMessage(kind="seen", data={})])

    events = await record(talk.agent.resume())

    assert kinds(events) == ["agent_start", "agent_end completed"]
    assert talk.llm.requests == []


async def test_the_calls_of_a_failed_answer_are_not_run_and_the_model_is_asked_again(
    starts: StartAgent,
) -> None:  # S3-13, C-05
    talk = starts("Again.", tools=[look])
    talk.agent.replace_messages([user("go"), answer(call("look", 1), stop=StopReason.ERROR)])

    events = await record(talk.agent.resume())

    assert results(events) == []
    assert talk.heard == ["user: go"]


@pytest.mark.parametrize(
    "new",
    [
        user("are you there?", origin=CLEAN),
        NotificationMessage(kind="task", text="It is done.", to_model=True, origin=CLEAN),
    ],
)
async def test_the_calls_of_a_run_that_was_given_up_are_not_run(starts: StartAgent, new: AgentMessage) -> None:
    """The calls may have ended the run, and would end every run after it."""
    talk = starts("Here I am.", tools=[look])
    talk.agent.replace_messages([user("go"), answer(call("look", 1)), new])

    events = await record(talk.agent.resume())

    assert results(events) == []
    assert end_of(events).reason is TerminalReason.COMPLETED
    assert talk.heard[2] == "tool_result: No result provided"


async def test_an_answer_that_the_person_stopped_stays_stopped(starts: StartAgent) -> None:  # C-15, C-16
    talk = starts("never said", tools=[look])
    talk.agent.replace_messages([user("go"), answer(SAID, call("look", 1), stop=StopReason.ABORTED)])

    events = await record(talk.agent.resume())

    assert kinds(events) == ["agent_start", "agent_end aborted"]
    assert talk.llm.requests == []


async def test_an_empty_conversation_cannot_go_on(starts: StartAgent) -> None:  # S4-13, S4-35
    talk = starts("never said")

    with pytest.raises(CannotContinue, match="Cannot continue: no messages in context"):
        await record(talk.agent.resume())
    with pytest.raises(CannotContinue, match="Cannot continue: no messages in context"):
        await talk.agent.continue_()
    assert not talk.agent.is_running


async def test_what_waits_is_heard_in_the_first_turn_after_a_resume(starts: StartAgent) -> None:  # S4-07, S4-35
    talk = starts("Both.", tools=[look])
    talk.agent.replace_messages([user("go"), answer(call("look", 1))])
    talk.agent.steer("wait")

    events = await record(talk.agent.resume())

    assert results(events) == ["Skipped due to queued user message."]
    assert people(events) == ["wait"]
    assert len(talk.llm.requests) == 1


async def test_continue_after_an_answer_takes_one_steering_message_then_one_follow_up(
    starts: StartAgent,
) -> None:  # S4-35
    talk = starts("one", "two", "three")
    talk.agent.replace_messages([user("go"), answer(SAID)])
    talk.agent.follow_up("later")
    talk.agent.steer("now")
    talk.agent.steer("and now")

    end = await talk.agent.continue_()

    assert [message.role for message in end.messages] == ["user", "assistant"] * 3
    assert talk.heard[2:] == ["user: now", "assistant: one", "user: and now", "assistant: two", "user: later"]


async def test_continue_after_an_answer_with_nothing_waiting_is_an_error(starts: StartAgent) -> None:  # S4-35
    talk = starts("never said")
    talk.agent.replace_messages([user("go"), answer(SAID), CustomMessage(kind="seen", data={})])

    with pytest.raises(CannotContinue, match="Cannot continue from message role: assistant"):
        await talk.agent.continue_()


@pytest.mark.parametrize("tail", [[user("go")], [user("go"), answer(call("look", 1)), result(1)]])
async def test_continue_otherwise_asks_the_model_again(
    starts: StartAgent, tail: list[AgentMessage]
) -> None:  # S4-13, S4-35
    talk = starts("Going on.", tools=[look])
    talk.agent.replace_messages(tail)

    end = await talk.agent.continue_()

    assert [message.role for message in end.messages] == ["assistant"]


@pytest.mark.parametrize("at", range(1, NOTING + 2))
async def test_a_run_that_stops_after_any_event_is_finished_by_a_resume(
    starts: StartAgent, at: int
) -> None:  # S3-20, S0-14
    ran: list[str] = []

    @tool(idempotent=True)
    async def note(text: str) -> str:
        """Write it down."""
        ran.append(text)
        return "noted"

    batch = calls(("note", {"text": "a"}), ("note", {"text": "b"}))
    talk = starts(batch, "Noted.", tools=[note])
    events = talk.agent.stream("note both")
    async for event in events:
        if event.seq == at:
            break
    else:
        assert event.seq == NOTING, "another number of events has to be tried"
    await events.aclose()
    if not talk.agent.state.messages:
        return

    after = starts(*([batch] if not talk.agent.state.messages[1:] else []), "Noted.", tools=[note])
    after.agent.replace_messages(talk.agent.state.messages)
    rest = await record(after.agent.resume())

    assert end_of(rest).reason is TerminalReason.COMPLETED
    roles = [message.role for message in after.agent.state.messages]
    assert roles == ["user", "assistant", "tool_result", "tool_result", "assistant"]
    assert set(ran) == {"a", "b"}
    assert (answers(rest) or ["Noted."])[-1] == "Noted."
