"""Gemini in its own protocol, through litellm: what its models hand out, how they end, and what they refuse."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from pydantic import JsonValue

from agent_core.messages import AssistantMessage, StopReason, TextContent, ToolResultMessage, UserMessage
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import FailureCause, FailureKind, LlmRequest, StreamStart, ToolSpec
from agent_core.origin import CLEAN
from tests.agent_core.models.clients import KEY, OPTIONS, Talk, model_info
from tests.agent_core.models.raw_models import CLOCK, Chat, frame, gemini, tables
from tests.emulators.gemini import GeminiEmulator
from tests.emulators.gemini_rules import objects
from tests.emulators.model_script import Answer, Break, Failure, Json, ToolUse, Turn, calls, says
from tests.messages import user

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

THINKS = OPTIONS.model_copy(update={"thinking": "low"})
MODEL = "gemini/gemini-3-flash"


@asynccontextmanager
async def at(*script: Answer, model: str = MODEL) -> AsyncIterator[tuple[Talk, GeminiEmulator]]:
    async with GeminiEmulator(script, api_key=KEY, is_third="gemini-3" in model) as server:
        client = LitellmClient(KEY, server.base_url)
        yield Talk(client, model_info(model, "gemini"), server), server
        await client.close()
        assert server.violations == []


def asks(*messages: UserMessage | AssistantMessage | ToolResultMessage) -> LlmRequest:
    return LlmRequest(system="Be brief.", messages=messages, tools=(CLOCK,))


def results(message: AssistantMessage) -> list[ToolResultMessage]:
    content = (TextContent(text="noon"),)
    return [
        ToolResultMessage(tool_call_id=each.id, tool_name=each.name, content=content, origin=CLEAN)
        for each in message.tool_calls
    ]


def parts(server: GeminiEmulator, role: str) -> list[Json]:
    """Return the parts of the last turn of this role in the last request."""
    turns = [each for each in objects(server.requests[-1].body["contents"]) if each["role"] == role]
    return objects(turns[-1]["parts"])


@pytest.mark.parametrize(
    ("reason", "cause", "kind"),
    [
        ("SAFETY", FailureCause.CONTENT, FailureKind.INVALID),
        ("RECITATION", FailureCause.CONTENT, FailureKind.INVALID),
        ("PROHIBITED_CONTENT", FailureCause.CONTENT, FailureKind.INVALID),
        ("IMAGE_PROHIBITED_CONTENT", FailureCause.CONTENT, FailureKind.INVALID),
        ("MALFORMED_FUNCTION_CALL", FailureCause.SERVER, FailureKind.TRANSIENT),
        ("TOO_MANY_TOOL_CALLS", FailureCause.SERVER, FailureKind.TRANSIENT),
        ("MISSING_THOUGHT_SIGNATURE", FailureCause.UNFINISHED, FailureKind.INVALID),
        ("SOMETHING_NEW", FailureCause.UNFINISHED, FailureKind.INVALID),
    ],
)
@pytest.mark.parametrize("text", ["Half an answer.", ""], ids=["words", "nothing"])
async def test_an_answer_that_ends_too_early_is_told_with_its_reason(
    reason: str, cause: FailureCause, kind: FailureKind, text: str
) -> None:
    async with at(Turn(text, finish=reason)) as (talk, _):
        done = await talk.done()

    assert done.failure is not None
    assert (done.failure.cause, done.failure.kind) == (cause, kind)
    assert reason in done.failure.message
    assert done.message.text == text


@pytest.mark.parametrize("reason", ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "OTHER", "MODEL_ARMOR"])
async def test_a_prompt_that_is_blocked_is_told_with_its_reason(reason: str) -> None:
    async with at(Turn(finish=f"prompt:{reason}")) as (talk, _):
        done = await talk.done()

    assert done.failure is not None
    assert done.failure.cause is FailureCause.CONTENT
    assert reason in done.failure.message


async def test_a_call_at_the_limit_of_tokens_is_cut() -> None:
    async with at(Turn(tools=(ToolUse("clock"),), finish="MAX_TOKENS")) as (talk, _):
        done = await talk.done(asks(user("What time is it?")))

    assert done.message.stop_reason is StopReason.LENGTH


@pytest.mark.parametrize("turn", [says("Noon, and some more words."), calls("clock", "date")], ids=["words", "calls"])
@pytest.mark.parametrize("kind", ["end", "cut"])
async def test_an_answer_that_breaks_off_is_not_whole(turn: Turn, kind: str) -> None:
    broken = Turn(turn.text, turn.tools, breaks=Break("end" if kind == "end" else "cut", 1))
    async with at(broken) as (talk, _):
        done = await talk.done(asks(user("What time is it?")))

    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSIENT
    assert done.message.tool_calls == ()


@pytest.mark.parametrize("model", [MODEL, "gemini/gemini-2.5-flash"])
async def test_two_equal_calls_are_two_calls(model: str) -> None:
    async with at(calls("clock", "clock"), says("Noon."), model=model) as (talk, server):
        question = user("What time is it?")
        first = (await talk.done(asks(question), THINKS)).message
        second = await talk.done(asks(question, first, *results(first)), THINKS)

    assert second.message.text == "Noon."
    assert len(parts(server, "model")) == 2


async def test_results_and_what_a_person_says_next_are_one_turn() -> None:
    async with at(calls("clock"), says("Noon.")) as (talk, server):
        question = user("What time is it?")
        first = (await talk.done(asks(question), THINKS)).message
        done = await talk.done(asks(question, first, *results(first), user("In Rome, I mean.")), THINKS)

    assert done.message.text == "Noon."
    assert [sorted(each)[0] for each in parts(server, "user")] == ["function_response", "text"]


@pytest.mark.parametrize(
    "odd",
    [
        {"candidates": {"0": {"content": {"role": "model", "parts": [{"text": "Noon."}]}}}},
        {"candidates": [{"content": {"parts": [{"text": "Noon."}]}, "groundingMetadata": {"groundingChunks": None}}]},
        {"candidates": [{"content": {"parts": [{"text": "Noon."}]}, "safetyRatings": 5, "citationMetadata": []}]},
        {"candidates": [{"content": {"parts": [{"text": "Noon."}]}}], "usageMetadata": {"promptTokensDetails": [None]}},
    ],
    ids=str,
)
async def test_what_stands_beside_the_words_and_comments_between_leave_them_alone(odd: Json) -> None:
    end: Json = {"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]}
    async with tables() as opens:
        stream = b": keep-alive\r\n\r\n" + frame(odd) + b":\n\n" + frame(end)
        done = await (await opens.litellm("gemini/gemini-3-flash", stream)).goes_on("What time is it?")

    assert (done.message.text, done.failure) == ("Noon.", None)


@pytest.mark.parametrize(("shape", "indent"), [("{}", None), ("{}", 1), ("[{}]", None)])
async def test_the_signature_of_words_goes_back_though_the_answer_came_whole(shape: str, indent: int | None) -> None:
    words: Json = {"text": "Noon.", "thoughtSignature": "c2lnbmVk"}
    chunk = json.loads(gemini(words).removeprefix(b"data: "))
    body = shape.replace("{}", json.dumps(chunk, indent=indent)).encode()
    async with tables() as opens:
        whole = 200, body, {"Content-Type": "application/json"}
        chat = await opens.litellm("gemini/gemini-3-flash", whole, gemini({"text": "Gladly."}))
        await chat.goes_on("What time is it?")
        await chat.goes_on("Thank you.")

    assert '"thoughtSignature": "c2lnbmVk"' in json.dumps(chat.server.bodies[1])


async def test_the_signature_of_words_goes_back_on_the_words() -> None:
    async with at(says("Noon.", thinking="I look at the clock."), says("Gladly.")) as (talk, server):
        question = user("What time is it?")
        first = (await talk.done(asks(question), THINKS)).message
        await talk.done(asks(question, first, user("Thank you.")), THINKS)

    words = next(each for each in parts(server, "model") if not each.get("thought"))
    assert (words["text"], bool(words["thoughtSignature"])) == ("Noon.", True)


async def test_a_call_without_arguments_has_none() -> None:
    async with tables() as opens:
        chat = await opens.litellm(MODEL, gemini({"functionCall": {"name": "clock"}}))
        done = await chat.goes_on("What time is it?")

    assert done.failure is None
    assert [(each.name, each.arguments) for each in done.message.tool_calls] == [("clock", {})]


COUNTS: Json = {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}}
ENDS: Json = {"candidates": [{"content": {"parts": [{"text": "It is noon."}]}, "finishReason": "STOP", "index": 0}]}


@pytest.mark.parametrize(
    "late",
    [
        [COUNTS],
        [{"candidates": []}],
        [{"candidates": [{"index": 0}]}],
        [{"candidates": [{"content": {}}], **COUNTS}],
        [{"candidates": [{"content": {"parts": [{"text": "", "thoughtSignature": "c2ln"}]}}]}],
        [{"candidates": [{"finishReason": "STOP"}]}],
        [{"candidates": [{"groundingMetadata": {}, "index": 0}]}],
    ],
    ids=str,
)
async def test_what_comes_after_the_end_leaves_the_answer_whole(late: Sequence[Json]) -> None:
    async with tables() as opens:
        chat = await opens.litellm(MODEL, b"".join(map(frame, [ENDS, *late])))
        done = await chat.goes_on("What time is it?")

    assert done.failure is None
    assert done.message.text == "It is noon."


@pytest.mark.parametrize(
    "odd",
    [
        {"candidates": None},
        {"candidates": [None]},
        {"candidates": [{"content": None}]},
        {"candidates": [{"content": {"parts": None}}]},
        {"candidates": [{"content": {"parts": [None]}}]},
        {"candidates": [{"content": {"parts": [{"text": None}]}}]},
        {"candidates": [{"content": {"parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}]}}]},
        {"candidates": [], "usageMetadata": None},
        {"candidates": [], "usageMetadata": {"promptTokenCount": "many", "totalTokenCount": None}},
        {"candidates": [{"index": 1, "content": {"parts": [{"text": "Never."}]}}]},
    ],
    ids=str,
)
async def test_an_odd_chunk_leaves_the_words_alone(odd: Json) -> None:
    begins: Json = {"candidates": [{"content": {"parts": [{"text": "I say: "}]}, "index": 0}]}
    async with tables() as opens:
        chat = await opens.litellm(MODEL, b"".join(map(frame, [begins, odd, ENDS])))
        done = await chat.goes_on("What time is it?")

    assert done.failure is None
    assert done.message.text == "I say: It is noon."


@pytest.mark.parametrize("called", [{"name": "default_api:clock"}, {"name": "clock", "args": None}], ids=str)
async def test_a_call_in_an_odd_form_is_a_call(called: Json) -> None:
    async with tables() as opens:
        done = await (await opens.litellm(MODEL, gemini({"functionCall": called}))).goes_on("What time is it?")

    assert [(each.name, each.arguments) for each in done.message.tool_calls] == [("clock", {})]


async def test_an_error_in_a_list_is_told() -> None:
    error = b'data: [{"error": {"code": 503, "message": "The model is overloaded."}}]\r\n\r\n'
    async with tables() as opens:
        done = await (await opens.litellm(MODEL, error)).goes_on("What time is it?")

    assert done.failure is not None
    assert "The model is overloaded." in done.failure.message


async def test_an_answer_at_the_limit_is_cut_also_if_a_chunk_comes_after_it() -> None:
    cut: Json = {"candidates": [{"content": {"parts": [{"text": "It is"}]}, "finishReason": "MAX_TOKENS", "index": 0}]}
    async with tables() as opens:
        chat = await opens.litellm(MODEL, frame(cut) + frame(COUNTS))
        done = await chat.goes_on("What time is it?")

    assert done.message.stop_reason is StopReason.LENGTH


async def test_a_refused_parameter_is_left_out_from_then_on() -> None:
    taught: Json = {"error": {"code": 400, "message": "Thinking level is not supported for this model."}}
    async with tables() as opens:
        chat = await opens.litellm(MODEL, (400, frame(taught)[6:]), frame(ENDS), frame(ENDS))
        said = [await chat.goes_on("What time is it?", THINKS), await chat.goes_on("And now?", THINKS)]

    assert [each.failure for each in said] == [None, None]
    assert [_thinks(chat, number) for number in range(3)] == [True, False, False]


def _thinks(chat: Chat, number: int) -> bool:
    settings: JsonValue = chat.server.bodies[number].get("generationConfig")
    return isinstance(settings, dict) and "thinkingConfig" in settings


async def test_an_answer_starts_only_when_the_server_takes_the_request() -> None:
    async with at(Failure("overloaded")) as (talk, _):
        events = await talk.events()

    assert not any(isinstance(each, StreamStart) for each in events)


async def test_a_tool_with_a_schema_that_gemini_does_not_take_is_offered_without_what_it_does_not_take() -> None:
    odd: Json = {
        "type": "object",
        "properties": {
            "of": {"type": ["string", "null"], "format": "uri", "examples": ["x"]},
            "how": {"oneOf": [{"const": 1}, {"type": "array"}]},
        },
        "additionalProperties": False,
        "required": ["of", "missing"],
        "$schema": "https://json-schema.org/draft/2020-12/schema",
    }
    tool = ToolSpec(name="photo", description="Takes one.", parameters=odd)
    async with at(says("Done.")) as (talk, server):
        done = await talk.done(LlmRequest(system="", messages=(user("A photo?"),), tools=(tool, CLOCK)))

    assert done.failure is None
    assert server.requests[0].tools == ["photo", "clock"]
