"""Whoever loses the right to sign in to servers uses no account of theirs there any more."""

from collections.abc import AsyncIterator

import pytest

from agent_core.tools.tool import ToolContext, ToolEnvironment, ToolFailed
from tests.gateway.conftest import StartBot
from tests.plugins.mcp.sign_in_server import SignInServer, sign_in_server
from tests.plugins.mcp.test_signing_in import added, signs_in


@pytest.fixture
async def garden() -> AsyncIterator[SignInServer]:
    async with sign_in_server() as server:
        yield server


async def test_a_call_for_somebody_without_the_right_is_refused(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden, each=True)
    await bot.hears("/allow memory:eve")
    await signs_in(bot, garden, "eve")
    accounts = bot.made.base.servers.accounts
    assert accounts is not None
    context = ToolContext("1", ToolEnvironment("s", bot.home, str(bot.channel.chat("eve")), "eve"))
    assert accounts.who_asks("garden", context) == "memory:eve"

    await bot.hears("/role memory:eve guest")

    with pytest.raises(ToolFailed, match="may not sign in"):
        accounts.who_asks("garden", context)
