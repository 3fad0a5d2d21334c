"""The program is killed at any step of a run and of what is owed by it: both are said once, and in order."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from channels.memory import NO_PACE, MemoryChannel
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.jobs.test_any_step import copy, killed
from tests.plugins.test_owed import Adds, adds, left

__all__ = ["adds"]
WATCHED = frozenset({"ChatSession._process", "OwedWork._do"})
"""The coroutines of a run and of what is owed, by qualified name."""


async def life(lives: AsyncExitStack, home: Path, channel: MemoryChannel, plugin: type[Adds]) -> Bot:
    bot = Bot(home, ["Hi."] * 3, BotOptions(channel=channel, plugins=(plugin,)))
    await bot.start()
    lives.push_async_callback(bot.stop)
    return bot


async def test_killed_at_any_step_the_answer_and_the_line_are_there_once_and_in_order(
    adds: type[Adds], tmp_path: Path
) -> None:
    step, came = 0, True
    while came:
        channel = MemoryChannel(limits=NO_PACE)
        async with AsyncExitStack() as lives:
            first = await life(lives, tmp_path / f"{step}", channel, adds)
            came = await killed(first.hears("hello"), step, WATCHED)
            home = tmp_path / f"{step}-next"
            await asyncio.to_thread(copy, first.home, home)
            bot = await life(lives, home, channel, adds)
            await bot.app.settled()

            assert bot.screen == ["Hi.", "That was completed."], step
            assert await left(bot) == [], step
        step += 1
    assert step > 15
