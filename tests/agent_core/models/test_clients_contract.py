"""The contract of every model client, whatever protocol it speaks (behaviour rows S2-03, S4-50)."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Literal

import pytest

from agent_core.messages import StopReason, ThinkingContent
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import (
    FailureCause,
    FailureKind,
    LlmClient,
    ModelInfo,
    StreamDone,
    StreamEvent,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agent_core.models.openai_client import OpenAiClient
from tests.agent_core.models.clients import (
    EVERY_CLIENT,
    HELLO,
    KEY,
    OPTIONS,
    OVER_A_WIRE,
    Meeting,
    Talk,
    light,
    litellm_anthropic,
    litellm_openai,
    model_info,
    scripted,
)
from tests.emulators.model_script import Break, Failure, Pause, ToolUse, Turn, calls, rate_limited, says

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

Broken = Literal["cut", "end", "garbage", "error"]
LONG = "The quick brown fox jumps over the lazy dog, again and again, until it is evening."


@pytest.fixture(params=list(EVERY_CLIENT.values()), ids=list(EVERY_CLIENT))
def meets(request: pytest.FixtureRequest) -> Meeting:
    meeting: Meeting = request.param
    return meeting


async def test_words_stream_between_one_start_and_one_end(meets: Meeting) -> None:  # S2-03, C-34
    heard = asyncio.Event()
    events: list[StreamEvent] = []
    async with meets([Turn(LONG, pause=Pause(4, heard))]) as talk:
        async for event in talk.client.stream(talk.model, HELLO, OPTIONS):
            events.append(event)
            if isinstance(event, TextDelta):
                heard.set()
    start, *deltas, done = events

    assert isinstance(start, StreamStart)
    assert isinstance(done, StreamDone)
    assert len(deltas) > 1
    assert "".join(delta.delta for delta in deltas if isinstance(delta, TextDelta)) == LONG
    assert done.failure is None
    assert (done.message.text, done.message.stop_reason) == (LONG, StopReason.STOP)
    assert done.message.model == talk.model.id


@pytest.mark.parametrize(
    "text", ["", "天气很好。", "👩‍👩‍👧 e\u0301 \u202eright to left", "\u200b", "a\n\n```py\n1\n```"]
)
async def test_any_text_arrives_as_it_was_said(meets: Meeting, text: str) -> None:
    async with meets([says(deltas=tuple(text))]) as talk:
        done = await talk.done()

    assert done.failure is None
    assert (done.message.text, done.message.stop_reason) == (text, StopReason.STOP)


async def test_a_tool_call_is_known_by_name_id_and_arguments(meets: Meeting) -> None:  # S0-15
    wanted = ToolUse("note", {"text": 'it\'s née "x"', "urgent": True, "at": None}, id="call_7")
    async with meets([calls(wanted, text="One moment.")]) as talk:
        events = await talk.events()

    done = events[-1]
    assert isinstance(done, StreamDone)
    assert done.message.stop_reason is StopReason.TOOL_USE
    (call,) = done.message.tool_calls
    assert (call.id, call.name, call.arguments, call.arguments_error) == ("call_7", "note", wanted.arguments, None)
    assert done.message.text == "One moment."
    deltas = [event for event in events if isinstance(event, ToolCallDelta)]
    assert (deltas[0].id, deltas[0].name) == ("call_7", "note")
    assert {delta.index for delta in deltas} == {done.message.content.index(call)}


async def test_several_calls_keep_their_order_and_get_ids_of_their_own(meets: Meeting) -> None:
    async with meets([calls(*(ToolUse("add", {"n": n}) for n in range(5)))]) as talk:
        done = await talk.done()

    assert [call.arguments for call in done.message.tool_calls] == [{"n": n} for n in range(5)]
    assert len({call.id for call in done.message.tool_calls}) == 5


async def test_a_call_without_arguments_has_none(meets: Meeting) -> None:
    async with meets([calls("clock")]) as talk:
        done = await talk.done()

    assert [(call.arguments, call.arguments_error) for call in done.message.tool_calls] == [({}, None)]


@pytest.mark.parametrize("meets", [litellm_anthropic, litellm_openai, light, scripted])  # Gemini sends objects
@pytest.mark.parametrize("raw", ['{"path": "wel', "[1, 2]", '"text"', "rm -rf", '{"a": 1}}'])
async def test_arguments_that_are_no_json_object_come_with_advice(meets: Meeting, raw: str) -> None:  # S2-30
    raw += "x" * 1000 if raw.startswith('{"path') else ""
    async with meets([calls(ToolUse("read_file", raw))]) as talk:
        done = await talk.done()

    (call,) = done.message.tool_calls
    assert call.arguments == {}
    assert call.arguments_error is not None
    assert raw[:50] in call.arguments_error
    assert "x" * 201 not in call.arguments_error
    assert done.message.stop_reason is StopReason.TOOL_USE


async def test_thinking_is_told_apart_from_the_answer(meets: Meeting) -> None:
    async with meets([says("Blue.", thinking="The sky has a colour. Which one?")]) as talk:
        events = await talk.events(options=OPTIONS.model_copy(update={"thinking": "low"}))

    done = events[-1]
    assert isinstance(done, StreamDone)
    thought = "".join(event.delta for event in events if isinstance(event, ThinkingDelta))
    assert thought == "The sky has a colour. Which one?"
    (thinking,) = [part for part in done.message.content if isinstance(part, ThinkingContent)]
    assert thinking.thinking == thought
    assert done.message.text == "Blue."


async def test_an_answer_at_the_output_limit_says_so(meets: Meeting) -> None:
    async with meets([replace(says(LONG), finish="length")]) as talk:
        done = await talk.done()

    assert done.failure is None
    assert (done.message.text, done.message.stop_reason) == (LONG, StopReason.LENGTH)


@pytest.mark.parametrize("kind", ["cut", "end", "garbage", "error"])
async def test_a_broken_stream_keeps_what_was_said_and_is_worth_another_try(meets: Meeting, kind: Broken) -> None:
    async with meets([says(LONG, breaks=Break(kind, 3)), says("Better.")]) as talk:
        done = await talk.done()
        again = await talk.done()

    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSIENT
    assert done.message.stop_reason is StopReason.ERROR
    assert done.message.error_message == done.failure.message
    assert LONG.startswith(done.message.text)
    assert again.message.text == "Better."


@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize("kind", ["cut", "end"])
async def test_half_a_tool_call_is_never_handed_on(meets: Meeting, kind: Broken, after: int) -> None:
    async with meets([calls(ToolUse("pay", {"amount": 100, "to": "Ann"}), breaks=Break(kind, after))]) as talk:
        done = await talk.done()

    assert done.failure is not None
    assert done.message.tool_calls == ()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (rate_limited(7), FailureKind.TRANSIENT),
        (Failure("server"), FailureKind.TRANSIENT),
        (Failure("overloaded"), FailureKind.TRANSIENT),
        (Failure("auth"), FailureKind.AUTH),
        (Failure("overflow"), FailureKind.OVERFLOW),
        (Failure("bad_request"), FailureKind.INVALID),
        (Failure("not_found"), FailureKind.INVALID),
    ],
    ids=lambda value: value.reason if isinstance(value, Failure) else "",
)
async def test_a_refused_request_ends_the_stream_with_its_kind(
    meets: Meeting, answer: Failure, kind: FailureKind
) -> None:  # C-25
    async with meets([answer]) as talk:
        done = await talk.done()

    assert done.failure is not None
    assert done.failure.kind is kind
    assert done.failure.retry_after_s == answer.retry_after
    assert done.message.stop_reason is StopReason.ERROR
    assert done.message.content == ()


async def test_two_chats_at_once_do_not_mix(meets: Meeting) -> None:
    async with meets([says(LONG), says(LONG), says(LONG)]) as talk:
        dones = await asyncio.gather(*(talk.done() for _ in range(3)))

    assert [done.message.text for done in dones] == [LONG] * 3


async def test_a_reader_may_leave_early(meets: Meeting) -> None:
    async with meets([says(LONG), says("Here again.")]) as talk:
        async with aclosing(talk.client.stream(talk.model, HELLO, OPTIONS)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        done = await talk.done()

    assert done.message.text == "Here again."


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (rate_limited(7), FailureCause.RATE_LIMIT),
        (Failure("server"), FailureCause.SERVER),
        (Failure("overloaded"), FailureCause.SERVER),
        (Failure("overloaded", message="upstream connect error: connection refused"), FailureCause.SERVER),
        (Failure("not_found"), FailureCause.NOT_FOUND),
        (Failure("bad_request", message="Blocked by our content policy"), FailureCause.CONTENT),
        (Failure("bad_request"), None),
        (Failure("auth"), None),
    ],
)
async def test_a_failure_says_what_people_are_told_of_it(answer: Failure, cause: FailureCause | None) -> None:  # S4-50
    for meeting in OVER_A_WIRE.values():
        async with meeting([answer]) as talk:
            events = await talk.events()

        assert [type(event) for event in events] == [StreamDone]
        done = events[-1]
        assert isinstance(done, StreamDone)
        assert done.failure is not None
        assert done.failure.cause is cause


@pytest.mark.parametrize(
    ("client", "model"),
    [
        (OpenAiClient("http://127.0.0.1:9/v1", KEY), model_info("test-model")),
        (LitellmClient(KEY, "http://127.0.0.1:9"), model_info("openai/test-model", "openai")),
        (LitellmClient(KEY, "http://127.0.0.1:9"), model_info("anthropic/claude-test", "anthropic")),
    ],
    ids=["light", "litellm-openai", "litellm-anthropic"],
)
async def test_a_server_that_is_not_there_is_a_failure_of_the_network(client: LlmClient, model: ModelInfo) -> None:
    done = await Talk(client, model).done()
    await client.close()

    assert done.failure is not None
    assert (done.failure.kind, done.failure.cause) == (FailureKind.TRANSIENT, FailureCause.NETWORK)
