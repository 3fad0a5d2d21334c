"""Replies that are short first: *More* replaces them by their long form, for those who may read it."""

from pathlib import Path

import pytest

from agent_core.models.scripted import calls
from agent_core.tools.tool import tool
from gateway.texts.say import Language
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_skill_commands import library, write_skill


@tool()
async def look() -> str:
    """Look."""
    return "seen"


async def press(bot: Bot, button: str, sender: str = "ann") -> None:
    await bot.channel.presses(button, sender=sender)
    await bot.app.settled()


def many(tmp_path: Path) -> Path:
    folder = tmp_path / "skills"
    for number in range(9):
        write_skill(folder, f"skill-{number}")
    return folder


SHORT_AND_LONG = [
    ("/status", "**Now:** idle", "**This chat:**"),
    ("/config", "settings have their defaults", "- `keep_days` = 30 (the default)"),
    ("/skills", "Also: ", "**skill-8** – "),
    ("/help", "- /new – ", "- /language"),
]


@pytest.mark.parametrize(("command", "first", "more"), SHORT_AND_LONG)
async def test_more_replaces_the_short_reply_by_the_long_one(
    start_bot: StartBot, tmp_path: Path, command: str, first: str, more: str
) -> None:
    bot = await start_bot(calls(("look", {})), "Hi.", tools=[look], skills=library(many(tmp_path)))
    await bot.hears("hello")
    await bot.hears(command)
    count = len(bot.screen)
    short = bot.screen[-1]
    assert first in short
    assert more not in short

    await press(bot, "All commands" if command == "/help" else "More")

    [long] = [text for text in bot.screen if more in text]
    assert short not in bot.screen
    assert long == bot.screen[count - 1]
    assert not any(
        button.label == "More" for _, message in bot.channel.posts for row in message.buttons for button in row
    )


@pytest.mark.parametrize(("command", "first", "more"), SHORT_AND_LONG)
async def test_the_word_gives_the_long_form_at_once(
    start_bot: StartBot, tmp_path: Path, command: str, first: str, more: str
) -> None:
    bot = await start_bot("Hi.", tools=[look], skills=library(many(tmp_path)))
    await bot.hears("hello")
    await bot.hears(f"{command} more")

    assert any(more in text for text in bot.screen)


@pytest.mark.parametrize("command", [command for command, *_ in SHORT_AND_LONG])
async def test_a_menu_of_options_offers_the_word(start_bot: StartBot, command: str) -> None:
    bot = await start_bot()
    [spec] = [each for each in bot.made.commands.table.specs if f"/{each.name}" == command]
    assert any("more" in (*option.choices, *option.proposals) for option in spec.options)


@pytest.mark.parametrize(("language", "label"), [("en", "More"), ("zh", "更多")])
async def test_it_works_after_a_restart_and_in_both_languages(
    start_bot: StartBot, language: Language, label: str
) -> None:
    bot = await start_bot()
    await bot.hears(f"/language {language}")
    await bot.hears("/status")
    await bot.restart()
    await press(bot, label)

    assert "`memory:here:ann`" in bot.screen[-1]
    assert len(bot.screen) == 2


async def test_who_did_not_ask_gets_a_reply_of_their_own(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.")
    await bot.hears("/status", group="team")
    anns = bot.screen[-1]
    await press(bot, "More", sender="bob")

    assert bot.screen[-2] == anns
    assert "**This chat:**" in bot.screen[-1]
    assert "**Storage:**" not in bot.screen[-1]  # for owners

    await press(bot, "More")
    assert "**Storage:**" in bot.screen[-2]


async def test_a_search_that_no_button_can_hold_is_answered_in_full(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(skills=library(many(tmp_path)))
    await bot.hears("/skills " + "skill " * 20)

    assert "**skill-8** – " in bot.screen[-1]


async def test_settings_that_are_not_at_their_defaults_are_told_first(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/config set keep_days 60")
    await bot.hears("/config")

    assert "- `keep_days` = 60 (set in a chat by" in bot.screen[-1]
    assert bot.screen[-1].count("\n- ") == 1


async def test_the_word_is_no_command_to_others(start_bot: StartBot) -> None:
    bot = await start_bot("One.")
    await bot.hears("/config set ai_name more")
    assert "`ai_name` is more now" in bot.screen[-1]
