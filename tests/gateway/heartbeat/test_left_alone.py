"""Quiet hours, days on which clocks change, and other times at which no check-in disturbs."""

import asyncio
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from agent_core.models.scripted import Waits
from gateway.store.job import JobState, Pause
from tests.gateway.heartbeat.beating import HALF_AN_HOUR, NOTHING, clocks
from tests.gateway.heartbeat.conftest import StartBeating
from tests.gateway.jobs.kit import PARIS


async def test_quiet_hours_are_those_of_her_clock(start_looking: StartBeating) -> None:  # S2-46
    bot = await start_looking(*[NOTHING] * 60)
    await bot.until("2026-11-24 12:00")

    found = clocks(await bot.looks())
    assert (found[0], found[-1]) == ("08:30", "12:00")
    assert "20:30" in found
    assert not [clock for clock in found if not "08:00" <= clock < "21:00"]
    assert found.count("08:30") == 2


@pytest.mark.parametrize("name", ["Asia/Shanghai", "America/New_York"])
async def test_wherever_she_is_the_night_is_hers(start_looking: StartBeating, name: str) -> None:
    zone = ZoneInfo(name)
    evening = datetime(2026, 11, 23, 20, tzinfo=zone).astimezone(PARIS)
    bot = await start_looking(*[NOTHING] * 60, zone=name, begins=f"{evening:%Y-%m-%d %H:%M}")
    await bot.goes_by(24)

    found = clocks(await bot.looks(), zone)
    assert found[:2] == ["20:30", "08:00"]
    assert found[-1] == "20:00"


async def test_whoever_moves_takes_the_night_along(start_looking: StartBeating) -> None:  # C-32
    bot = await start_looking(*[NOTHING] * 60)
    await bot.hears("/tz Asia/Shanghai")
    await bot.goes_by(14)

    shanghai = ZoneInfo("Asia/Shanghai")
    found = clocks(await bot.looks(), shanghai)
    assert (found[0], found[-1]) == ("15:30", "20:30")
    assert (await bot.its_job()).zone == "Asia/Shanghai"
    await bot.hears("/heartbeat")
    assert "21:00–08:00 (Asia/Shanghai)" in bot.screen[-1]


@pytest.mark.parametrize("day", [date(2026, 10, 31), date(2027, 3, 13)])
async def test_in_new_york_a_night_of_another_length_is_quiet_too(start_looking: StartBeating, day: date) -> None:
    zone = ZoneInfo("America/New_York")
    evening = datetime.combine(day, time(20), zone).astimezone(PARIS)
    bot = await start_looking(*[NOTHING] * 60, zone=zone.key, begins=f"{evening:%Y-%m-%d %H:%M}")
    await bot.goes_by(14)

    assert clocks(await bot.looks(), zone)[:2] == ["20:30", "08:00"]


async def test_the_number_a_day_is_counted_anew_from_her_midnight(start_looking: StartBeating) -> None:  # S2-46
    words = [f"Thing {number}." for number in range(9)]
    bot = await start_looking(*words, zone="Asia/Shanghai", begins="2026-11-23 14:00")
    await bot.hears("/heartbeat quiet off")
    await bot.goes_by(6)

    found = clocks(await bot.looks(), ZoneInfo("Asia/Shanghai"))
    assert found == ["21:30", "22:00", "00:00", "00:30"]


@pytest.mark.parametrize("day", ["2027-03-27", "2027-10-30"])
async def test_a_night_in_which_clocks_change_is_quiet_to_its_end(start_looking: StartBeating, day: str) -> None:
    bot = await start_looking(*[NOTHING] * 60, begins=f"{day} 20:00")
    await bot.goes_by(16)

    assert clocks(await bot.looks())[:2] == ["20:30", "08:00"]


async def test_she_is_left_alone_for_a_moment_after_her_own_words(start_looking: StartBeating) -> None:
    bot = await start_looking("Good.", NOTHING)
    bot.calendar.advance(HALF_AN_HOUR - 60)
    await bot.hears("I am here")
    bot.calendar.advance(60)
    await bot.look()

    assert bot.ticks == 0
    assert await bot.outcome() == "heartbeat_just_wrote"


async def test_nobody_is_disturbed_while_they_are_answered(start_looking: StartBeating) -> None:
    thinking = Waits(asyncio.Event(), "Oslo.")
    bot = await start_looking(thinking)
    await bot.channel.hears("where to?")
    await thinking.reached.wait()
    bot.calendar.advance(HALF_AN_HOUR)
    await bot.made.serving.scheduler.tick()

    assert bot.ticks == 0
    assert await bot.outcome() == "heartbeat_is_busy"
    thinking.event.set()
    await bot.settled()


async def test_snoozed_it_is_silent_until_then(start_looking: StartBeating) -> None:
    bot = await start_looking(NOTHING)
    await bot.hears("/heartbeat snooze 2h")
    assert "10:00" in bot.screen[-1]

    await bot.goes_by(1.5)
    assert (bot.asked, await bot.outcome()) == (0, "heartbeat_is_snoozed")
    await bot.goes_by(0.5)
    assert bot.asked == 1


async def test_switched_off_it_is_silent_for_good(start_looking: StartBeating) -> None:
    bot = await start_looking()
    await bot.hears("/heartbeat off")
    await bot.restart()
    await bot.goes_by(24)

    assert (bot.asked, bot.ticks) == (0, 0)
    job = await bot.its_job()
    assert (job.state, job.pause, job.next_at) == (JobState.PAUSED, Pause.PERSON, None)
