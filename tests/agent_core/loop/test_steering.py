"""Messages during a run: steering changes its course, a follow-up waits for its end."""

from collections.abc import Callable

import pytest

from agent_core.events import AgentEvent, MessageEnd, MessageUpdate, ToolExecutionEnd, ToolExecutionStart, TurnEnd
from agent_core.loop.queues import MessageQueues
from agent_core.messages import AssistantMessage, UserMessage, text_of
from agent_core.models.scripted import Failure, calls
from agent_core.reasons import TransitionReason
from tests.agent_core.kit import StartAgent, Talk, answers, echo, end_of, kinds, look, people, results

SKIPPED = "Skipped due to queued user message."


def when(talk: Talk, moment: Callable[[AgentEvent], bool], *words: str) -> None:
    """Steer with these words the first time that an event matches."""
    waiting = list(words)

    def listen(event: AgentEvent) -> None:
        if moment(event):
            while waiting:
                talk.agent.steer(waiting.pop(0))

    talk.agent.subscribe(listen)


async def test_steering_skips_the_calls_that_have_not_started_and_comes_in_the_next_turn(starts: StartAgent) -> None:
    # S4-47, S4-24, S4-16, C-01, C-02
    talk = starts(calls(("echo", {"text": "1"}), ("echo", {"text": "2"})), "Stopped.", tools=[echo])
    when(talk, lambda event: isinstance(event, ToolExecutionStart), "wait!")

    events = await talk.says("send both")

    assert kinds(events)[4:] == [
        "+assistant",
        "~",
        "-assistant",
        ">echo",
        "<echo",
        "+tool_result",
        "-tool_result",
        ">echo",
        "<echo",
        "+tool_result",
        "-tool_result",
        "turn_end 2",
        "turn_start steering",
        "+user",
        "-user",
        "+assistant",
        "~",
        "-assistant",
        "turn_end 0",
        "agent_end completed",
    ]
    assert results(events) == ["echo 1", SKIPPED]
    ends = [event for event in events if isinstance(event, ToolExecutionEnd)]
    assert [(end.attempts, end.is_error) for end in ends] == [(1, False), (0, True)]


async def test_calls_that_run_side_by_side_and_have_started_all_finish(starts: StartAgent) -> None:  # C-01, S4-47, U-01
    talk = starts(calls(("look", {"text": "1"}), ("look", {"text": "2"})), "ok", tools=[look])
    when(talk, lambda event: isinstance(event, ToolExecutionEnd), "wait!")

    assert results(await talk.says("go")) == ["saw 1", "saw 2"]


def said_by_agent(event: AgentEvent) -> bool:
    return isinstance(event, MessageEnd) and isinstance(event.message, AssistantMessage)


def heard_from_person(event: AgentEvent) -> bool:
    return isinstance(event, MessageEnd) and isinstance(event.message, UserMessage)


@pytest.mark.parametrize(
    ("moment", "outcome"),
    [
        (heard_from_person, [SKIPPED, SKIPPED]),
        (lambda event: isinstance(event, MessageUpdate), [SKIPPED, SKIPPED]),
        (said_by_agent, [SKIPPED, SKIPPED]),
        (lambda event: isinstance(event, ToolExecutionEnd), ["echo 1", SKIPPED]),
        (lambda event: isinstance(event, TurnEnd), ["echo 1", "echo 2"]),
    ],
)
async def test_steering_reaches_the_next_turn_from_any_moment(
    starts: StartAgent, moment: Callable[[AgentEvent], bool], outcome: list[str]
) -> None:  # S4-07, S4-29, C-33
    talk = starts(calls(("echo", {"text": "1"}), ("echo", {"text": "2"})), "ok", tools=[echo])
    when(talk, moment, "and now?")

    events = await talk.says("go")

    assert results(events) == outcome
    assert talk.heard[-1] == "user: and now?"
    assert len(talk.llm.requests) == 2


async def test_steering_during_the_final_answer_gives_another_turn(starts: StartAgent) -> None:  # S4-07, S4-15
    talk = starts("First.", "Second.")
    when(talk, said_by_agent, "one more thing")

    events = await talk.says("hello")

    assert answers(events) == ["First.", "Second."]
    assert end_of(events).messages[-1] == talk.agent.state.messages[-1]


async def test_what_waited_before_the_run_comes_right_after_the_prompt(starts: StartAgent) -> None:  # S4-07
    talk = starts("Both.")
    talk.agent.steer("by the way")

    events = await talk.says("hello")

    assert people(events) == ["hello", "by the way"]
    assert len(talk.llm.requests) == 1


async def test_two_steering_messages_take_two_turns_by_default(starts: StartAgent) -> None:  # S4-29
    talk = starts("a", "b", "c")
    when(talk, said_by_agent, "one", "two")

    events = await talk.says("hello")

    assert kinds(events).count("turn_start steering") == 2
    assert people(events) == ["hello", "one", "two"]


async def test_in_mode_all_they_come_together(starts: StartAgent) -> None:  # S4-31, D-11
    talk = starts("a", "b", queues=MessageQueues(steering_mode="all"))
    when(talk, said_by_agent, "one", "two")

    events = await talk.says("hello")

    assert kinds(events).count("turn_start steering") == 1
    assert talk.heard[-2:] == ["user: one", "user: two"]


async def test_a_follow_up_comes_only_when_the_agent_would_stop(starts: StartAgent) -> None:  # S4-08, S4-30
    talk = starts(calls(("echo", {})), "Done.", "That too.", tools=[echo])
    talk.agent.follow_up("and then?")

    events = await talk.says("go")

    assert people(events) == ["go", "and then?"]
    assert answers(events) == ["", "Done.", "That too."]
    assert "turn_start follow_up" in kinds(events)


async def test_steering_comes_before_follow_ups(starts: StartAgent) -> None:  # S4-30
    talk = starts("a", "b", "c", "d")
    talk.agent.follow_up("later 1")
    talk.agent.follow_up("later 2")
    when(talk, said_by_agent, "now")

    assert people(await talk.says("hello")) == ["hello", "now", "later 1", "later 2"]


async def test_follow_ups_in_mode_all_come_together(starts: StartAgent) -> None:  # S4-31
    talk = starts("a", "b", queues=MessageQueues(follow_up_mode="all"))
    talk.agent.follow_up("one")
    talk.agent.follow_up("two")

    assert people(await talk.says("hello")) == ["hello", "one", "two"]
    assert len(talk.llm.requests) == 2


async def test_what_waits_stays_when_the_model_fails_and_continue_takes_it(starts: StartAgent) -> None:  # S4-17, C-19
    talk = starts("fails next", Failure(message="down", retry_after_s=900), "Here.", "There.")
    talk.agent.follow_up("first")
    talk.agent.follow_up("second")
    await talk.says("hello")

    assert talk.agent.has_queued_messages
    end = await talk.agent.continue_()

    assert text_of(end.messages[0].content if isinstance(end.messages[0], UserMessage) else ()) == "second"
    assert talk.heard == ["user: hello", "assistant: fails next", "user: first", "user: second"]


async def test_queues_can_be_looked_into_and_cleared(starts: StartAgent) -> None:  # S4-32
    talk = starts()
    talk.agent.steer("a")
    talk.agent.follow_up("b")
    assert [text_of(item.content) for item in talk.agent.state.steering if isinstance(item, UserMessage)] == ["a"]

    talk.agent.clear_steering()
    assert talk.agent.has_queued_messages
    talk.agent.clear_follow_up()
    assert not talk.agent.has_queued_messages

    talk.agent.steer("a")
    talk.agent.follow_up("b")
    talk.agent.clear_queues()
    assert talk.agent.queues.peek() == ([], [])


async def test_the_reason_of_each_turn_is_told(starts: StartAgent) -> None:  # S3-10
    talk = starts(calls(("echo", {})), "a", "b", "c", tools=[echo])
    talk.agent.follow_up("later")
    when(talk, lambda event: said_by_agent(event) and talk.llm.turns_left == 2, "now")

    events = await talk.says("go")

    reasons = [event.reason for event in events if event.type == "turn_start"]
    assert reasons == [
        TransitionReason.START,
        TransitionReason.TOOL_ROUND,
        TransitionReason.STEERING,
        TransitionReason.FOLLOW_UP,
    ]
