"""However a command is spelt, written or pressed, its author needs the right to it."""

from collections.abc import Callable

import pytest

from channels.base import ButtonPressed, MessageReceived
from channels.memory import Reply, user
from gateway.runs.chat_models import THINKING
from gateway.store.chat_settings import EVERYWHERE
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import rows

SPELLINGS: list[Callable[[str], str]] = [
    lambda words: f"/{words}",
    lambda words: f"/{words.title()}",
    lambda words: f"/{words.upper()}",
    lambda words: "/" + words.replace(" ", "  "),
    lambda words: "/" + words.replace(" ", "\t", 1),
    lambda words: "/" + words.replace(" ", "\n", 1),
    lambda words: "/" + words.replace(" ", "\u00a0"),
    lambda words: "/" + words.replace(" ", "@memory ", 1),
    lambda words: f"/{words}\u200b",
    lambda words: f"\u200b/{words}",
    lambda words: f" /{words}",
    lambda words: f"//{words}",
    lambda words: f"!{words}",
    lambda words: f"\uff0f{words}",
    lambda words: f"`/{words}`",
    lambda words: f"```\n/{words}\n```",
    lambda words: f"> /{words}",
]
JOB = "cron add every day at 9:00 look at the sales"
FACT = "memory add We meet on Mondays"
FOR_ALL = "think high everywhere"


async def changed(bot: Bot) -> bool:
    """Return True if anything of what these commands change was changed."""
    store = bot.made.base.store
    facts = await bot.made.files.memories.of(bot.channel.chat(group="team"), "gus").facts()
    return bool(rows(bot.home, "SELECT id FROM jobs") or facts or await store.chat_settings.at(EVERYWHERE, THINKING))


async def team(start_bot: StartBot) -> Bot:
    bot = await start_bot(*["Well."] * 60)
    await bot.hears("/role memory:gus guest")
    return bot


@pytest.mark.parametrize("words", [JOB, FACT, FOR_ALL])
async def test_an_owner_gets_what_these_commands_are_for(start_bot: StartBot, words: str) -> None:
    bot = await team(start_bot)
    await bot.hears(f"/{words}", group="team")

    assert await changed(bot)


@pytest.mark.parametrize("words", [JOB, FACT, FOR_ALL])
async def test_a_guest_gets_nothing_by_another_spelling(start_bot: StartBot, words: str) -> None:
    bot = await team(start_bot)
    for spelt in SPELLINGS:
        await bot.hears(spelt(words), sender="gus", group="team")
        assert not await changed(bot), spelt(words)


@pytest.mark.parametrize("words", [JOB, FACT, FOR_ALL])
async def test_nor_by_a_quotation_an_edit_a_button_or_what_others_wrote(start_bot: StartBot, words: str) -> None:
    bot = await team(start_bot)
    said = f"/{words}"
    await bot.channel.hears("yes", sender="gus", group="team", reply=Reply(quoted=f"Ann: {said}"))
    await bot.channel.hears("hello", sender="gus", group="team")
    await bot.app.settled()
    last = [each for each in bot.channel.heard if isinstance(each, MessageReceived)][-1]
    await bot.channel.changes(last, said)
    passed_on = {"event_id": "on", "message_id": "on", "text": "", "shared": f"Forwarded from Ann:\n{said}"}
    await bot.channel.deliver(last.model_copy(update=passed_on))
    await bot.channel.deliver(
        ButtonPressed(
            event_id="forged",
            chat=bot.channel.chat(group="team"),
            sender=user("gus"),
            at=last.at,
            message_id=last.message_id,
            action=said,
        )
    )
    await bot.app.settled()

    assert not await changed(bot)


async def test_an_owners_edit_makes_no_command_of_a_message(start_bot: StartBot) -> None:
    bot = await team(start_bot)
    await bot.hears("hello", group="team")
    last = [each for each in bot.channel.heard if isinstance(each, MessageReceived)][-1]
    await bot.channel.changes(last, f"/{JOB}")
    await bot.app.settled()

    assert not await changed(bot)
