"""The command /usage over a store on PostgreSQL."""

import pytest

from tests.gateway.bot_on_postgres import start_bot_on_postgres  # noqa: F401 - `start_bot`
from tests.gateway.conftest import StartBot


@pytest.mark.parametrize("command", ["/usage", "/usage here"])
async def test_what_was_used_is_told_of_one_account_or_of_several(start_bot: StartBot, command: str) -> None:
    bot = await start_bot("Good morning.")

    await bot.hears("good morning")
    await bot.hears(command)

    assert "1 call, " in "\n".join(bot.screen)
