"""Streams of servers that do not keep to the protocol: what is not needed cannot fail an answer."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from agent_core.clock import new_id
from agent_core.messages import AssistantMessage, StopReason
from agent_core.models.answer import Answer
from agent_core.models.chunks import Unreadable, read_chunk
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure, ModelInfo
from tests.agent_core.models.raw_models import anthropic, call, frame, openai, tables
from tests.any_json import anything, beside
from tests.emulators.model_script import Json

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

WORDS: list[Json] = [{"content": "It is "}, {"content": "noon."}]


each_client = pytest.mark.parametrize("client", ["own", "deepseek", "openai"])


async def answered(client: str, stream: bytes) -> tuple[AssistantMessage, LlmFailure | None]:
    async with tables() as opens:
        chat = await (opens.own(stream) if client == "own" else opens.litellm(f"{client}/m", stream))
        done = await chat.goes_on("What time is it?")
    return done.message, done.failure


@each_client
@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 12.5, "completion_tokens": "7"},
        {"prompt_tokens": {"text": 12}, "completion_tokens": [7]},
        {"prompt_tokens": 12, "completion_tokens": 7, "prompt_tokens_details": "none"},
        {"prompt_tokens": 12, "completion_tokens": 7, "prompt_tokens_details": [{"cached_tokens": 4}]},
        {"prompt_tokens": -1, "completion_tokens": 10**18},
        ["prompt_tokens", 12],
        "12",
        True,
    ],
    ids=str,
)
async def test_a_usage_of_any_shape_leaves_the_words_alone(client: str, usage: JsonValue) -> None:
    message, failure = await answered(client, openai(*WORDS, then=[{"choices": [], "usage": usage}]))

    assert failure is None
    assert message.text == "It is noon."


@each_client
async def test_a_fraction_of_a_token_counts_as_one(client: str) -> None:
    usage: Json = {"prompt_tokens": 12.5, "completion_tokens": "7"}
    message, _ = await answered(client, openai(*WORDS, then=[{"choices": [], "usage": usage}]))

    assert (message.usage.input, message.usage.output) == (13, 7)


COUNTS: dict[str, list[Json]] = {
    "one by one": [{"usage": {"prompt_tokens": 9}}, {"usage": {"completion_tokens": 3}}],
    "in Anthropic's names": [{"usage": {"input_tokens": 9, "output_tokens": 3}}],
    "in Groq's place": [{"x_groq": {"id": "r", "usage": {"prompt_tokens": 9, "completion_tokens": 3}}}],
    "before an empty one": [{"usage": {"prompt_tokens": 9, "completion_tokens": 3}}, {"usage": None}],
    "before zeros": [
        {"usage": {"prompt_tokens": 9, "completion_tokens": 3}},
        {"usage": {"prompt_tokens": 0, "completion_tokens": 0}},
    ],
}


@each_client
@pytest.mark.parametrize("name", COUNTS)
async def test_tokens_are_counted_wherever_and_however_they_are_told(client: str, name: str) -> None:
    told: list[Json] = [{"choices": [], **each} for each in COUNTS[name]]
    first, failure = await answered(client, b"".join(map(frame, told)) + openai(*WORDS))
    last, _ = await answered(client, openai(*WORDS, then=told))

    assert failure is None
    assert [(each.usage.input, each.usage.output) for each in (first, last)] == [(9, 3), (9, 3)]


@each_client
async def test_two_calls_with_one_id_get_each_its_own(client: str) -> None:
    calls: list[JsonValue] = [call(arguments='{"zone": "A"}'), call(arguments='{"zone": "B"}', index=1)]
    message, _ = await answered(client, openai({"tool_calls": calls}, finish="tool_calls"))

    assert [each.arguments for each in message.tool_calls] == [{"zone": "A"}, {"zone": "B"}]
    assert len({each.id for each in message.tool_calls}) == 2


@each_client
@pytest.mark.parametrize(
    "told",
    [{"finish_reason": "stop", "native_finish_reason": "refusal"}, {"finish_reason": "content_filter: SAFETY"}],
    ids=["OpenRouter", "Google"],
)
async def test_a_refusal_is_told_wherever_its_reason_stands(client: str, told: Json) -> None:
    ends: Json = {"choices": [{"index": 0, "delta": {"content": ""}, **told}]}
    _, failure = await answered(client, frame(ends) + b"data: [DONE]\n\n")

    assert failure is not None
    assert (failure.kind, failure.cause) == (FailureKind.INVALID, FailureCause.CONTENT)


@each_client
@pytest.mark.parametrize(
    "told",
    [
        {"cached_tokens": 8},
        {"cached_tokens": 8, "prompt_tokens_details": {"cached_tokens": 8}},
        {"prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 2},
    ],
    ids=["Moonshot", "both", "DeepSeek"],
)
async def test_what_came_from_the_cache_is_counted_wherever_it_is_told(client: str, told: Json) -> None:
    usage: Json = {"prompt_tokens": 10, "completion_tokens": 7, **told}
    message, _ = await answered(client, openai(*WORDS, then=[{"choices": [], "usage": usage}]))

    assert (message.usage.input, message.usage.cache_read, message.usage.output) == (2, 8, 7)


@each_client
@pytest.mark.parametrize(
    "odd",
    [
        {"reasoning": [{"type": "text", "text": "Hm."}]},
        {"reasoning_content": ["Hm.", None]},
        {"reasoning": {"text": "Hm.", "tokens": 3}},
        {"reasoning": 7, "reasoning_content": None},
        {"reasoning_details": "none", "audio": {"id": 3}, "refusal": False, "role": 5, "annotations": [[]]},
        {"tool_calls": None, "function_call": {"name": []}},
        {"tool_calls": []},
    ],
    ids=str,
)
async def test_a_field_beside_the_words_leaves_them_alone(client: str, odd: Json) -> None:
    message, failure = await answered(client, openai(odd, *WORDS))

    assert failure is None
    assert message.text == "It is noon."


async def test_reasoning_as_a_list_is_reasoning_and_goes_back_as_a_list() -> None:
    thought: list[JsonValue] = [{"type": "text", "text": "Hm."}]
    async with tables() as opens:
        chat = await opens.own(openai({"reasoning": thought}, *WORDS), openai(*WORDS))
        await chat.goes_on("What time is it?")
        await chat.goes_on("And now?")
        (sent,) = chat.server.answers_of(1)

    assert sent["reasoning"] == thought


@each_client
@pytest.mark.parametrize("identity", [7, 7.0, None, ""])
async def test_a_call_needs_no_id_and_may_have_a_number(client: str, identity: JsonValue) -> None:
    message, failure = await answered(client, openai({"tool_calls": [{**call(), "id": identity}]}, finish="tool_calls"))

    assert failure is None
    assert [(each.name, bool(each.id)) for each in message.tool_calls] == [("clock", True)]


@each_client
@pytest.mark.parametrize("index", ["0", 0.0, -1, [], None])
async def test_the_index_of_a_call_may_be_anything(client: str, index: JsonValue) -> None:
    message, failure = await answered(client, openai({"tool_calls": [{**call(), "index": index}]}, finish="tool_calls"))

    assert failure is None
    assert [each.name for each in message.tool_calls] == ["clock"]


@each_client
@pytest.mark.parametrize(
    "after",
    [b"data: {oops\n\n", b"<html>\n", b'data: {"error": {"message": "too late"}}\n\n', b'data: {"choices": [7]}\n\n'],
)
async def test_nothing_after_the_finish_reason_fails_the_answer(client: str, after: bytes) -> None:
    stream = openai(*WORDS).removesuffix(b"data: [DONE]\n\n") + after + b"data: [DONE]\n\n"
    message, failure = await answered(client, stream)

    assert (message.text, failure) == ("It is noon.", None)


async def test_nothing_after_the_finish_reason_fails_the_answer_through_litellm() -> None:
    usage: Json = {"prompt_tokens": {"text": 12}, "completion_tokens": 7.5, "total_tokens": []}
    late: Json = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
    async with tables() as opens:
        chat = await opens.litellm("deepseek/deepseek-v4-flash", openai(*WORDS, then=[late | {"usage": usage}]))
        done = await chat.goes_on("What time is it?")

    assert (done.message.text, done.failure) == ("It is noon.", None)


@each_client
async def test_a_stream_may_begin_with_a_mark_and_break_its_json_over_lines(client: str) -> None:
    lines = json.dumps({"choices": [{"index": 0, "delta": {"content": "{ noon }"}}]}, indent=2).splitlines()
    stream = b"\xef\xbb\xbf" + "".join(f"data: {line}\n" for line in lines).encode() + b"\n"
    message, failure = await answered(client, stream + openai())

    assert (message.text, failure) == ("{ noon }", None)


@each_client
@pytest.mark.parametrize("text", ["{", "}{", '{"', "a { b"])
async def test_braces_in_the_words_stay_as_they_are(client: str, text: str) -> None:
    frames = openai({"content": text}, {"content": text}).replace(b"\n\n", b"\n")  # no empty lines between events
    message, failure = await answered(client, frames)

    assert (message.text, failure) == (text * 2, None)


@each_client
@pytest.mark.parametrize("reason", ["content_filter", "refusal", "SAFETY", "sensitive"])
async def test_an_answer_that_a_filter_ended_is_not_whole(client: str, reason: str) -> None:
    _, failure = await answered(client, openai(*WORDS, finish=reason))

    assert failure is not None
    assert (failure.kind, failure.cause) == (FailureKind.INVALID, FailureCause.CONTENT)
    assert reason in failure.message


@each_client
@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource", "network_error", "abort"])
async def test_an_answer_that_the_server_gave_up_is_asked_for_again(client: str, reason: str) -> None:
    _, failure = await answered(client, openai(*WORDS, finish=reason))

    assert failure is not None
    assert (failure.kind, failure.cause) == (FailureKind.TRANSIENT, FailureCause.SERVER)


@each_client
async def test_an_answer_that_ended_for_an_unknown_reason_is_not_taken_for_whole(client: str) -> None:
    message, failure = await answered(client, openai(*WORDS, finish="tired"))

    assert failure is not None
    assert (failure.cause, message.stop_reason) == (FailureCause.UNFINISHED, StopReason.ERROR)
    assert "'tired'" in failure.message


@each_client
@pytest.mark.parametrize("reason", ["stop", "eos", "end_turn", "STOP", "tool_calls", "function_call"])
async def test_the_names_of_a_good_end_are_known(client: str, reason: str) -> None:
    message, failure = await answered(client, openai(*WORDS, finish=reason))

    assert (message.text, failure, message.stop_reason) == ("It is noon.", None, StopReason.STOP)


@each_client
async def test_a_refusal_in_words_is_the_answer(client: str) -> None:
    message, failure = await answered(
        client, openai({"content": None, "refusal": "I cannot "}, {"refusal": "help with that."})
    )

    assert (message.text, failure) == ("I cannot help with that.", None)


@pytest.mark.parametrize(
    ("reason", "stop", "cause"),
    [
        ("refusal", StopReason.ERROR, FailureCause.CONTENT),
        ("pause_turn", StopReason.PAUSE, None),
        ("model_context_window_exceeded", StopReason.LENGTH, None),
        ("tired", StopReason.ERROR, FailureCause.UNFINISHED),
        ("stop_sequence", StopReason.STOP, None),
    ],
)
async def test_anthropics_reasons_are_read_through_litellm(
    reason: str, stop: StopReason, cause: FailureCause | None
) -> None:
    async with tables() as opens:
        chat = await opens.litellm("anthropic/claude-test", anthropic({"type": "text", "text": "One"}, finish=reason))
        done = await chat.goes_on("Count.")

    assert done.message.stop_reason is stop
    assert (done.failure.cause if done.failure else None) is cause


def in_pieces(calls: list[Json]) -> bytes:
    deltas: list[Json] = [{"tool_calls": [piece]} for piece in calls]
    return openai(*deltas, finish="tool_calls")


# The calls of servers that write them in their own way.


@each_client
@pytest.mark.parametrize(
    "pieces",
    [
        [call("functions.clock")],
        [call("clock<|channel|>commentary")],
        [call("functions.clock:0")],
        [call("default_api.clock")],
        [call("clo", ""), {"index": 0, "function": {"name": "ck", "arguments": "{}"}}],
        [call("clock", ""), {"index": 0, "function": {"name": "clock", "arguments": "{}"}}],
        [call("clock", "```json\n{}\n```")],
        [call("clock", '"{}"')],
        [call("clock", "")],
    ],
    ids=str,
)
async def test_a_call_is_understood_however_it_is_written(client: str, pieces: list[Json]) -> None:
    message, failure = await answered(client, in_pieces(pieces))

    assert failure is None
    assert [(each.name, each.arguments, each.arguments_error) for each in message.tool_calls] == [("clock", {}, None)]


@each_client
@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('{"a": "one\n\ttwo"}', {"a": "one\n\ttwo"}),
        ('{}{"a": 1}', {"a": 1}),
        ('{"a": 1}{"a": 1}', {"a": 1}),
        ('{"a": 1}\n{"a": 1}\n{"a": 1}', {"a": 1}),
        ("{} {}", {}),
        ('"{\\"a\\": 1}{\\"a\\": 1}"', {"a": 1}),
        ('{"a": "}{"}', {"a": "}{"}),
    ],
)
async def test_arguments_with_line_breaks_or_sent_twice_are_read(client: str, raw: str, arguments: Json) -> None:
    message, _ = await answered(client, in_pieces([call("clock", raw)]))

    assert [(each.arguments, each.arguments_error) for each in message.tool_calls] == [(arguments, None)]


@each_client
@pytest.mark.parametrize("raw", ['{"a": 1}{"a": 2}', '{"a": 1}{"a"', '{}{"a": 1}{"b": 2}', '{"a": 1} and {"a": 1}'])
async def test_of_arguments_that_differ_none_is_chosen(client: str, raw: str) -> None:
    message, _ = await answered(client, in_pieces([call("clock", raw)]))

    (made,) = message.tool_calls
    assert made.arguments == {}
    assert "are not complete JSON" in (made.arguments_error or "")


@each_client
@pytest.mark.parametrize("index", [0, None])
async def test_calls_that_take_turns_under_one_index_are_told_apart_by_their_ids(
    client: str, index: int | None
) -> None:
    pieces = [call("clock", '{"a":', "c1"), call("clock", '{"b":', "c2"), call("", "1}", "c1"), call("", "2}", "c2")]
    pieces = [{**piece, "index": index} for piece in pieces]
    message, failure = await answered(client, in_pieces(pieces))

    assert failure is None
    assert [(each.id, each.arguments) for each in message.tool_calls] == [("c1", {"a": 1}), ("c2", {"b": 2})]


# Property: whatever a server puts beside the words, they arrive, or it is said that the chunk is unreadable.


@given(st.lists(st.text(max_size=6), min_size=1, max_size=4), st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_stands_beside_the_words_they_arrive(words: list[str], data: st.DataObject) -> None:
    answer = Answer(ModelInfo(id="m"), new_id)
    for word in words:
        delta: Json = {**data.draw(beside), "content": word}
        chunk: Json = {**data.draw(beside), "choices": [{**data.draw(beside), "delta": delta}]}
        assert list(answer.take(read_chunk(json.loads(json.dumps(chunk))))) is not None
    last: Json = {**data.draw(beside), "choices": [{**data.draw(beside), "delta": {}, "finish_reason": "stop"}]}
    assert list(answer.take(read_chunk(last))) == []
    assert all(event.type == "text_delta" for event in answer.rest())
    done = answer.done()

    assert done.failure is None
    assert done.message.text == "".join(words).encode("utf-8", "replace").decode()


@given(anything)
def test_a_chunk_of_any_shape_is_read_or_called_unreadable(value: JsonValue) -> None:
    for chunk in (value, {"choices": value}, {"choices": [{"delta": value}]}, {"choices": [{"message": value}]}):
        try:
            read = read_chunk(chunk)
        except Unreadable:
            continue
        answer = Answer(ModelInfo(id="m"), new_id)
        assert all(event.type for event in answer.take(read))
        assert answer.done().message.role == "assistant"
