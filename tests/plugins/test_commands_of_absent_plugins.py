"""A command of a plugin that is not loaded is answered with what an owner has to do, and others are told to ask one."""

import pytest

from tests.gateway.conftest import StartBot
from tests.plugins.packages import Packages
from tests.plugins.test_plugins_command import FULL, begun


async def test_a_command_of_a_changed_plugin_says_what_waits_to_owners_only(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")
    await bot.stop()
    packages.install(FULL, version="1.1")
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/roll")
    assert "/roll is a command of the plugin dice" in bot.screen[-1]
    assert "waits for your approval" in bot.screen[-1]
    assert "/plugins dice" in bot.screen[-1]
    await bot.hears("/help roll")
    assert bot.screen[-1] == bot.screen[-2]

    await bot.hears("/roll", sender="bob")
    assert bot.screen[-1] == "/roll cannot be used at the moment. An owner of this Parley can change that."
    await bot.hears("/roll", language="zh")
    assert "等待您批准" in bot.screen[-1]

    await bot.hears("/plugins approve dice")
    await bot.hears("/roll")
    assert "dice, which is approved, and loaded at the next start of Parley" in bot.screen[-1]


async def test_one_that_was_never_loaded_here_is_known_by_its_own_name(start_bot: StartBot, packages: Packages) -> None:
    packages.install(FULL.replace('"roll"', '"dice"'))
    (packages.home / "plugins.json").write_text("damaged")  # no plugin is approved by itself then
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/dice")

    assert "waits for your approval" in bot.screen[-1]


async def test_one_of_a_plugin_that_is_off_says_what_switches_it_on(start_bot: StartBot, packages: Packages) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")
    await bot.stop()
    bot = await begun(start_bot, packages, "dice", off=("dice",))

    await bot.hears("/roll")
    assert "PARLEY_PLUGINS_OFF" in bot.screen[-1]
    await bot.hears("/roll", sender="bob")
    assert bot.screen[-1] == "/roll cannot be used at the moment. An owner of this Parley can change that."


async def test_one_of_a_plugin_that_is_left_out_says_where_the_reason_is(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")
    await bot.stop()
    packages.install(FULL)
    (packages.folder / "parley_dice.py").unlink()
    bot = await begun(start_bot, packages, "dice")

    await bot.hears("/roll")

    assert "/roll is a command of the plugin dice, which is left out" in bot.screen[-1]
    assert "/plugins dice" in bot.screen[-1]


async def test_one_that_no_plugin_of_the_settings_has_is_unknown(start_bot: StartBot, packages: Packages) -> None:
    packages.install(FULL)
    bot = await begun(start_bot, packages, "dice")
    await bot.stop()
    bot = await begun(start_bot, packages)

    await bot.hears("/roll")

    assert "Unknown command /roll" in bot.screen[-1]


@pytest.mark.parametrize("kept", ["", '{"approved": {}, "commands": {"dice": "roll"}}'])
async def test_a_damaged_file_of_names_does_not_keep_parley_from_starting(
    start_bot: StartBot, packages: Packages, kept: str
) -> None:
    (packages.home / "plugins.json").write_text(kept)
    bot = await begun(start_bot, packages, off=("dice",))

    await bot.hears("/dice")

    assert "/dice is a command of the plugin dice, which is switched off" in bot.screen[-1]
