"""Tests for the order of events in a run, and for the ways it ends."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.events import AgentStart, MessageEnd, MessageStart, TurnStart
from agent_core.messages import AssistantMessage
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Call, Calls, Failure, Thinks, Turn, calls
from agent_core.reasons import LoopState, TerminalReason
from tests.agent_core.kit import StartAgent, answers, broken, echo, end_of, kinds, look, people, results, start_agent
from tests.examples import examples
from tests.messages import user


async def test_a_plain_answer_has_this_order_of_events(starts: StartAgent) -> None:  # S4-45, S4-11, S4-12, S4-15, S0-01
    talk = starts("Good morning to you")

    events = await talk.says("hello")

    assert kinds(events) == [
        "agent_start",
        "turn_start start",
        "+user",
        "-user",
        "+assistant",
        "~",
        "-assistant",
        "turn_end 0",
        "agent_end completed",
    ]


async def test_a_tool_round_has_this_order_of_events(starts: StartAgent) -> None:  # S4-46, S4-20, S0-14, S2-01, S2-21
    talk = starts(calls(("echo", {"text": "hi"})), "It said hi.", tools=[echo])

    events = await talk.says("use it")

    assert kinds(events)[4:] == [
        "+assistant",
        "~",
        "-assistant",
        ">echo",
        "<echo",
        "+tool_result",
        "-tool_result",
        "turn_end 1",
        "turn_start tool_round",
        "+assistant",
        "~",
        "-assistant",
        "turn_end 0",
        "agent_end completed",
    ]


async def test_parallel_calls_all_start_before_one_ends_and_answer_in_their_order(
    starts: StartAgent,
) -> None:  # S4-46, C-03, S3-12
    talk = starts(calls(("look", {"text": "a"}), ("look", {"text": "b"})), "Seen.", tools=[look])

    events = await talk.says("look twice")

    assert kinds(events)[6:14] == [
        "-assistant",
        ">look",
        ">look",
        "<look",
        "<look",
        "+tool_result",
        "-tool_result",
        "+tool_result",
    ]
    assert results(events) == ["saw a", "saw b"]


async def test_the_result_of_one_turn_is_what_the_next_turn_sees(
    starts: StartAgent,
) -> None:  # S3-01, S3-02, S3-13, S3-21, S0-11
    talk = starts(calls(("echo", {"text": "1"})), calls(("echo", {"text": "2"})), "Done.", tools=[echo])

    events = await talk.says("count")

    assert [len(request.messages) for request in talk.llm.requests] == [1, 3, 5]
    assert talk.heard[-1] == "tool_result: echo 2"
    assert [event.turn for event in events if isinstance(event, TurnStart)] == [1, 2, 3]


async def test_the_run_ends_with_one_end_that_has_the_new_messages_only(
    starts: StartAgent,
) -> None:  # S4-14, S3-07, S3-11
    talk = starts("One.", "Two.")
    await talk.says("first")

    events = await talk.says("second")

    end = end_of(events)
    assert [message.role for message in end.messages] == ["user", "assistant"]
    assert [event.type for event in events].count("agent_end") == 1
    assert end.reason is TerminalReason.COMPLETED


async def test_every_event_is_numbered_and_names_its_run(starts: StartAgent) -> None:  # S3-05, S3-20
    talk = starts("Yes.")

    events = await talk.says("?")

    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len({event.run_id for event in events}) == 1
    assert events[0].run_id


async def test_several_prompts_each_start_and_end_after_the_first_turn_start(
    starts: StartAgent,
) -> None:  # S4-12, S4-33
    talk = starts("Both.")

    events = [event async for event in talk.agent.stream([user("one"), user("two")])]

    assert isinstance(events[0], AgentStart)
    assert kinds(events)[1:6] == ["turn_start start", "+user", "-user", "+user", "-user"]
    assert people(events) == ["one", "two"]


async def test_an_empty_answer_without_calls_completes_the_run(starts: StartAgent) -> None:  # S0-01, S0-13, S0-18
    talk = starts("")

    events = await talk.says("anything?")

    assert end_of(events).reason is TerminalReason.COMPLETED
    assert kinds(events)[-5:] == ["-user", "+assistant", "-assistant", "turn_end 0", "agent_end completed"]


async def test_what_decides_is_whether_tools_are_called_and_not_the_stop_reason(starts: StartAgent) -> None:  # S0-13
    talk = starts(Calls((Call("echo"),), text="Let me see."), "Seen.", tools=[echo])

    events = await talk.says("go")

    assert answers(events) == ["Let me see.", "Seen."]


async def test_a_failed_tool_is_told_to_the_model_and_the_run_goes_on(
    starts: StartAgent,
) -> None:  # S4-23, S4-49, S2-27, S3-03
    talk = starts(calls(("broken", {})), "I found another way.", tools=[broken])

    events = await talk.says("try")

    assert results(events)[0].startswith("Error: it is broken. Next:")
    assert end_of(events).reason is TerminalReason.COMPLETED


async def test_a_failed_model_ends_the_run_with_its_reason_and_nothing_breaks(
    starts: StartAgent,
) -> None:  # S0-20, S2-33, S4-17
    talk = starts(Failure(FailureKind.AUTH, "the key is wrong"), "Better now.")

    events = await talk.says("hello")

    end = end_of(events)
    assert (end.reason, end.failure) == (TerminalReason.ERROR, FailureKind.AUTH)
    assert end.error
    assert kinds(events)[-4:] == ["+assistant", "-assistant", "turn_end 0", "agent_end error"]
    assert talk.agent.state.state is LoopState.ERROR
    assert talk.agent.error == end.error

    assert answers(await talk.says("again")) == ["Better now."]
    assert talk.agent.error is None
    assert talk.heard == ["user: hello", "user: again"]


async def test_thinking_is_kept_apart_from_the_answer(starts: StartAgent) -> None:  # S2-19, S2-20
    talk = starts(Thinks("hmm hmm", "Four."), Thinks("nothing to say"))

    first = await talk.says("2 + 2?")
    assert answers(first) == ["Four."]
    assert first[-3].type == "message_end"
    assert [piece async for piece in talk.agent.stream_text("and?")] == []
    kept = talk.agent.state.messages[-1]
    assert isinstance(kept, AssistantMessage)
    assert [part.type for part in kept.content] == ["thinking"]


async def test_the_conversation_goes_on_with_all_it_had_before(starts: StartAgent) -> None:  # S0-24, S0-25, C-28
    talk = starts(calls(("echo", {"text": "x"})), "Which city?", "Oslo it is.", tools=[echo])
    await talk.says("book a flight")

    await talk.says("Oslo")

    assert talk.heard == [
        "user: book a flight",
        "assistant: ",
        "tool_result: echo x",
        "assistant: Which city?",
        "user: Oslo",
    ]


async def test_states_and_counts_tell_where_a_run_stands(
    starts: StartAgent,
) -> None:  # S0-21, S0-22, S3-10, S3-19, S4-26
    talk = starts(calls(("echo", {})), "Done.", tools=[echo])
    assert talk.agent.state.state is LoopState.IDLE
    seen: list[tuple[LoopState, tuple[str, ...]]] = []
    talk.agent.subscribe(lambda _: seen.append((talk.agent.state.state, talk.agent.pending_tool_calls)))

    await talk.says("go")

    states = [state for index, (state, _) in enumerate(seen) if index == 0 or state is not seen[index - 1][0]]
    assert states == [LoopState.THINKING, LoopState.TOOL_CALLING, LoopState.THINKING, LoopState.COMPLETED]
    assert ("call_1",) in [pending for _, pending in seen]
    state = talk.agent.state
    assert (state.turn_count, state.tool_call_count) == (2, 1)
    assert state.usage.total > 0
    assert state.terminal_reason is TerminalReason.COMPLETED


@pytest.mark.parametrize("words", ["Hello", "  ", "漢字と\nhiragana", "a" * 3000])
async def test_the_deltas_of_an_answer_are_its_text(starts: StartAgent, words: str) -> None:  # S2-02, S4-18, C-17
    talk = starts(words)

    assert "".join([piece async for piece in talk.agent.stream_text("say it")]) == words


@given(st.lists(st.sampled_from(["say", "call", "batch", "unknown", "bad"]), max_size=6))
@settings(max_examples=examples(40))
async def test_any_script_gives_a_message_end_for_each_start(script: list[str]) -> None:  # S3-20
    turns: dict[str, Turn] = {
        "say": "words",
        "call": calls(("echo", {})),
        "batch": calls(("look", {}), ("look", {})),
        "unknown": calls(("nobody", {})),
        "bad": calls(("echo", '{"text":')),
    }
    talk = start_agent(*[turns[name] for name in script], "The end.", tools=[echo, look])

    events = await talk.says("go")

    started = [event.message.id for event in events if isinstance(event, MessageStart)]
    assert started == [event.message.id for event in events if isinstance(event, MessageEnd)]
