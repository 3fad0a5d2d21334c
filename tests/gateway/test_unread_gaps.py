"""Messages wait for a history that cannot be read at once, and owners are told of it."""

import asyncio
import time
from collections.abc import Callable
from functools import partial

from channels.base import ChannelError
from gateway.app.gap_reader import GATHER, LONGEST_DELAY
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.kit import Calendar
from tests.gateway.remembering import RememberingChannel
from tests.gateway.test_catch_up import ANN, BOB, heard, talked


def now_calendar() -> Calendar:
    """Return a clock that stands at this moment, by which the platform dates messages too."""
    clock = Calendar()
    clock.move_to(time.time())
    return clock


async def passes(clock: Calendar, so: Callable[[], bool]) -> None:
    """Let time pass in steps until it is so."""
    async with asyncio.timeout(30):
        while not so():
            clock.advance(1)
            await asyncio.sleep(0.02)


def _has_read(channel: RememberingChannel, count: int) -> bool:
    return len(channel.read) >= count and not channel.refusals


async def test_a_person_who_waits_for_a_gap_sees_typing(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    clock = now_calendar()
    bot = await start_bot("One.", "Two.", channel=channel, clock=clock)
    await talked(bot, channel)
    before = len(channel.calls)

    channel.open.clear()
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)
    await channel.brings(channel.writes("are you there?"))
    assert len(channel.calls) == before
    await passes(clock, lambda: any(call.kind == "typing" for call in channel.calls[before:]))
    channel.open.set()

    await channel.until(lambda: bot.screen[-1] == "Two.")


async def test_where_it_takes_a_minute_the_chat_is_answered_and_owners_are_told(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    channel.reachable = {"ann"}
    clock = now_calendar()
    bot = await start_bot("For Bob.", "Now.", "Later.", channel=channel, clock=clock)
    await talked(bot, channel, ["bob"])

    channel.open.clear()
    channel.writes("what I missed", sender="bob")
    channel.reconnect()
    await channel.until(lambda: BOB in channel.read)
    await channel.brings(channel.writes("what I say now", sender="bob"))
    await passes(clock, lambda: any("not read within 60 s" in words for words in bot.screen))
    await channel.until(lambda: "Now." in bot.screen)
    channel.open.set()
    await channel.until(lambda: "Later." in bot.screen)

    assert heard(bot) == ["hello", "what I say now", "what I missed"]


async def test_a_history_that_is_closed_is_told_once_and_its_chat_is_answered(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    channel.reachable = {"ann"}
    clock = now_calendar()
    bot = await start_bot("For Bob.", "Now.", channel=channel, clock=clock)
    await talked(bot, channel, ["bob"])

    for _ in range(2):
        channel.refusals = [ChannelError("no scope", permanent=True)]
        read = len(channel.read)
        channel.reconnect()
        await channel.until(partial(_has_read, channel, read + 1))
    await channel.brings(channel.writes("what I say now", sender="bob"))
    await channel.until(lambda: "Now." in bot.screen)
    clock.advance(GATHER)
    await channel.until(lambda: any("no scope" in words for words in bot.screen))
    await bot.app.settled()

    assert sum("no scope" in words for words in bot.screen) == 1


async def test_a_history_that_cannot_be_read_now_is_read_later(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    clock = now_calendar()
    bot = await start_bot("First.", "Late.", channel=channel, clock=clock)
    await talked(bot, channel)
    before = len(channel.read)

    channel.refusals = [ChannelError("not now"), ChannelError("too fast", retry_after=1), ChannelError("not now")]
    channel.writes("are you there?")
    channel.reconnect()
    for tries in range(3):
        await channel.until(partial(_has_read, channel, before + tries + 1))
        clock.advance(LONGEST_DELAY)

    await channel.until(lambda: bot.screen[-1] == "Late.")
    assert channel.read == [ANN] * 4
