"""One person who edits without end, or gives command after command, holds up nobody else in the chat."""

import asyncio
from datetime import timedelta
from itertools import count

from agent_core.messages import UserMessage
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Turn, Waits
from channels.limits import Limits
from channels.memory import NO_PACE, MemoryChannel
from gateway.chat.run_pace import BURST, MOST_COMMANDS
from tests.clock import HandClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_edited_prompt import heard_by_the_model, sent

SLOW = Limits(max_text=4_000, edit_every=timedelta(seconds=1), edit_every_in_groups=timedelta(seconds=3))
"""The pace of Telegram: in a group, a message every three seconds."""


def slow_for_bob(request: LlmRequest) -> Turn:
    """Answer everybody at once, and Bob never."""
    last = [each for each in request.messages if isinstance(each, UserMessage)][-1]
    return Waits(asyncio.Event()) if last.source == "Bob" else f"Yes, {last.source}."


async def carl_waits_behind_bob(start: StartBot) -> Bot:
    bot = await start(*[slow_for_bob] * 20, channel=MemoryChannel(limits=NO_PACE))
    await bot.channel.hears("weather in Oslo", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("are you there?", sender="carl", group="team")
    return bot


async def test_who_edits_a_message_again_and_again_passes_others_once(start_bot: StartBot) -> None:
    bot = await carl_waits_behind_bob(start_bot)
    for number in (1, 2):
        await bot.channel.changes(sent(bot, "weather in Oslo"), f"weather in Oslo on day {number}")
        await bot.channel.until(lambda: len(bot.llm.requests) > number)  # noqa: B023 - it is over before the next one
        assert ("Yes, Carl." in bot.screen) is False or number == 2

    await bot.channel.until(lambda: "Yes, Carl." in bot.screen)


async def bob_gives(bot: Bot, commands: int) -> None:
    for _ in range(commands):
        await bot.channel.hears("/help", sender="bob", group="team")


async def test_what_others_say_does_not_wait_until_the_platform_has_taken_the_replies_to_commands(
    start_bot: StartBot,
) -> None:
    bot = await start_bot("Yes.", channel=MemoryChannel(limits=SLOW), clock=HandClock())
    await bob_gives(bot, 8)

    await bot.channel.hears("are you there?", sender="carl", group="team")

    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    assert len(bot.screen) < 8


async def test_the_answer_to_another_stands_behind_few_replies_to_the_commands_of_one(start_bot: StartBot) -> None:
    clock = HandClock()
    bot = await start_bot("Yes.", channel=MemoryChannel(limits=SLOW), clock=clock)
    await bob_gives(bot, 40)
    await bot.channel.hears("are you there?", sender="carl", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    async with clock.going_on():
        await bot.channel.until(lambda: "Yes." in bot.screen)
        assert len(bot.screen) < SLOW.burst + MOST_COMMANDS + 4
        await bot.app.settled()

    assert sum(text.startswith("The main commands") for text in bot.screen) < SLOW.burst + MOST_COMMANDS + 2
    assert any("so I left out" in text for text in bot.screen)


async def test_whoever_has_given_too_many_still_stops_a_run(start_bot: StartBot) -> None:
    clock = HandClock()
    bot = await start_bot(Waits(asyncio.Event()), channel=MemoryChannel(limits=SLOW), clock=clock)
    await bot.channel.hears("weather in Oslo", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bob_gives(bot, 40)

    await bot.channel.hears("/stop", sender="bob", group="team")

    async with clock.going_on():
        await bot.channel.until(lambda: any("Stopped" in text for text in bot.screen))


async def test_an_owner_gives_as_many_commands_as_she_likes(start_bot: StartBot) -> None:
    clock = HandClock()
    bot = await start_bot(channel=MemoryChannel(limits=SLOW), clock=clock)
    for _ in range(MOST_COMMANDS + 5):
        await bot.channel.hears("/help", group="team")

    async with clock.going_on():
        await bot.app.settled()

    assert sum(text.startswith("The main commands") for text in bot.screen) == MOST_COMMANDS + 5


async def test_edits_without_end_hold_nobody_up(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", "Oslo.", "Yes, Carl.", channel=MemoryChannel(limits=NO_PACE))
    for words in ("hello", "weather in Oslo"):
        await bot.hears(words, sender="bob", group="team")
    is_over = asyncio.Event()

    async def edit() -> None:
        for number in count():
            await bot.channel.changes(sent(bot, "hello"), f"hello {number}")
            if is_over.is_set():
                break

    editing = asyncio.create_task(edit())
    await bot.channel.until(lambda: len(bot.channel.heard) > 50)
    await bot.channel.hears("are you there?", sender="carl", group="team")
    await bot.channel.until(lambda: "Yes, Carl." in bot.screen)
    is_over.set()
    await editing


async def test_after_too_many_edits_a_message_that_waits_still_has_the_last_words(start_bot: StartBot) -> None:
    released = asyncio.Event()
    bot = await start_bot(Waits(released, "Yes, Carl."), "Bergen.", channel=MemoryChannel(limits=NO_PACE))
    await bot.channel.hears("are you there?", sender="carl", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("weather in Oslo", sender="bob", group="team")
    for number in range(BURST + 5):
        await bot.channel.changes(sent(bot, "weather in Oslo"), f"weather in Bergen on day {number}")
    released.set()
    await bot.app.settled()

    assert heard_by_the_model(bot)[-1] == f"weather in Bergen on day {BURST + 4}"
