"""The program is killed at any step of a message that was held during quiet hours: it is said and recorded once."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

import pytest

from channels.base import AccountRefused, ChannelError
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.job import DeliveryState, Report
from gateway.store.opening import FILE, migrations
from gateway.store.rule import Cron
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, Calendar, TimedBot, a_job, make_timed_bot, moment
from tests.gateway.jobs.speaking import noted
from tests.gateway.jobs.test_any_step import copy, killed
from tests.gateway.jobs.test_digest import sleeps
from tests.gateway.tasking import rows
from tests.process import until

WATCHED = frozenset({"look", "Digests._deliver", "OwedWork._do"})
"""The coroutines of a digest, by qualified name."""
NEVER = moment("2030-01-01 00:00")
NOTES = a_job(
    Report(instructions="Tell what is new in the notes"), Cron(expression="0 2 * * *"), name="notes1", next_at=NEVER
)
DIGEST = "**While it was quiet:**\n\n**1.** **Sales**\n\nUp.\n\n**2.** **Costs**\n\nDown."
MIGRATION = "0054_owed_digests.sql"
"""It moves what a version left that did not owe digests."""


@asynccontextmanager
async def life(home: Path, channel: MemoryChannel) -> AsyncIterator[TimedBot]:
    bot = make_timed_bot(home, [], channel=channel, clock=Calendar("2026-11-24 08:00"))
    await bot.start()
    try:
        yield bot
    finally:
        await bot.stop()


async def night(bot: TimedBot) -> None:
    """Let two reports of the night wait for the morning, which has come."""
    await sleeps(bot)
    await bot.has(NOTES)
    for name, text in (("aaaaa1", "**Sales**\n\nUp."), ("aaaaa2", "**Costs**\n\nDown.")):
        await noted(bot, NOTES, text, name=name, delivery=DeliveryState.HELD)


async def look(bot: TimedBot) -> None:
    await bot.made.serving.scheduler.tick()
    await bot.made.serving.scheduler.settled()
    await bot.app.settled()


def recorded(home: Path) -> list[tuple[object, ...]]:
    return rows(home, "SELECT delivery FROM firings WHERE id LIKE 'aaaaa%' ORDER BY id")


def owed(home: Path) -> list[tuple[object, ...]]:
    return rows(home, "SELECT kind, key, run FROM owed ORDER BY key")


async def is_over(bot: TimedBot) -> None:
    """Check that the digest was said and recorded once, also after another look."""
    await look(bot)
    await look(bot)
    assert bot.screen == [DIGEST]
    assert recorded(bot.home) == [("sent",), ("sent",)]
    assert owed(bot.home) == []


async def test_killed_at_any_step_it_is_said_once_and_recorded_once(tmp_path: Path) -> None:
    step, came = 0, True
    while came:
        channel = MemoryChannel(limits=NO_PACE)
        async with AsyncExitStack() as lives:
            first = await lives.enter_async_context(life(tmp_path / f"{step}", channel))
            await night(first)
            came = await killed(look(first), step, WATCHED)
            home = tmp_path / f"{step}-next"
            await asyncio.to_thread(copy, first.home, home)
            bot = await lives.enter_async_context(life(home, channel))
            await is_over(bot)
        step += 1
    assert step > 10


def upgraded(home: Path) -> None:
    """Let a store be what an upgrade makes of one that an earlier version left."""
    (step,) = [each for each in migrations() if each.name == MIGRATION]
    with closing(sqlite3.connect(home / FILE)) as connection:
        connection.executescript("DELETE FROM owed; UPDATE firings SET delivery = 'pending' WHERE id LIKE 'aaaaa%';")
        connection.executescript(step.read_text())


@pytest.mark.parametrize("left", ["to send", "to record"])
async def test_one_that_an_earlier_version_was_sending_is_said_once_and_recorded_once(
    tmp_path: Path, left: str
) -> None:
    channel = MemoryChannel(limits=NO_PACE)
    async with AsyncExitStack() as lives:
        bot = await lives.enter_async_context(life(tmp_path / "first", channel))
        await night(bot)
        if left == "to send":
            channel.fails("send", ChannelError("overloaded", retry_after=3600.0))
        await bot.made.serving.scheduler.tick()
        sent = "SELECT 1 FROM outbox WHERE run = 'digest-aaaaa1' AND state = 'sent'"
        await channel.until(lambda: any(call.kind == "send" for call in channel.calls))
        await until(lambda: left == "to send" or rows(bot.home, sent) == [(1,)])
        home = tmp_path / "image"
        await asyncio.to_thread(copy, bot.home, home)
        await bot.stop()
        await asyncio.to_thread(upgraded, home)

        await is_over(await lives.enter_async_context(life(home, channel)))


async def test_one_that_the_platform_refused_is_recorded_when_it_was_sent_after_all(start_bot: StartTimedBot) -> None:
    channel = MemoryChannel(limits=NO_PACE)
    bot = await start_bot(channel=channel, clock=Calendar("2026-11-24 08:00"))
    await night(bot)
    channel.fails("send", AccountRefused("the token was revoked"))
    await look(bot)
    assert recorded(bot.home) == [("pending",), ("pending",)]
    assert owed(bot.home) == [("digest", "aaaaa1", "digest-aaaaa1"), ("digest", "aaaaa2", "digest-aaaaa1")]

    await bot.made.deliver_kept(ANN)
    await bot.app.settled()

    await is_over(bot)
