"""Who has to sign in to a server again is asked once: by day, or at once where they have called it."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from agent_core.models.scripted import calls
from tests.clock import OffsetClock
from tests.emulators.sign_in_server import SignInServer, sign_in_server
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.plugins.mcp.test_signing_in import added, approves, signs_in
from tests.process import until

ASKED = "Sign in to `garden` again"
PARIS = ZoneInfo("Europe/Paris")
WATERS = calls(("garden_water", {"plant": "fern"}))


@pytest.fixture
async def garden() -> AsyncIterator[SignInServer]:
    async with sign_in_server() as server:
        yield server


def at(clock: OffsetClock, hour: int) -> None:
    """Let it be that hour in Paris next."""
    now = datetime.fromtimestamp(clock.time(), PARIS)
    then = now.replace(hour=hour, minute=0, second=0)
    clock.ahead += (then if then > now else then + timedelta(days=1)).timestamp() - now.timestamp()


def times_asked(bot: Bot) -> int:
    return sum(ASKED in each for each in bot.screen)


async def test_at_night_a_job_says_why_and_the_person_is_asked_in_the_morning(
    start_bot: StartBot, garden: SignInServer
) -> None:
    clock = OffsetClock()
    at(clock, 20)
    bot = await added(start_bot, garden, WATERS, "The fern is dry: the garden asks for a sign-in.", clock=clock)
    await signs_in(bot, garden)
    await approves(bot)
    await bot.hears("/cron add every day at 3:00 water the fern")
    await bot.channel.presses("Confirm")
    await bot.app.settled()
    garden.end_access()
    garden.refuses_renewal = True

    at(clock, 3)
    await bot.made.serving.scheduler.tick()
    await bot.app.settled()

    assert "garden asks for a sign-in" in str(bot.llm.requests[-1].messages)
    assert any("The fern is dry" in each for each in bot.screen)
    assert times_asked(bot) == 0, "it is night"
    at(clock, 9)
    async with bot.on_duty():
        await until(lambda: times_asked(bot) == 1)


async def test_whoever_calls_it_is_asked_at_once_and_not_again_with_each_call(
    start_bot: StartBot, garden: SignInServer
) -> None:
    clock = OffsetClock()
    at(clock, 3)
    bot = await added(start_bot, garden, *(WATERS, "It does not let me in.") * 2, clock=clock)
    await signs_in(bot, garden)
    await approves(bot)
    garden.end_access()
    garden.refuses_renewal = True

    await bot.hears("water the fern")
    await bot.hears("/new")
    await bot.hears("water the fern")

    assert times_asked(bot) == 1


async def test_a_sign_in_server_that_fails_for_now_asks_nobody(start_bot: StartBot, garden: SignInServer) -> None:
    clock = OffsetClock()
    at(clock, 12)
    bot = await added(start_bot, garden, WATERS, "Later.", WATERS, "Done.", clock=clock)
    await signs_in(bot, garden)
    await approves(bot)
    garden.end_access()
    garden.fails.add("/token")

    await bot.hears("water the fern")
    assert times_asked(bot) == 0
    garden.fails.clear()
    await bot.hears("/new")
    await bot.hears("water the fern")

    assert "ann waters the fern" in str(bot.llm.requests[-1].messages)
