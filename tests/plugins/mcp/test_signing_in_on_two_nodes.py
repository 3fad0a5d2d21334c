"""A sign-in holds on all nodes, wherever it was begun, ended or renewed."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import pytest

from agent_core.mcp.access import Access
from agent_core.tools.tool import ToolFailed
from gateway.plugins.mcp.plugin import McpPlugin
from tests.agent_core.mcp.serving import context
from tests.emulators.sign_in_server import SignInServer, comes_back, says, sign_in_server
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.plugins.mcp.serving import local
from tests.plugins.mcp.test_signing_in import PATH, address_in
from tests.postgres import UrlOf
from tests.process import until


@pytest.fixture
async def garden() -> AsyncIterator[SignInServer]:
    async with sign_in_server() as server:
        yield server


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf, garden: SignInServer) -> AsyncIterator[Nodes]:
    """Two nodes that have added the server; somebody has signed in, which began on one and ended on the other."""
    made = Nodes(tmp_path, url_of(tmp_path))
    async with made.life:
        for _ in range(2):
            await made.start(plugins=(McpPlugin,), settings=local())
        first, second = made.bots
        await first.hears(f"/mcp add garden {garden.url}")
        await until(lambda: "garden" in second.made.base.servers.added)
        await until(partial(asks_sign_in, second))
        await first.hears("/mcp in garden")
        garden.who = "ann"
        brought = await comes_back(address_in(first.screen[-1]))
        done = await second.requests(PATH, "POST", urlencode(brought).encode())
        assert done.status == 200
        assert (await first.requests(PATH, "POST", urlencode(brought).encode())).status == 404, (
            "it is worth one sign-in"
        )
        await made.settled()
        for bot in made.bots:
            await until(partial(offers, bot))
        yield made


def asks_sign_in(bot: Bot) -> bool:
    trouble = bot.made.base.servers.trouble("garden")
    return trouble is not None and trouble.asks_sign_in


def offers(bot: Bot) -> bool:
    return any(each.name == "garden_water" for each in bot.made.base.servers.offered())


def access_on(bot: Bot) -> Access:
    servers = bot.made.base.servers
    assert servers.accounts is not None
    return servers.accounts.access("garden", servers.added["garden"], "")


async def test_it_is_told_once_and_used_on_both(nodes: Nodes, garden: SignInServer) -> None:
    told = "`garden` can be used now. Tools: 1."
    await until(lambda: any(told in each for each in nodes.sent()))
    await nodes.settled()
    assert sum(told in each for each in nodes.sent()) == 1
    for bot in nodes.bots:
        tool = next(iter(bot.made.base.servers.offered()))
        result = await tool.execute(tool.validate({"plant": "fern"}), context())
        assert "ann waters the fern" in str(result.content)


async def test_a_sign_out_on_one_is_felt_on_the_other(nodes: Nodes, garden: SignInServer) -> None:
    first, second = nodes.bots
    assert await access_on(second).token()

    await first.hears("/mcp out garden")

    assert await access_on(second).token() == ""
    assert not garden.access
    await until(lambda: not any(map(offers, nodes.bots)))


async def test_one_of_them_renews(nodes: Nodes, garden: SignInServer) -> None:
    first, second = map(access_on, nodes.bots)
    token = await first.token()
    garden.end_access()

    renewed = await asyncio.gather(*(each.renewed(token) for each in (first, second) * 3))

    assert set(renewed) == set(garden.access)
    assert len(garden.access) == garden.renewals == 1
    assert await first.token() == await second.token() == renewed[0]


async def test_what_fails_later_is_no_lack_of_a_sign_in_where_it_was_asked_for_before(
    nodes: Nodes, garden: SignInServer
) -> None:
    """Each node was refused before somebody signed in, and only one of them hears of that by itself."""
    garden.answers["/mcp"] = says(error="out of order")
    for bot in nodes.bots:
        tool = next(iter(bot.made.base.servers.offered()))
        with pytest.raises(ToolFailed) as caught:
            await tool.execute(tool.validate({"plant": "fern"}), context())
        assert "sign-in" not in caught.value.fact
