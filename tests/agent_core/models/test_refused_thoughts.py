"""Thoughts that a server refuses stay out of their own conversation only."""

import json
from dataclasses import replace

import pytest
from pydantic import JsonValue

from tests.agent_core.models.raw_models import Chat, Raw, anthropic, call, gemini, openai, tables
from tests.emulators.model_script import Json

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

LOOKS: Json = {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {}}
NOON: Json = {"type": "text", "text": "Noon."}
FORGED = "messages.1.content.0: Invalid `signature` in `thinking` block"
REFUSALS = [
    FORGED,
    "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
    "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
    "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted.",
    "Corrupted thought signature.",
    "Thought signature is not valid",
]


def refused(said: str) -> Raw:
    error: Json = {"type": "invalid_request_error", "message": said, "code": 400, "status": "INVALID_ARGUMENT"}
    return 400, json.dumps({"type": "error", "error": error}).encode()


def thinks(word: str) -> bytes:
    """Return a call with thoughts, in Anthropic's protocol."""
    return anthropic({"type": "thinking", "thinking": "Hm.", "signature": word}, LOOKS, finish="tool_use")


def reasons(word: str) -> bytes:
    """Return a call with reasoning, in OpenAI's protocol."""
    details: list[JsonValue] = [{"type": "reasoning.encrypted", "data": word, "index": 0, "id": "rs_1"}]
    return openai({"reasoning_details": details, "tool_calls": [call()]}, finish="tool_calls")


async def talks_beside(one: Chat) -> None:
    """Ask what needs a call, in one chat and then in another one with the same model."""
    for chat in (one, replace(one, said=[])):
        for question in ("What time is it?", ""):
            assert (await chat.goes_on(question)).failure is None


@pytest.mark.parametrize("said", REFUSALS)
async def test_other_chats_of_the_model_keep_their_thoughts(said: str) -> None:
    noon = openai({"content": "Noon."})
    async with tables() as opens:
        one = await opens.own(reasons("first"), refused(said), noon, reasons("second"), noon, noon)
        await talks_beside(one)
        await one.goes_on("Thank you.")
        bodies = one.server.bodies

    assert ["first" in str(body["messages"]) for body in bodies] == [False, True, False, False, False, False]
    assert "second" in str(bodies[4]["messages"])


async def test_other_chats_with_anthropic_keep_their_thoughts() -> None:
    async with tables() as opens:
        answers = thinks("first"), refused(FORGED), anthropic(NOON), thinks("second"), anthropic(NOON), anthropic(NOON)
        one = await opens.litellm("anthropic/claude-sonnet-4-5", *answers)
        await talks_beside(one)
        await one.goes_on("Thank you.")
        bodies = one.server.bodies

    assert ["first" in str(body["messages"]) for body in bodies] == [False, True, False, False, False, False]
    assert "second" in str(bodies[4]["messages"])


async def test_other_chats_with_gemini_keep_their_signatures() -> None:
    def signed(word: str) -> bytes:
        return gemini({"functionCall": {"name": "clock", "args": {}}, "thoughtSignature": word})

    async with tables() as opens:
        answers = signed("b25l"), refused("Corrupted thought signature."), gemini({"text": "Noon."})
        one = await opens.litellm("gemini/gemini-3-pro-preview", *answers, signed("dHdv"), gemini({"text": "Noon."}))
        await talks_beside(one)
        bodies = one.server.bodies

    assert ["b25l" in str(body) for body in bodies] == [False, True, False, False, False]
    assert "dHdv" in str(bodies[4])


async def test_a_conversation_that_is_refused_without_thoughts_too_fails() -> None:
    async with tables() as opens:
        chat = await opens.own(reasons("first"), refused(FORGED), refused(FORGED))
        await chat.goes_on("What time is it?")
        done = await chat.goes_on()

    assert done.failure is not None
    assert FORGED in done.failure.message
    assert len(chat.server.bodies) == 3


@pytest.mark.parametrize(
    "said",
    [
        "messages.1.content.0.signature: Extra inputs are not permitted",
        "messages[2].reasoning_details: property 'reasoning_details' is unsupported",
    ],
)
async def test_a_server_that_knows_no_such_field_gets_it_in_no_chat(said: str) -> None:
    noon = openai({"content": "Noon."})
    async with tables() as opens:
        one = await opens.own(reasons("first"), refused(said), noon, reasons("second"), noon)
        await talks_beside(one)

    assert "second" not in str(one.server.bodies[4]["messages"])
