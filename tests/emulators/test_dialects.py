"""Each dialect of OpenAI's protocol refuses what its provider refuses, in its words; asked by plain HTTP."""

import aiohttp
import pytest
from pydantic import JsonValue

from agent_core.models.server_address import CHAT, below
from tests.emulators.dialects import (
    anthropic_chat,
    azure,
    deepseek,
    gemini,
    groq,
    mistral,
    moonshot,
    openai,
    openrouter,
    xai,
    zai,
)
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.openai_chat import OpenAiChat, OpenAiChatServer
from tests.emulators.dialects.table import DIALECTS
from tests.emulators.model_script import Answer, Json, ToolUse, Turn, says

TOOL: Json = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}
ASKED: Json = {"role": "user", "content": "What time is it?"}
NOON: Json = {"role": "tool", "content": "noon"}
OPENAI_CHAT = [each for each in DIALECTS if isinstance(each.protocol, OpenAiChat)]


def served(dialect: Dialect, *script: Answer) -> OpenAiChatServer:
    server = dialect.server(script)
    assert isinstance(server, OpenAiChatServer)
    return server


def call(identity: str) -> Json:
    return {"id": identity, "type": "function", "function": {"name": "clock", "arguments": "{}"}}


async def posted(server: OpenAiChatServer, *messages: JsonValue, **parameters: JsonValue) -> tuple[int, Json]:
    body: Json = {"model": server.model, "messages": [*messages], "tools": [TOOL], **parameters}
    address = below(server.base_url, CHAT)
    async with aiohttp.ClientSession() as session, session.post(address, json=body) as it:
        return it.status, await it.json() if it.content_type == "application/json" else {}


async def after_a_call(dialect: Dialect, *, identity: str = "", **field: JsonValue) -> tuple[int, str]:
    """Return status and body of a request that brings a call back with this field only."""
    script = [Turn(tools=(ToolUse("clock"),), thinking="Let me look."), says("Noon.")]
    async with served(dialect, *script) as server:
        await posted(server, ASKED, stream=True)
        made = identity or next(iter(server.handed))
        answer: Json = {"role": "assistant", "content": None, "tool_calls": [call(made)], **field}
        status, body = await posted(server, ASKED, answer, {**NOON, "tool_call_id": made})
    return status, str(body)


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        (deepseek.DEEPSEEK, "must be passed back to the API"),
        (moonshot.MOONSHOT, "reasoning_content is missing in assistant tool call message at index 1"),
        (openrouter.OPENROUTER, "reasoning_details"),
        (gemini.GEMINI, "Function call is missing a thought_signature in functionCall parts"),
    ],
    ids=["DeepSeek", "Kimi", "OpenRouter", "Gemini"],
)
async def test_a_call_that_comes_back_without_what_was_handed_out_is_refused(dialect: Dialect, words: str) -> None:
    status, body = await after_a_call(dialect)

    assert status == 400
    assert words in body


@pytest.mark.parametrize(("thought", "status"), [("Let me look.", 200), ("Let me think.", 400)])
async def test_reasoning_must_come_back_as_it_was(thought: str, status: int) -> None:
    assert (await after_a_call(deepseek.DEEPSEEK, reasoning_content=thought))[0] == status


@pytest.mark.parametrize(
    ("dialect", "given", "status"),
    [
        (deepseek.DEEPSEEK, None, 400),
        (deepseek.DEEPSEEK, "", 200),
        (deepseek.DEEPSEEK, " ", 200),
        (moonshot.MOONSHOT, None, 400),
        (moonshot.MOONSHOT, "", 400),
        (moonshot.MOONSHOT, " ", 200),
        (openrouter.OPENROUTER, None, 200),
    ],
)
async def test_a_call_that_was_made_without_a_thought_needs_the_field_all_the_same(
    dialect: Dialect, given: str | None, status: int
) -> None:
    async with served(dialect, Turn(tools=(ToolUse("clock"),)), says("Noon.")) as server:
        await posted(server, ASKED, stream=True)
        made = next(iter(server.handed))
        field: Json = {} if given is None else {"reasoning_content": given}
        answer: Json = {"role": "assistant", "content": None, "tool_calls": [call(made)], **field}
        assert (await posted(server, ASKED, answer, {**NOON, "tool_call_id": made}))[0] == status


async def test_groq_takes_back_the_reasoning_that_it_gave() -> None:
    assert (await after_a_call(groq.GROQ, reasoning="Let me look."))[0] == 200


@pytest.mark.parametrize("query", ["", "?api-version=2020-01-01"])
async def test_a_deployment_of_azure_has_a_version_and_takes_the_key_in_its_own_header(query: str) -> None:
    async with served(azure.AZURE_DEPLOYMENT, says("Noon.")) as server, aiohttp.ClientSession() as session:
        address = f"{server.base_url.partition('?')[0]}/chat/completions{query}"
        async with session.post(address, json={"messages": [ASKED]}) as response:
            assert (response.status, (await response.json())["error"]["message"]) == (404, "Resource not found")


@pytest.mark.parametrize("dialect", [groq.GROQ, mistral.MISTRAL], ids=lambda each: each.name)
async def test_reasoning_is_refused_where_the_field_is_unknown(dialect: Dialect) -> None:
    status, body = await after_a_call(dialect, reasoning_content="Let me look.")

    assert status == 400
    assert "reasoning_content" in body


async def test_anthropic_refuses_ids_with_other_characters_than_its_own() -> None:
    assert (await after_a_call(anthropic_chat.ANTHROPIC_CHAT))[0] == 200
    status, body = await after_a_call(anthropic_chat.ANTHROPIC_CHAT, identity="functions.clock:0")

    assert (status, "String should match pattern" in body) == (400, True)


async def test_mistral_refuses_long_ids_and_a_question_after_a_result() -> None:
    status, body = await after_a_call(mistral.MISTRAL, identity="call_0123456789")
    assert (status, "with a length of 9" in body) == (400, True)

    answer: Json = {"role": "assistant", "content": None, "tool_calls": [call("a23456789")]}
    async with served(mistral.MISTRAL, says("Noon.")) as server:
        status, error = await posted(server, ASKED, answer, {**NOON, "tool_call_id": "a23456789"}, ASKED)
    assert (status, error["message"]) == (400, "Unexpected role 'user' after role 'tool'")


@pytest.mark.parametrize(
    ("dialect", "message", "words"),
    [
        (openrouter.OPENROUTER, {"role": "assistant", "content": "Once"}, "does not support assistant message prefill"),
        (anthropic_chat.ANTHROPIC_CHAT, {"role": "user", "content": ""}, anthropic_chat.EMPTY),
        (anthropic_chat.ANTHROPIC_CHAT, {"role": "assistant", "content": "Once"}, "assistant message prefill"),
        (xai.XAI, {"role": "user", "content": ""}, xai.EMPTY),
        (xai.XAI, {"role": "assistant", "content": []}, xai.EMPTY),
        (zai.ZAI, {"role": "assistant", "content": "Once"}, zai.ILLEGAL),
    ],
    ids=lambda each: each.name if isinstance(each, Dialect) else "",
)
async def test_a_message_that_the_model_does_not_take_is_refused(dialect: Dialect, message: Json, words: str) -> None:
    async with served(dialect, says("Noon.")) as server:
        status, body = await posted(server, message)

    assert (status, words in str(body)) == (400, True)


@pytest.mark.parametrize("parameter", [{"max_tokens": 9}, {"temperature": 0.7}], ids=["limit", "temperature"])
async def test_gpt_5_refuses_older_parameters_and_names_them(parameter: Json) -> None:
    async with served(openai.GPT_5, says("Noon.")) as server:
        status, body = await posted(server, ASKED, **parameter)

    error = body["error"]
    assert isinstance(error, dict)
    assert status == 400
    assert error["param"] in parameter
    assert server.violations == []
    assert len(server.taught) == 1


@pytest.mark.parametrize("dialect", OPENAI_CHAT, ids=lambda each: each.name)
async def test_every_dialect_refuses_a_parameter_that_nobody_has(dialect: Dialect) -> None:
    async with served(dialect, says("Noon.")) as server:
        status, _ = await posted(server, ASKED, no_such_parameter=1)

    assert status == 400
    assert len(server.violations) == 1
