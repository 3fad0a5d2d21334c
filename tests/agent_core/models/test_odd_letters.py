"""Letters arrive as they were sent, through every client: separators of Unicode, encodings that a server misnames."""

import json
from collections.abc import Mapping

import pytest

from agent_core.messages import AssistantMessage
from agent_core.models.llm import LlmFailure
from tests.agent_core.models.raw_models import Raw, anthropic, gemini, openai, tables

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

STREAM = "text/event-stream"
CLIENTS = ("own", "deepseek/m", "openai/m", "anthropic/claude-test", "gemini/m")
each_client = pytest.mark.parametrize("client", CLIENTS)


async def answered(client: str, answer: Raw) -> tuple[AssistantMessage, LlmFailure | None]:
    async with tables() as opens:
        chat = await (opens.own(answer) if client == "own" else opens.litellm(client, answer))
        done = await chat.goes_on("What time is it?")
    return done.message, done.failure


def written(client: str, text: str) -> str:
    """Return an answer in the client's protocol, its letters as they are, as most servers write them."""
    match client.partition("/")[0]:
        case "anthropic":
            stream = anthropic({"type": "text", "text": text})
        case "gemini":
            stream = gemini({"text": text})
        case _:
            stream = openai({"content": text})
    return stream.decode().replace(json.dumps(text)[1:-1], text)


@each_client
@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
async def test_a_separator_of_unicode_ends_no_line(client: str, separator: str) -> None:
    text = f"one{separator}two"
    message, failure = await answered(client, written(client, text).encode())

    assert (message.text, failure) == (text, None)


@each_client
@pytest.mark.parametrize("charset", ["iso-8859-1", "us-ascii", "utf8mb4", "gbk"])
async def test_what_a_server_says_of_its_encoding_changes_no_letter(client: str, charset: str) -> None:
    headers: Mapping[str, str] = {"Content-Type": f"{STREAM}; charset={charset}"}
    message, failure = await answered(client, (200, written(client, "Gr\u00fc\u00dfe, 现在是中午。").encode(), headers))

    assert (message.text, failure) == ("Gr\u00fc\u00dfe, 现在是中午。", None)


@each_client
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be", "utf-8-sig"])
async def test_a_stream_in_another_unicode_is_read(client: str, encoding: str) -> None:
    body = written(client, "现在是中午。 🕛").encode(encoding)
    message, failure = await answered(client, (200, body, {"Content-Type": STREAM}))

    assert (message.text, failure) == ("现在是中午。 🕛", None)


@each_client
async def test_a_long_line_in_many_packets_is_one(client: str) -> None:
    text = "现" * 400_000
    message, failure = await answered(client, written(client, text).encode())

    assert failure is None
    assert message.text == text
