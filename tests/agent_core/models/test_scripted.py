"""The scripted model streams its script, records its requests, and never raises."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.messages import StopReason, ThinkingContent
from agent_core.models.llm import (
    FailureKind,
    LlmOptions,
    LlmRequest,
    StreamDone,
    StreamEvent,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agent_core.models.scripted import (
    SCRIPTED_MODEL,
    Call,
    Calls,
    CutOff,
    Failure,
    ScriptedLlm,
    Thinks,
    Turn,
    Waits,
    calls,
    words,
)
from tests.messages import user


def request(text: str = "hello") -> LlmRequest:
    return LlmRequest(system="You are a test.", messages=(user(text),))


async def ask(llm: ScriptedLlm, text: str = "hello") -> list[StreamEvent]:
    return [event async for event in llm.stream(SCRIPTED_MODEL, request(text), LlmOptions())]


def end_of(events: list[StreamEvent]) -> StreamDone:
    last = events[-1]
    assert isinstance(last, StreamDone)
    assert sum(isinstance(event, StreamDone) for event in events) == 1
    return last


async def test_a_text_streams_word_by_word() -> None:
    events = await ask(ScriptedLlm("It is  sunny\nin Oslo."))

    assert isinstance(events[0], StreamStart)
    assert [event.delta for event in events if isinstance(event, TextDelta)] == [
        "It",
        " is",
        "  sunny",
        "\nin",
        " Oslo.",
    ]
    assert end_of(events).message.text == "It is  sunny\nin Oslo."
    assert end_of(events).message.stop_reason is StopReason.STOP


async def test_calls_stream_their_arguments_after_the_words() -> None:
    events = await ask(ScriptedLlm(calls(("clock", {"zone": "UTC"}), ("list_dir", {}), text="One moment.")))

    message = end_of(events).message
    assert message.text == "One moment."
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == [
        ("call_1", "clock", {"zone": "UTC"}),
        ("call_2", "list_dir", {}),
    ]
    assert message.stop_reason is StopReason.TOOL_USE
    first = [event for event in events if isinstance(event, ToolCallDelta) and event.index == 1]
    assert (first[0].id, first[0].name) == ("call_1", "clock")
    assert "".join(event.delta for event in first) == '{"zone": "UTC"}'


async def test_call_ids_can_be_handed_in() -> None:
    by_maker = await ask(ScriptedLlm(calls(("clock", {})), new_id=lambda: "made"))
    by_script = await ask(ScriptedLlm(Calls((Call("clock", {}, id="mine"),))))

    assert [end_of(events).message.tool_calls[0].id for events in (by_maker, by_script)] == ["made", "mine"]


@pytest.mark.parametrize("raw", ['{"path": "wel', "[1, 2]", "nonsense", "[" * 5000])
async def test_arguments_that_are_no_json_object_are_kept_as_an_error(raw: str) -> None:
    events = await ask(ScriptedLlm(calls(("read_file", raw))))

    (call,) = end_of(events).message.tool_calls
    assert call.arguments == {}
    assert call.arguments_error
    assert raw[:200] in call.arguments_error
    assert len(call.arguments_error) <= 300


async def test_thinking_comes_before_the_answer_and_is_no_part_of_its_text() -> None:
    events = await ask(ScriptedLlm(Thinks("Hm, let me see.", then="Yes.")))

    message = end_of(events).message
    assert isinstance(message.content[0], ThinkingContent)
    assert message.content[0].thinking == "Hm, let me see."
    assert message.text == "Yes."
    assert [type(event) for event in events[1:-1]] == [ThinkingDelta] * 4 + [TextDelta]


async def test_a_failure_at_once_says_nothing_but_why() -> None:
    events = await ask(ScriptedLlm(Failure(FailureKind.QUOTA, "no money left", retry_after_s=30)))

    done = end_of(events)
    assert len(events) == 1
    assert done.failure
    assert (done.failure.kind, done.failure.message, done.failure.retry_after_s) == ("quota", "no money left", 30)
    assert done.message.stop_reason is StopReason.ERROR
    assert done.message.error_message == "no money left"


async def test_a_failure_in_mid_stream_keeps_the_words_that_arrived() -> None:
    done = end_of(await ask(ScriptedLlm(Failure(after_words="The answer is"))))

    assert done.failure
    assert done.message.text == "The answer is"
    assert done.message.stop_reason is StopReason.ERROR


async def test_an_empty_answer_is_an_answer() -> None:
    done = end_of(await ask(ScriptedLlm("")))

    assert done.message.content == ()
    assert done.failure is None


async def test_the_token_limit_ends_an_answer() -> None:
    done = end_of(await ask(ScriptedLlm(CutOff("Once upon", (Call("clock"),)))))

    assert done.message.stop_reason is StopReason.LENGTH
    assert [call.name for call in done.message.tool_calls] == ["clock"]


async def test_a_stall_waits_for_the_test_to_act() -> None:
    turn = Waits(asyncio.Event(), words="First", then=" second.")
    answer = asyncio.create_task(ask(ScriptedLlm(turn)))

    await turn.reached.wait()
    assert not answer.done()
    turn.event.set()

    assert end_of(await answer).message.text == "First second."


async def test_closing_a_stalled_stream_ends_it() -> None:
    turn = Waits(asyncio.Event(), words="First")
    async with aclosing(ScriptedLlm(turn).stream(SCRIPTED_MODEL, request(), LlmOptions())) as stream:
        async for event in stream:
            if isinstance(event, TextDelta):
                break

    assert not turn.reached.is_set()


async def test_a_turn_can_depend_on_the_request() -> None:
    def echo(asked: LlmRequest) -> Turn:
        return f"You have said {len(asked.messages)} thing."

    assert end_of(await ask(ScriptedLlm(echo))).message.text == "You have said 1 thing."


async def test_every_request_is_kept() -> None:
    llm = ScriptedLlm("one", "two")
    await ask(llm, "first")
    await ask(llm, "second")

    assert [str(asked.messages[0].content) for asked in llm.requests] == [
        "(TextContent(type='text', text='first'),)",
        "(TextContent(type='text', text='second'),)",
    ]
    assert llm.turns_left == 0


async def test_running_out_of_turns_fails_for_good_and_says_so() -> None:
    llm = ScriptedLlm("only one")
    await ask(llm)

    done = end_of(await ask(llm))
    assert done.failure
    assert done.failure.kind is FailureKind.FATAL
    assert done.failure.message == "the script has 1 turns, and this is request 2"


async def test_turns_can_be_added_later() -> None:
    llm = ScriptedLlm()
    llm.add("late")

    assert end_of(await ask(llm)).message.text == "late"


async def test_the_same_script_gives_the_same_stream() -> None:
    script = (Thinks("Hm.", calls(("clock", {}), text="One moment.")), "Noon.")
    first, second = ScriptedLlm(*script), ScriptedLlm(*script)
    for _ in script:
        one, other = await ask(first), await ask(second)
        assert one[:-1] == other[:-1]
        assert end_of(one).message.content == end_of(other).message.content


@given(st.text())
def test_words_lose_nothing(text: str) -> None:
    assert "".join(words(text)) == text


def test_wide_characters_stream_in_small_pieces() -> None:
    assert list(words("现在几点了 ok")) == ["现在", "几点", "了", " ok"]
