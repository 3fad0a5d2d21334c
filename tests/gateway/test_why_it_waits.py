"""/queue and /status tell people why what they wrote waits, if that is for more than an earlier run."""

import asyncio

import pytest

from agent_core.models.scripted import Waits
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel, user
from gateway.chat.holds import Hold, Why
from gateway.chat.run_pace import BURST
from tests.clock import HandClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel
from tests.gateway.test_budgets import NO_ROOM
from tests.gateway.test_catch_up import talked
from tests.gateway.test_paused_runs import asks, is_shown, waits_for_room
from tests.gateway.test_queue import busy, commanded

pytestmark = pytest.mark.usefixtures("no_progress")

TEAM = ChatKey.parse("memory:here:#team")


async def hurries(start_bot: StartBot, clock: HandClock) -> Bot:
    """Let Bob have written faster than the rate limit allows."""
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await start_bot(*[f"answer {number}" for number in range(BURST)], channel=channel, clock=clock)
    for number in range(BURST):
        await bot.hears(f"{number}", sender="bob", group="team")
    await channel.hears("I again", sender="bob", group="team")
    return bot


async def test_who_wrote_too_fast_sees_when_it_goes_on(start_bot: StartBot) -> None:
    bot = await hurries(start_bot, HandClock())

    listed = await commanded(bot, "/queue", sender="bob")
    status = await commanded(bot, "/status", sender="bob")

    assert "**Why:** Many messages came in a short time. It goes on in 6 s." in listed
    assert "**Now:** waiting. Many messages came in a short time." in status


async def test_it_is_told_in_chinese(start_bot: StartBot) -> None:
    bot = await hurries(start_bot, HandClock())

    await bot.channel.hears("/queue", sender=user("bob", "zh"), group="team")
    await bot.channel.until(lambda: "**原因**：短时间内消息较多，6 秒后继续。" in bot.screen[-1])


async def test_others_see_nothing_of_it(start_bot: StartBot) -> None:
    bot = await hurries(start_bot, HandClock())

    assert await commanded(bot, "/queue", sender="carl") == "No messages are waiting here."
    assert "**Now:** idle" in await commanded(bot, "/status", sender="carl")


async def test_whose_request_waits_for_a_budget_sees_that_later_ones_wait_for_it(start_bot: StartBot) -> None:
    bot = await start_bot()
    await waits_for_room(bot)
    await is_shown(bot, NO_ROOM)
    await asks(bot, "bob", "and this?")

    listed = await commanded(bot, "/queue", sender="bob")

    assert "**Why:** A request before it waits for room in a budget." in listed


async def test_before_a_gap_is_read_it_says_so(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("One.", "All.", channel=channel)
    await talked(bot, channel)
    channel.open.clear()
    channel.writes("first")
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)
    await channel.brings(channel.writes("second"))

    await channel.hears("/queue")
    await channel.until(lambda: "**Why:** Earlier messages of this chat are still being read." in bot.screen[-1])

    channel.open.set()
    await channel.until(lambda: bot.screen[-1] == "All.")


async def test_a_message_that_waits_for_a_run_has_no_other_reason(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event(), "Never said."))
    await busy(bot, ("carl", "the weather"))

    listed = await commanded(bot, "/queue")

    assert "the weather" in listed
    assert "**Why:**" not in listed


async def test_trouble_is_told_too(start_bot: StartBot) -> None:
    clock = HandClock()
    bot = await hurries(start_bot, clock)
    holds = bot.made.chats.sessions.of(TEAM).holds
    holds.set(Hold(Why.TROUBLE, until=clock.monotonic() + 300))

    listed = await commanded(bot, "/queue", sender="bob")

    assert "Something went wrong. It is tried again in 5 min." in listed


async def test_where_the_program_ends_what_waits_is_told_to_go_on_later(start_bot: StartBot) -> None:
    bot = await hurries(start_bot, HandClock())
    bot.made.base.drain.is_on = True

    listed = await commanded(bot, "/queue", sender="bob")

    assert "Parley is stopping. It goes on after the next start." in listed
