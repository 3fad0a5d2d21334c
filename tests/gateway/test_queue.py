"""/queue shows the messages that wait for their turn, and drops them for good."""

import asyncio

import pytest

from agent_core.messages import text_of
from agent_core.models.scripted import Waits
from channels.commands import Typed
from channels.memory import user
from gateway.permissions.roles import People
from tests.gateway.bot import PEOPLE, Bot
from tests.gateway.conftest import StartBot

pytestmark = pytest.mark.usefixtures("no_progress")

USAGE = "Write /queue to see what waits, /queue drop 17 to drop the message with that number, or /queue drop all."

WITH_DORA = People(owners=PEOPLE.owners, allow=PEOPLE.allow | {"memory:dora"})


async def busy(bot: Bot, *said: tuple[str, str]) -> None:
    """Have Bob's run go on in a group while others write."""
    await bot.channel.hears("a long story", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    for sender, words in said:
        await bot.channel.hears(words, sender=sender, group="team")


async def commanded(bot: Bot, words: str, *, sender: str = "carl") -> str:
    """Give a command in the group; return the newest message."""
    before = len(bot.screen)
    await bot.channel.hears(words, sender=sender, group="team")
    await bot.channel.until(lambda: len(bot.screen) > before and bot.made.events.handling.is_idle)
    return bot.screen[-1]


def asked(bot: Bot) -> str:
    """Return all words of all requests."""
    return "\n".join(text_of(message.content) for each in bot.llm.requests for message in each.messages)


def numbers(listed: str) -> list[str]:
    return [line.split("`")[1] for line in listed.splitlines() if line.startswith("- `")]


async def test_somebody_sees_and_drops_their_own_messages_only(wired_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await wired_bot(Waits(said, "The story."), "Sunny.", "Never said.", people=WITH_DORA)
    await busy(bot, ("dora", "dora's question"), ("carl", "the weather"), ("carl", "in <@U1> [Oslo](http://x)"))

    listed = await commanded(bot, "/queue")
    first, second = numbers(listed)
    assert "the weather" in listed
    assert "dora" not in listed
    assert r"\[Oslo\]" in listed
    dropped = await commanded(bot, f"/queue drop {second}")

    assert dropped.startswith("Dropped. I will not answer this message:")
    assert numbers(dropped) == [second, first]
    said.set()
    await bot.app.settled()
    assert "the weather" in asked(bot)
    assert "Oslo" not in asked(bot)


async def test_an_owner_drops_everything_and_a_restart_answers_none_of_it(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "The story.")
    await busy(bot, ("carl", "the weather"), ("carl", "in Oslo"))

    listed = await commanded(bot, "/queue", sender="ann")
    assert listed.count("Carl: ") == 2
    dropped = await commanded(bot, "/queue drop all", sender="ann")
    await bot.restart()
    await bot.app.settled()

    assert dropped.startswith("Dropped. I will not answer these 2 messages:")
    assert "the weather" not in asked(bot)
    assert "The story." in bot.screen


async def test_the_button_for_all_drops_what_was_shown_and_not_what_came_since(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "The story."), "It rains.")
    await busy(bot, ("carl", "the weather"), ("carl", "in Oslo"))
    await commanded(bot, "/queue", sender="ann")
    await bot.channel.hears("and in Rome", sender="carl", group="team")
    await bot.channel.presses("Drop all", sender="ann")
    await bot.channel.until(lambda: "I will not answer these 2 messages" in bot.screen[-1])
    said.set()
    await bot.app.settled()

    assert "Oslo" not in asked(bot)
    assert "and in Rome" in asked(bot)


async def test_the_buttons_drop_and_show_the_rest(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "The story."))
    await busy(bot, ("carl", "the weather"), ("carl", "in Oslo"))
    first, second = numbers(await commanded(bot, "/queue"))

    await bot.channel.presses(f"Drop {first}", sender="carl")
    await bot.channel.until(lambda: numbers(bot.screen[-1])[:1] == [first] and "Dropped." in bot.screen[-1])
    assert numbers(bot.screen[-1]) == [first, second]
    await bot.channel.presses(f"Drop {second}", sender="carl")
    await bot.channel.until(lambda: numbers(bot.screen[-1]) == [second])
    said.set()
    await bot.app.settled()

    assert "The story." in bot.screen
    assert "Oslo" not in asked(bot)


async def test_nobody_drops_the_message_of_another_or_one_that_is_being_answered(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "The story."), "Sunny.")
    await busy(bot, ("carl", "the weather"))
    (number,) = numbers(await commanded(bot, "/queue"))

    assert number in await commanded(bot, f"/queue drop {number}", sender="bob")
    said.set()
    await bot.app.settled()
    gone = await commanded(bot, f"/queue drop {number}")

    assert gone.startswith(f"No message with the number {number} waits here for you to drop")
    assert "Sunny." in bot.screen


async def test_words_given_to_the_run_do_not_wait(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "The story."), "With a dog.")
    await busy(bot, ("bob", "with a dog"))
    chat = bot.channel.chat("bob", group="team")
    await bot.channel.until(lambda: not bot.made.chats.sessions.of(chat).mail.has_arriving)

    assert await commanded(bot, "/queue", sender="bob") == "No messages are waiting here."
    said.set()
    await bot.app.settled()


@pytest.mark.parametrize("wrong", ["drop", "drop -1", "lots", "drop 1e309", "17", "drop 1 2", "drop ٣"])
async def test_wrong_words_are_answered_with_the_usage(start_bot: StartBot, wrong: str) -> None:
    bot = await start_bot()

    await bot.hears(f"/queue {wrong}")

    assert bot.screen == [USAGE]


async def test_an_empty_queue_is_told(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/queue")
    await bot.hears("/queue drop all", language="zh")

    assert bot.screen == ["No messages are waiting here.", "这里没有等待处理的消息。"]


async def test_the_numbers_of_the_messages_that_somebody_may_drop_are_offered(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "The story."), "Sunny.", "Well.", people=WITH_DORA)
    await busy(bot, ("dora", "dora's question"), ("carl", "the weather"))
    session = bot.made.chats.sessions.of(bot.channel.chat(group="team"))

    async def offers(sender: str, before: str = "drop") -> list[str]:
        typed = Typed(command="queue", option="n", text="", before=before)
        return [each.label for each in await bot.made.commands.table.suggest(session, user(sender), typed)]

    [own] = await offers("carl")
    assert own.endswith("the weather")
    assert len(await offers("ann")) == 2, "owners may drop all"
    assert await offers("carl", "all") == []
    said.set()
    await bot.app.settled()
