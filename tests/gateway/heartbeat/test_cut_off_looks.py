"""Check-ins that are cut off by a restart, by a user, or by a machine that slept."""

import asyncio

from agent_core.models.scripted import Waits
from gateway.schedule.heartbeat.chat_state import explained
from gateway.store.job import DeliveryState, FiringState
from tests.gateway.heartbeat.beating import HALF_AN_HOUR, clocks
from tests.gateway.heartbeat.conftest import StartBeating

DRY = "The plants are dry."


async def test_a_look_that_was_cut_off_goes_on_after_the_start_and_is_said_once(wired_looking: StartBeating) -> None:
    looking = Waits(asyncio.Event(), "never said")
    bot = await wired_looking(looking, DRY)
    bot.calendar.advance(HALF_AN_HOUR)
    await bot.made.serving.scheduler.tick()
    await looking.reached.wait()
    await bot.restart()
    await bot.settled()

    assert [text for text in bot.screen if text.startswith(DRY)] == [bot.screen[-1]]
    [look] = await bot.looks()
    assert (look.state, look.delivery) == (FiringState.DONE, DeliveryState.SENT)


async def test_a_look_that_was_cut_off_hours_ago_is_not_gone_on_with(start_looking: StartBeating) -> None:
    looking = Waits(asyncio.Event(), "never said")
    bot = await start_looking(looking)
    shown = list(bot.screen)
    bot.calendar.advance(HALF_AN_HOUR)
    await bot.made.serving.scheduler.tick()
    await looking.reached.wait()
    await bot.stop()
    bot.calendar.advance(3 * 3600)
    await bot.restart()
    await bot.settled()

    assert [look.state for look in await bot.looks()] == [FiringState.NOTHING]
    assert bot.screen == shown


async def test_switched_off_while_it_looks_it_says_nothing(wired_looking: StartBeating) -> None:
    looking = Waits(asyncio.Event(), DRY)
    bot = await wired_looking(looking)
    bot.calendar.advance(HALF_AN_HOUR)
    await bot.made.serving.scheduler.tick()
    await looking.reached.wait()
    await bot.channel.hears("/heartbeat off")
    await bot.channel.until(lambda: "is off" in bot.screen[-1])
    looking.event.set()
    await bot.settled()

    assert "is off" in bot.screen[-1]


async def test_of_a_night_in_which_the_machine_slept_nothing_is_made_up_for(start_looking: StartBeating) -> None:
    bot = await start_looking(DRY)
    bot.at("2026-11-24 10:07")
    await bot.look()
    bot.at("2026-11-24 10:29")
    await bot.look()

    assert clocks(await bot.looks()) == ["10:00"]
    assert bot.screen[-1] == explained(DRY, "en")  # no lateness is mentioned, because the user has not waited for it
