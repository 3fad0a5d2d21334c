"""/mcp add connects a server at once, without a restart and on every node, and owners approve its tools."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from gateway.plugins.mcp.plugin import McpPlugin
from gateway.store.chat_settings import EVERYWHERE
from tests.agent_core.mcp.serving import over_http
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.conftest import StartBot
from tests.gateway.test_approved_tools import approved_in
from tests.plugins.beside import beside
from tests.plugins.mcp.serving import local
from tests.postgres import UrlOf
from tests.process import until


async def test_the_next_message_has_its_tools_and_owners_approve_them(start_bot: StartBot) -> None:
    async with over_http() as (url, _):
        bot = await start_bot(calls(("lab_echo", {"text": "hi"})), "It says hi.", settings=local())

        await bot.hears(f"/mcp add lab {url}")

        assert "`lab` is added. Tools: " in bot.screen[-1]
        assert bot.made.base.servers.origin().sources == ("server:lab",), "nobody has approved that yet"
        await bot.channel.presses("View")
        await bot.app.settled()
        while "Approved" not in bot.screen[-1]:
            await bot.channel.presses("Approve")
            await bot.app.settled()
        assert bot.made.base.servers.origin() == CLEAN
        await bot.hears("say hi")
        assert "lab_echo" in {tool.name for tool in bot.llm.requests[-1].tools}
        assert bot.screen[-1] == "It says hi."


async def test_it_is_there_after_a_restart_until_it_is_removed(start_bot: StartBot) -> None:
    async with over_http() as (url, _):
        bot = await start_bot("Hello.", "Hello again.", settings=local())
        await bot.hears(f"/mcp add lab {url}")
        await bot.restart()
        await until(lambda: bool(list(bot.made.agents.parts.others())))
        await bot.hears("hello")
        assert "lab_echo" in {tool.name for tool in bot.llm.requests[-1].tools}

        await bot.hears("/mcp rm lab")
        await bot.hears("hello")

        assert "lab_echo" not in {tool.name for tool in bot.llm.requests[-1].tools}
        await bot.hears("/mcp rm lab")
        assert "No server `lab` was added in a chat." in bot.screen[-1]


async def test_without_the_plugin_its_servers_are_left(start_bot: StartBot) -> None:
    async with over_http() as (url, _):
        bot = await start_bot("Hello.", settings=local())
        await bot.hears(f"/mcp add lab {url}")

        await bot.restart(plugins=())
        await bot.hears("hello")

        assert "lab_echo" not in {tool.name for tool in bot.llm.requests[-1].tools}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("lab", "adds one"),
        ("lab ftp://lab.example/mcp", "no address of an MCP server"),
        ("lab https://ann:secret@lab.example/mcp", "no address of an MCP server"),
        ("lab http://lab.example/mcp", "must begin with https://"),
        ("lab http://127.0.0.1:8000/mcp", "A server of a private network"),
        ("lab https://127.0.0.1:8000/mcp", "A server of a private network"),
        ("lab https://localhost/mcp", "A server of a private network"),
        ("lab https://[::ffff:10.0.0.1]/mcp", "A server of a private network"),
        ("lab https://169.254.169.254/mcp", "A server of a private network"),
        ("add https://lab.example/mcp", "cannot be the name"),
        ("la_b https://lab.example/mcp", "cannot be the name"),
    ],
)
async def test_what_cannot_be_a_server_is_refused_with_the_reason(start_bot: StartBot, words: str, said: str) -> None:
    bot = await start_bot()

    await bot.hears(f"/mcp add {words}")

    assert said in bot.screen[-1]
    assert bot.made.base.servers.added == {}


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f.0.0.1"])
async def test_what_leads_to_a_private_address_is_not_connected_to(start_bot: StartBot, host: str) -> None:
    """These are no addresses as they are written: they are looked up as names, and lead to this machine."""
    came: list[str] = []

    async def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append("somebody")
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        bot = await start_bot()

        await bot.hears(f"/mcp add lab https://{host}:{port}/mcp")

        assert f"{host}:{port} has a private or special address" in bot.screen[-1]
        assert came == []


async def test_only_owners_add_servers(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/role memory:bob admin")

    await bot.hears("/mcp add lab https://lab.example/mcp", sender="bob")

    assert "Only an owner can add MCP servers" in bot.screen[-1]


async def test_a_server_that_cannot_be_reached_is_kept_and_told(start_bot: StartBot) -> None:
    bot = await start_bot(settings=local())

    await bot.hears("/mcp add lab http://127.0.0.1:9/mcp")

    assert "`lab` is added, and cannot be used yet: `127.0.0.1:9 cannot be reached`." in bot.screen[-1]
    await bot.hears("/mcp")
    assert "- `lab`, `http://127.0.0.1:9/mcp`: `127.0.0.1:9 cannot be reached`" in bot.screen[-1]


@beside("privacy")
async def test_an_added_server_is_named_where_words_may_go(start_bot: StartBot) -> None:
    bot = await start_bot(settings=local())
    await bot.hears("/mcp add lab http://127.0.0.1:9/mcp")

    await bot.hears("/privacy")

    assert "lab" in bot.screen[-1]


async def test_a_name_of_the_settings_is_taken(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(approved=approved_in(tmp_path))

    await bot.hears("/mcp add words https://words.example/mcp")

    assert "There is a server `words` already." in bot.screen[-1]


async def test_a_server_of_the_settings_takes_the_place_of_an_added_one_of_its_name(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start_bot(approved=approved_in(tmp_path))
    await bot.made.base.store.chat_settings.set(EVERYWHERE, "mcp.words", '{"url": "https://other.example/mcp"}', "ann")

    await bot.made.base.servers.refresh()

    assert bot.made.base.servers.added == {}


async def test_a_key_in_the_address_of_a_server_is_not_shown(start_bot: StartBot) -> None:
    bot = await start_bot(settings=local())
    key = "s3cr3t-" * 4
    await bot.hears(f"/mcp add lab http://127.0.0.1:9/{key}/mcp?api_key={key}")

    await bot.hears("/mcp", group="team")

    assert "- `lab`, `http://127.0.0.1:9/…/mcp?…`: " in bot.screen[-1]
    assert key not in bot.screen[-1]


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    made = Nodes(tmp_path, url_of(tmp_path))
    async with made.life:
        yield made


def offers(bot: Bot, tool: str) -> bool:
    return any(each.name == tool for each in bot.made.agents.parts.others())


async def test_every_node_has_what_one_added(nodes: Nodes) -> None:
    async with over_http() as (url, _):
        for _ in range(2):
            await nodes.start(plugins=(McpPlugin,), settings=local())

        await nodes.bots[0].hears(f"/mcp add lab {url}")

        for bot in nodes.bots:
            await until(partial(offers, bot, "lab_echo"))
        await nodes.bots[0].hears("/mcp rm lab")
        await until(lambda: not any(offers(bot, "lab_echo") for bot in nodes.bots))
