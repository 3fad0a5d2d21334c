"""`parley doctor` looks at the servers that owners have added, without changing anything."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from channels.checkup import Finding, note, ok, problem
from gateway.app.doctor import own_findings
from gateway.plugins.mcp.plugin import McpPlugin
from gateway.plugins.mcp.settings import McpSettings
from gateway.settings.settings import Settings
from gateway.texts.findings import finding_in
from tests.emulators.sign_in_server import SignInServer, sign_in_server
from tests.gateway.admin.desk import admin_world
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.plugins.mcp.serving import local
from tests.plugins.mcp.test_signing_in import added, approves, signs_in
from tests.postgres import UrlOf

NEW = note("MCP server garden: tools that are not approved as they are now: 1", "an owner looks with /mcp garden")


@pytest.fixture
async def garden() -> AsyncIterator[SignInServer]:
    async with sign_in_server() as server:
        yield server


async def findings(bot: Bot, **how: object) -> Sequence[Finding]:
    """Return what the doctor finds, and that it has words for it in Chinese."""
    given = {"home": bot.home, "plugin": {"mcp": McpSettings(local=True)}, **how}
    found = await own_findings(Settings.model_validate(given))
    ours = [each for each in found if "127.0.0.1" not in each.what]  # and no trouble as for any server
    for words in filter(None, (words for each in ours for words in (each.what, each.fix))):
        assert finding_in(words, "zh") != words
    return list(found)


async def test_a_shared_server_from_its_addition_to_its_end(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden)
    asks = problem("MCP server garden asks for a sign-in", "an owner signs in with /mcp in garden")
    assert await findings(bot) == [asks]

    await signs_in(bot, garden)
    assert await findings(bot) == [ok("MCP server garden: 1 tool"), NEW]
    await approves(bot)
    assert await findings(bot) == [ok("MCP server garden: 1 tool")]

    garden.end_access()
    ended = ok("MCP server garden answers; its access has ended, and is renewed with the next call")
    assert await findings(bot) == [ended]
    assert garden.renewals == 0, "a refresh token is good once, and for Parley itself"

    garden.fails.add("/mcp")
    [broken] = await findings(bot)
    assert broken.mark == "problem"
    assert await findings(bot, plugins_off=frozenset({"mcp"})) == []


async def test_a_server_for_each_and_one_that_lets_nobody_in_any_more(
    start_bot: StartBot, garden: SignInServer
) -> None:
    bot = await added(start_bot, garden, each=True)
    nobody = note("MCP server garden answers, and nobody has signed in to it", "people do with /mcp in garden")
    assert await findings(bot) == [nobody]

    await signs_in(bot, garden)
    garden.end_access()
    garden.refuses_renewal = True
    servers = bot.made.base.servers
    assert servers.accounts is not None
    access = servers.accounts.access("garden", servers.added["garden"], "memory:ann")
    assert await access.renewed(await access.token()) == ""

    [refused] = await findings(bot)
    assert refused.what.startswith("MCP server garden does not let in who has signed in any more: ")


async def test_one_that_cannot_be_reached_and_none_at_all(start_bot: StartBot, tmp_path: Path) -> None:
    assert await own_findings(Settings(home=tmp_path / "none")) == ()
    bot = await start_bot(settings={"plugin": {"mcp": McpSettings(local=True)}})
    assert await findings(bot) == []

    await bot.hears("/mcp add lab http://127.0.0.1:9/mcp")

    assert [each.what for each in await findings(bot)] == ["MCP server lab: 127.0.0.1:9 cannot be reached"]


async def test_the_servers_of_a_shared_database(
    start_bot: StartBot, garden: SignInServer, url_of: UrlOf, tmp_path: Path
) -> None:
    bot = await added(start_bot, garden, database=url_of(tmp_path), plugins=(McpPlugin,))
    await signs_in(bot, garden)

    assert await findings(bot, database_url=url_of(tmp_path)) == [ok("MCP server garden: 1 tool"), NEW]


async def test_the_page_tells_what_it_finds_in_chinese(
    tmp_path: Path, garden: SignInServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLEY_PLUGIN_MCP_LOCAL", "on")
    async with admin_world(tmp_path, settings=local()) as world, world.client() as client:
        await world.bot.hears(f"/mcp add garden {garden.url}")
        async with client.get("/admin/health?check=1", headers={"Accept-Language": "zh-CN"}) as answer:
            text = await answer.text()

    assert "MCP 服务器 garden 要求登录" in text
    assert "请所有者用 /mcp in garden 登录" in text
