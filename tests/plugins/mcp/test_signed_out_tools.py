"""The tools of a server that asks for a sign-in are there for as long as somebody is signed in."""

from collections.abc import AsyncIterator

import pytest

from tests.emulators.sign_in_server import SignInServer, sign_in_server
from tests.gateway.conftest import StartBot
from tests.plugins.mcp.test_signing_in import added, signs_in


@pytest.fixture
async def garden() -> AsyncIterator[SignInServer]:
    async with sign_in_server() as server:
        yield server


async def test_once_everybody_is_signed_out_its_tools_are_gone_until_somebody_signs_in(
    start_bot: StartBot, garden: SignInServer
) -> None:
    bot = await added(start_bot, garden, "Hello.", "Hello again.")
    await signs_in(bot, garden)
    assert "garden_water" in {each.name for each in bot.made.base.servers.offered()}

    await bot.hears("/mcp out garden")
    await bot.hears("hello")

    assert "garden_water" not in {each.name for each in bot.llm.requests[-1].tools}
    await signs_in(bot, garden)
    await bot.hears("hello again")
    assert "garden_water" in {each.name for each in bot.llm.requests[-1].tools}
