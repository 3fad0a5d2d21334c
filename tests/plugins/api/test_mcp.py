"""The official client of MCP asks, searches and proposes, as the person who made the key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from gateway.plugins.api.plugin import ApiPlugin
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.operation import watched
from tests.plugins.api.conftest import key_of


@asynccontextmanager
async def connected(bot: Bot, folder: Path) -> AsyncIterator[Client]:
    """Yield the official client, with a new key of Ann."""
    async with watched(bot, folder, (ApiPlugin,)) as session:
        headers = {"Authorization": f"Bearer {await key_of(bot)}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(f"{session._base_url}mcp", http_client=http)  # noqa: SLF001
            async with Client(transport) as client:
                yield client


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def test_it_asks_searches_and_proposes(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot("Tomatoes it is.", "No basil.", "When exactly?", plugins=(ApiPlugin,))
    await bot.hears("what do we plant?")
    async with connected(bot, tmp_path) as client:
        assert {each.name for each in (await client.list_tools()).tools} == {"ask", "search", "schedule"}
        assert text_of(await client.call_tool("ask", {"question": "and basil?"})) == "No basil."
        assert "Tomatoes it is." in text_of(await client.call_tool("search", {"words": "tomatoes"}))
        told = text_of(await client.call_tool("schedule", {"what": "water the *plants*", "when": "every day at 9"}))
    await bot.app.settled()

    assert "not set yet" in told
    assert bot.screen[-1] == r"A program with your key **editor** proposes: every day at 9: water the \*plants\*"
    await bot.channel.presses("Set it")
    await bot.app.settled()
    assert bot.screen[-1] == "When exactly?"
    assert "Please schedule this: every day at 9: water the *plants*" in str(bot.llm.requests[-1].messages)


async def test_what_fails_is_told_as_the_result_of_the_tool(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(ApiPlugin,))
    async with connected(bot, tmp_path) as client:
        found = await client.call_tool("search", {"words": "!!!"})
        asked = await client.call_tool("ask", {"question": "hello?"})

    assert (found.is_error, asked.is_error) == (True, True)


@pytest.mark.parametrize(
    ("body", "status", "holds"),
    [
        (b"{", 400, b"-32700"),
        (b"[]", 400, b"-32600"),
        (b'{"jsonrpc": "2.0", "method": "dance", "id": 1}', 200, b"-32601"),
        (b'{"jsonrpc": "2.0", "method": "tools/call", "id": 1, "params": {"name": "rm"}}', 200, b"-32602"),
        (b'{"jsonrpc": "2.0", "method": "tools/call", "id": 1, "params": {"name": "ask"}}', 200, b"-32602"),
        (b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', 202, b""),
    ],
)
async def test_what_is_no_request_is_told(start_bot: StartBot, body: bytes, status: int, holds: bytes) -> None:
    bot = await start_bot(plugins=(ApiPlugin,))
    headers = {"Authorization": f"Bearer {await key_of(bot)}"}

    answer = await bot.requests("/mcp", "POST", body, headers=headers)

    assert answer.status == status
    assert holds in answer.body


async def test_without_a_key_nothing_is_answered(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(ApiPlugin,))

    assert (await bot.requests("/mcp", "POST", b'{"jsonrpc": "2.0", "method": "ping", "id": 1}')).status == 401
