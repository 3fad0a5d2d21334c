"""Reactions are switched on and off in the files, under their former name too, and in a chat."""

from pathlib import Path

import pytest

from channels.base import ChannelError
from gateway.plugins.reactions.reactions import DONE, HEARD
from gateway.plugins.reactions.settings import ReactionsSettings
from gateway.settings.settings import load_settings
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.plugins.reactions.reacting import ON, Reacting, reacting


def is_on(bot: Bot) -> bool:
    return bot.made.base.current.of(ReactionsSettings).on


@pytest.mark.parametrize(
    ("name", "warnings"), [("PARLEY_PLUGIN_REACTIONS_ON", 0), ("PARLEY_REACTIONS", 1)], ids=["now", "formerly"]
)
async def test_they_are_switched_on_in_the_files(start_bot: StartBot, tmp_path: Path, name: str, warnings: int) -> None:
    loaded = load_settings({"PARLEY_HOME": str(tmp_path), name: "on"}, tmp_path)

    assert is_on(await start_bot(loaded=loaded))
    assert len(loaded.warnings) == warnings


@pytest.mark.parametrize("name", ["plugin.reactions_on", "reactions"])
async def test_they_are_switched_on_and_off_in_a_chat(start_bot: StartBot, name: str) -> None:
    bot = await start_bot("Oslo.", "Bergen.", "Rome.", channel=Reacting())

    await bot.hears("to Oslo")
    await bot.hears(f"/config set {name} on")
    await bot.hears("to Bergen")
    await bot.hears(f"/config set {name} off")
    await bot.hears("to Rome")

    assert [reacting(bot).on(f"to {place}") for place in ("Oslo", "Bergen", "Rome")] == [set(), {DONE}, set()]


async def test_a_value_that_is_none_is_refused(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/config set reactions maybe")

    assert "`maybe` is no value for `plugin.reactions_on`, which takes on or off." in bot.screen[-1]


async def test_where_the_platform_refuses_them_the_answer_comes_all_the_same(start_bot: StartBot) -> None:
    bot = await start_bot("Oslo.", channel=Reacting(), settings=ON)
    reacting(bot).refuses = ChannelError("not allowed here", permanent=True)

    await bot.hears("to Oslo")

    assert bot.screen == ["Oslo."]
    assert await bot.made.base.store.owed.left() == []
    assert not bot.made.base.system.plugins.failures.of("reactions")
    assert HEARD not in reacting(bot).on("to Oslo")
