"""What servers send that keeps to no protocol, through both clients: words, calls and errors are not lost."""

import json

import pytest

from agent_core.messages import AssistantMessage, ThinkingContent
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure
from tests.agent_core.models.raw_models import call, frame, openai, tables
from tests.emulators.model_script import Json

# litellm silences this warning on import; pytest undoes that.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
    pytest.mark.parametrize("client", ["own", "deepseek", "openai"]),
]

DONE = b"data: [DONE]\n\n"
HEAD: Json = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(delta: Json, finish: str | None = None, index: int = 0) -> Json:
    return {**HEAD, "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


SORRY: Json = {"message": "Overloaded, sorry"}
FAILED: Json = {"status_code": 1002, "status_msg": "Overloaded, sorry"}
IN_UTC: Json = {"zone": "UTC"}
AS_OBJECT: Json = {"name": "clock", "arguments": IN_UTC}
AS_PARAMETERS: Json = {"name": "clock", "parameters": IN_UTC}
BEGINS, GOES_ON, ENDS = chunk({"content": "It is "}), chunk({"content": "noon."}), chunk({}, "stop")


async def answered(client: str, stream: bytes) -> tuple[AssistantMessage, LlmFailure | None]:
    async with tables() as opens:
        chat = await (opens.own(stream) if client == "own" else opens.litellm(f"{client}/m", stream))
        done = await chat.goes_on("What time is it?")
    return done.message, done.failure


def written(text: str) -> bytes:
    pieces: list[Json] = [{"content": text[place : place + 7]} for place in range(0, len(text), 7)]
    return openai(*pieces)


@pytest.mark.parametrize(
    "odd",
    [
        {**HEAD, "choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {**HEAD, "choices": [{}]},
        {**HEAD, "choices": [None]},
        {**HEAD, "choices": None},
        {**HEAD, "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
        {"id": "x"},
        {"type": "ping"},
        {"code": 0, "message": "Success", "choices": []},
        {"base_resp": {"status_code": 0, "status_msg": ""}, "choices": []},
        chunk({"content": "Never."}, index=1),
        None,
    ],
    ids=str,
)
async def test_a_chunk_that_says_nothing_leaves_the_words_alone(client: str, odd: Json | None) -> None:
    between = b"data: null\n\n" if odd is None else frame(odd)
    message, failure = await answered(client, frame(BEGINS) + between + frame(GOES_ON) + frame(ENDS) + DONE)

    assert failure is None
    assert message.text == "It is noon."


@pytest.mark.parametrize(
    "error",
    [
        {"error": {**SORRY, "code": 502}},
        {"error": "Overloaded, sorry"},
        {"errors": [SORRY]},
        {"detail": "Overloaded, sorry"},
        {"code": 500, "msg": "Overloaded, sorry"},
        {"error_code": 336100, "error_msg": "Overloaded, sorry"},
        {"type": "error", "error": {**SORRY, "type": "overloaded_error"}},
        {**HEAD, "choices": None, "base_resp": FAILED},
        {"object": "error", "message": "Overloaded, sorry"},
    ],
    ids=str,
)
async def test_an_error_in_the_stream_is_told_whatever_its_name(client: str, error: Json) -> None:
    message, failure = await answered(client, frame(BEGINS) + frame(error) + DONE)

    assert failure is not None
    assert failure.kind is FailureKind.TRANSIENT
    assert "Overloaded, sorry" in failure.message
    assert message.text == "It is "


async def test_a_machine_without_memory_for_the_model_is_told_as_what_it_is(client: str) -> None:
    words = "model requires more system memory (5.6 GiB) than is available (3.9 GiB)"
    async with tables() as opens:
        answer = 500, json.dumps({"error": {"message": words, "type": "api_error"}}).encode()
        chat = await (opens.own(answer) if client == "own" else opens.litellm(f"{client}/m", answer))
        done = await chat.goes_on("What time is it?")

    assert done.failure is not None
    assert (done.failure.kind, done.failure.cause) == (FailureKind.TRANSIENT, FailureCause.MEMORY)
    assert words in done.failure.message


async def test_an_error_of_a_choice_is_told_in_its_words(client: str) -> None:
    broke: Json = {"code": 502, "message": "Upstream broke"}
    last: Json = {"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": broke}
    message, failure = await answered(client, frame(BEGINS) + frame({**HEAD, "choices": [last]}))

    assert failure is not None
    assert failure.kind is FailureKind.TRANSIENT
    assert "Upstream broke" in failure.message
    assert message.text == "It is "


async def test_a_wait_that_an_error_in_the_stream_asks_for_is_read(client: str) -> None:
    _, failure = await answered(client, frame({"error": {"code": 429, "message": "Please try again in 2h0m20s."}}))

    assert failure is not None
    assert (failure.kind, failure.retry_after_s) == (FailureKind.TRANSIENT, 7220)


@pytest.mark.parametrize(
    "line",
    [
        b'error: {"code": 400, "message": "%s", "type": "invalid_request_error"}\n\n',
        b"error: %s\n\n",
        b"event: error\ndata: %s\n\n",
        b'event: error\ndata: "%s"\n\n',
        b"data: error: %s\n\n",
    ],
)
async def test_an_error_that_is_no_chunk_is_understood_by_its_words(client: str, line: bytes) -> None:
    _, failure = await answered(client, line % b"the request exceeds the available context size" + DONE)

    assert failure is not None
    assert failure.kind is FailureKind.OVERFLOW
    assert "the request exceeds the available context size" in failure.message


async def test_the_number_of_the_choice_may_come_with_a_later_chunk(client: str) -> None:
    first: Json = {"choices": [{"delta": {"role": "assistant", "content": "It is "}}]}
    message, failure = await answered(
        client, b"".join(map(frame, [first, GOES_ON, chunk({"content": "No."}, index=1), ENDS]))
    )

    assert (message.text, failure) == ("It is noon.", None)


async def test_an_account_without_money_is_no_passing_trouble(client: str) -> None:
    poor: Json = {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}
    _, failure = await answered(client, frame(poor))

    assert failure is not None
    assert failure.kind is FailureKind.QUOTA


async def test_each_half_of_a_character_may_come_in_its_own_chunk(client: str) -> None:
    pieces = [frame(chunk({"content": half})) for half in ("It is \ud83d", "\ude00 noon.")]
    message, failure = await answered(client, b"".join(pieces) + frame(ENDS) + DONE)

    assert failure is None
    assert message.text == "It is \U0001f600 noon."


async def test_half_a_character_at_the_end_is_no_whole_one(client: str) -> None:
    message, _ = await answered(client, frame(chunk({"content": "It is \ud83d"})) + frame(ENDS) + DONE)

    assert message.text == "It is \ufffd"


async def test_the_arguments_of_a_call_may_be_cut_within_a_character(client: str) -> None:
    first: Json = {"tool_calls": [call(arguments='{"zone": "\ud83d')]}
    second: Json = {"tool_calls": [{"index": 0, "function": {"arguments": '\ude00"}'}}]}
    message, _ = await answered(client, openai(first, second, finish="tool_calls"))

    assert [each.arguments for each in message.tool_calls] == [{"zone": "\U0001f600"}]


@pytest.mark.parametrize(
    "content",
    [[{"type": "text", "text": "It is noon."}], {"type": "text", "text": "It is noon."}],
    ids=["list", "object"],
)
async def test_words_in_parts_are_words(client: str, content: list[Json] | Json) -> None:
    message, _ = await answered(client, openai({"content": [*content] if isinstance(content, list) else content}))

    assert message.text == "It is noon."


async def test_an_answer_may_have_the_mark_of_the_end_among_its_words(client: str) -> None:
    pieces: list[Json] = [{"content": "It ends with [DONE]"}, {"content": ", and so on."}]
    message, failure = await answered(client, openai(*pieces))

    assert failure is None
    assert message.text == "It ends with [DONE], and so on."


@pytest.mark.parametrize(
    "deltas",
    [
        [{"function_call": {"name": "clock", "arguments": ""}}, {"function_call": {"arguments": '{"zone": "UTC"}'}}],
        [{"tool_calls": [call(arguments='{"zone": '), {"index": 0, "function": {"arguments": '"UTC"}'}}]}],
        [{"tool_calls": [{**call(), "function": AS_OBJECT}]}],
        [{"tool_calls": [{**call(), "function": AS_PARAMETERS}]}],
        [{"tool_calls": [{**call(arguments='{"zone": "UTC"}'), "index": "0"}]}],
        [
            {"tool_calls": [call(arguments="", identity="a1")]},
            {"tool_calls": [{"index": 0, "id": "a2", "function": {"name": "", "arguments": '{"zone": "UTC"}'}}]},
        ],
    ],
    ids=["older call", "pieces in a chunk", "object", "other name", "number as text", "changing id"],
)
async def test_a_call_is_read_in_every_shape(client: str, deltas: list[Json]) -> None:
    message, _ = await answered(client, openai(*deltas, finish="tool_calls"))

    assert [(each.name, each.arguments) for each in message.tool_calls] == [("clock", {"zone": "UTC"})]


@pytest.mark.parametrize(
    "text",
    [
        '[TOOL_CALLS]clock[ARGS]{"zone": "UTC"}',
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "clock", "parameters": {"zone": "UTC"}}]<|END_ACTION|>',
        '<TOOLCALL>[{"name": "clock", "arguments": {"zone": "UTC"}}]</TOOLCALL>',
        '<|tool_call_start|>[clock(zone="UTC")]<|tool_call_end|>',
        "<start_function_call>call:clock{zone:<escape>UTC<escape>}<end_function_call>",
        '<|start|>assistant<|channel|>commentary to=functions.clock <|constrain|>json<|message|>{"zone": "UTC"}',
        "<function=clock>\n<parameter=zone>\nUTC\n</parameter>\n</function>\n</tool_call>",
        '[clock(zone="UTC")]',
        '```tool_code\nclock(zone="UTC")\n```',
        '[{"name": "clock", "arguments": {"zone": "UTC"}}]',
        '{"function_call": {"name": "clock", "arguments": {"zone": "UTC"}}}',
        '{"tool_calls": [{"type": "function", "function": {"name": "clock", "arguments": {"zone": "UTC"}}}]}',
    ],
)
async def test_a_call_that_is_written_as_text_is_a_call(client: str, text: str) -> None:
    message, failure = await answered(client, written(text))

    assert failure is None
    assert message.text.strip() == ""
    assert [(each.name, each.arguments) for each in message.tool_calls] == [("clock", {"zone": "UTC"})]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "clock", "arguments": {"zone": "a\n\tb"}}\n</tool_call>',
        '{"name": "clock", "arguments": {"zone": "a\n\tb"}}',
    ],
)
async def test_a_written_call_may_have_line_breaks_in_its_texts(client: str, text: str) -> None:
    message, failure = await answered(client, written(text))

    assert (failure, message.text.strip()) == (None, "")
    assert [(each.name, each.arguments) for each in message.tool_calls] == [("clock", {"zone": "a\n\tb"})]


@pytest.mark.parametrize(
    "text",
    [
        '[other(zone="UTC")]',
        '[{"name": "other", "arguments": {}}]',
        '[{"name": "clock"}]',
        '[{"name": "clock", "arguments": {}, "price": 3}]',
        '```json\n{"name": "clock", "arguments": {"zone": "UTC"}}\n```',
        '```python\nclock(zone="UTC")\n```',
        "[1, 2, 3]",
        "[]",
        "{}",
        "[clock]",
        "Write `<|im_end|>`",
        "Use [clock(zone='UTC')] for it.",
    ],
)
async def test_words_about_calls_stay_words(client: str, text: str) -> None:
    message, _ = await answered(client, written(text))

    assert message.text == text
    assert message.tool_calls == ()


@pytest.mark.parametrize(
    "text",
    [
        "<|START_THINKING|>I look.<|END_THINKING|><|START_RESPONSE|>It is noon.<|END_RESPONSE|>",
        "<|channel>thought\nI look.<channel|>It is noon.",
        "<Think>I look.</Think>It is noon.",
        "<THINKING>I look.</THINKING>\nIt is noon.",
        "<|start|>assistant<|channel|>analysis<|message|>I look.<|end|><|channel|>final<|message|>It is noon.",
        "<|channel|>analysis<|message|>I look.<|end|><|channel|>final<|message|>It is noon.<|return|>",
        "<think>I look.</think>It is noon.<|im_end|>\n",
    ],
)
async def test_thoughts_and_marks_of_the_models_own_are_not_shown(client: str, text: str) -> None:
    message, _ = await answered(client, written(text))

    assert message.text.strip() == "It is noon."
    assert "".join(each.thinking for each in message.content if isinstance(each, ThinkingContent)) == "I look."


@pytest.mark.parametrize("text", ["It ends with <|im_end|> always.", "<|im_end|> is a token.", "</s>"])
async def test_marks_within_the_words_stay(client: str, text: str) -> None:
    assert (await answered(client, written(text)))[0].text == text
