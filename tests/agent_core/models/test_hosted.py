"""Hosted providers that Parley's own client asks: what litellm loses there is kept, and nothing else changes."""

import json

import pytest
from pydantic import JsonValue

from agent_core.messages import AssistantMessage
from agent_core.models.llm import LlmFailure
from agent_core.models.openai_client import OpenAiClient
from tests.agent_core.models.clients import KEY, OPTIONS, model_info
from tests.agent_core.models.raw_models import Chat, RawModel, call, frame, openai
from tests.emulators.dialects.azure import AZURE_DEPLOYMENT, REFUSED_PROMPT
from tests.emulators.model_script import Json

OPENROUTER = "openrouter/anthropic/claude-sonnet-5"
GROQ = "groq/openai/gpt-oss-120b"


async def conversation(model: str, *answers: bytes) -> tuple[RawModel, list[AssistantMessage]]:
    """Return the server and the answers to a question, as many as it has, each after the results of the one before."""
    provider = model.partition("/")[0]
    async with RawModel(*answers) as server:
        client = OpenAiClient(f"{server.url}/v1", KEY, provider=provider)
        chat = Chat(client, model_info(model, provider), server, [])
        said = [(await chat.goes_on("" if place else "What time is it?")).message for place in range(len(answers))]
        await client.close()
    return server, said


def detail(**fields: JsonValue) -> Json:
    return {"reasoning_details": [{"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1", **fields}]}


async def test_reasoning_that_comes_in_chunks_of_its_own_goes_back_whole() -> None:
    thinks = openai(
        detail(text="I look "),
        detail(text="at the clock."),
        detail(signature="c2lnbmVk"),
        {"tool_calls": [call()]},
        finish="tool_calls",
    )
    server, (first, _) = await conversation(OPENROUTER, thinks, openai({"content": "Noon."}))

    (answer,) = server.answers_of(1)
    assert answer["reasoning_details"] == [
        {
            "type": "reasoning.text",
            "index": 0,
            "format": "anthropic-claude-v1",
            "text": "I look at the clock.",
            "signature": "c2lnbmVk",
        }
    ]
    assert first.opaque is not None
    assert (first.opaque.provider, first.opaque.model) == ("openrouter", OPENROUTER)


async def test_reasoning_of_groq_goes_back_in_the_field_in_which_it_came() -> None:
    thinks = openai({"reasoning": "I look."}, {"tool_calls": [call()]}, finish="tool_calls")
    server, _ = await conversation(GROQ, thinks, openai({"content": "Noon."}))

    (answer,) = server.answers_of(1)
    assert answer["reasoning"] == "I look."
    assert "reasoning_content" not in answer


@pytest.mark.parametrize("model", [OPENROUTER, GROQ])
async def test_the_model_is_asked_for_by_the_name_that_its_server_knows(model: str) -> None:
    server, (answer,) = await conversation(model, openai({"content": "Noon."}))

    assert server.bodies[0]["model"] == model.partition("/")[2]
    assert answer.model == model


async def test_a_model_that_thinks_is_given_no_temperature_and_no_level_that_the_protocol_lacks() -> None:
    async with RawModel(openai({"content": "Noon."})) as server:
        client = OpenAiClient(server.url, KEY, provider="openrouter")
        model = model_info(OPENROUTER, "openrouter").model_copy(update={"thinking_levels": ("low", "max")})
        chat = Chat(client, model, server, [])
        await chat.goes_on("What time is it?", OPTIONS.model_copy(update={"thinking": "max"}))
        await client.close()

    assert server.bodies[0]["reasoning_effort"] == "xhigh"
    assert "temperature" not in server.bodies[0]


async def asked_azure(answer: bytes | tuple[int, bytes]) -> tuple[AssistantMessage, LlmFailure | None]:
    async with RawModel(answer) as server:
        client = OpenAiClient(f"{server.url}/openai/deployments/mine?api-version=2024-10-21", KEY)
        done = await Chat(client, model_info("mine"), server, []).goes_on("What time is it?")
        await client.close()
    return done.message, done.failure


async def test_a_prompt_that_azure_filters_is_told_as_such() -> None:
    _, failure = await asked_azure((400, json.dumps(REFUSED_PROMPT).encode()))

    assert failure is not None
    assert failure.cause is not None
    assert failure.cause.value == "content"
    assert "content management policy" in failure.message


async def test_an_answer_that_azure_filters_half_way_is_not_whole() -> None:
    filtered: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": "content_filter"}]}
    message, failure = await asked_azure(openai({"content": "It is"}, finish=None, then=[filtered]))

    assert message.text == "It is"
    assert failure is not None
    assert failure.cause is not None
    assert failure.cause.value == "content"


async def test_results_of_azures_filter_leave_the_words_alone() -> None:
    protocol = AZURE_DEPLOYMENT.protocol
    chunks = [vars(protocol)["opening"], vars(protocol)["after_words"]]
    stream = frame(chunks[0]) + openai({"content": "It is "}, finish=None).removesuffix(b"data: [DONE]\n\n")
    message, failure = await asked_azure(stream + frame(chunks[1]) + openai({"content": "noon."}))

    assert failure is None
    assert message.text == "It is noon."
