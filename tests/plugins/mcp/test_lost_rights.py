"""Whoever loses the right to sign in to servers uses no account of theirs there any more, and is signed out."""

from collections.abc import AsyncIterator

import pytest

from agent_core.tools.tool import ToolContext, ToolEnvironment, ToolFailed
from gateway.plugins.mcp.accounts import ServerAccounts
from gateway.plugins.mcp.losing import LostRights
from tests.emulators.sign_in_server import SignInServer, sign_in_server
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel
from tests.plugins.mcp.test_signing_in import accounts_of, added, signs_in
from tests.process import until

GONE = "I do not use your account at `garden` any more"
NOBODY = "had signed in to `garden` for everybody, and is no owner any more"


def last_of(bot: Bot, who: str) -> str:
    return bot.channel.screen_of(bot.channel.chat(who))[-1]


@pytest.fixture
async def garden() -> AsyncIterator[SignInServer]:
    async with sign_in_server() as server:
        yield server


async def both_signed_in(start_bot: StartBot, garden: SignInServer) -> Bot:
    bot = await added(start_bot, garden, each=True)
    await bot.hears("/allow memory:eve")
    for who in ("ann", "eve"):
        await signs_in(bot, garden, who)
    return bot


async def test_a_call_for_somebody_without_the_right_is_refused(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await both_signed_in(start_bot, garden)
    accounts = bot.made.base.servers.accounts
    assert accounts is not None
    context = ToolContext("1", ToolEnvironment("s", bot.home, str(bot.channel.chat("eve")), "eve"))
    assert accounts.who_asks("garden", context) == "memory:eve"

    await bot.hears("/role memory:eve guest")

    with pytest.raises(ToolFailed, match="may not sign in"):
        accounts.who_asks("garden", context)


@pytest.mark.parametrize("lost", ["/role memory:eve guest", "/block memory:eve", "/role memory:eve none"])
async def test_whoever_loses_the_right_is_signed_out_and_others_are_not(
    start_bot: StartBot, garden: SignInServer, lost: str
) -> None:
    bot = await both_signed_in(start_bot, garden)

    await bot.hears(lost)
    async with bot.on_duty():
        await until(lambda: [person for _, person in accounts_of(bot)] == ["memory:ann"])
        await until(lambda: len(garden.access) == 1)


async def test_an_owner_who_is_none_any_more_is_signed_out_for_everybody_and_owners_are_asked(
    start_bot: StartBot, garden: SignInServer
) -> None:
    channel = RememberingChannel()
    channel.reachable.add("ann")
    bot = await added(start_bot, garden, channel=channel)
    await bot.hears("/role memory:bob owner")
    await signs_in(bot, garden, "bob")

    await bot.hears("/role memory:bob member")
    async with bot.on_duty():
        await until(lambda: accounts_of(bot) == [])
        await until(lambda: garden.access == {})
        await bot.channel.until(lambda: last_of(bot, "bob").startswith(GONE))
        await bot.channel.until(lambda: NOBODY in last_of(bot, "ann"))
    assert not any(NOBODY in each for each in bot.channel.screen_of(bot.channel.chat("bob")))
    await signs_in(bot, garden)
    assert accounts_of(bot) == [("garden", "")]


async def test_whoever_is_an_owner_still_stays_signed_in_for_everybody(
    start_bot: StartBot, garden: SignInServer
) -> None:
    bot = await added(start_bot, garden)
    await signs_in(bot, garden)
    accounts = bot.made.base.servers.accounts
    assert isinstance(accounts, ServerAccounts)
    lost = LostRights(bot.made.plugins[0].core, accounts)

    await lost.end()

    assert accounts_of(bot) == [("garden", "")]


async def test_whoever_is_blocked_is_told_nothing(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await both_signed_in(start_bot, garden)
    await bot.hears("/block memory:eve")

    async with bot.on_duty():
        await until(lambda: [person for _, person in accounts_of(bot)] == ["memory:ann"])
        await bot.app.settled()

    assert not any(GONE in each for each in bot.screen)
