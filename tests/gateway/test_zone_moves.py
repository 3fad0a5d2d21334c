"""Times that were set or shown before their person's time zone changed."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from channels.base import Sender
from gateway.store.job import JobState
from tests.gateway.jobs.asking import press, typed_ids
from tests.gateway.jobs.kit import ANN, TimedBot, make_timed_bot, moment

TOKYO = ZoneInfo("Asia/Tokyo")
SENDER = Sender(id="ann", name="Ann", zone=None, language="ja")


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[TimedBot]:
    bot = make_timed_bot(tmp_path, [], zone="UTC", new_request_id=typed_ids())
    await bot.start()
    yield bot
    await bot.stop()


async def says(bot: TimedBot, text: str, sender: Sender = SENDER) -> str:
    await bot.channel.hears(text, sender=sender)
    await bot.settled()
    return bot.screen[-1]


async def times(bot: TimedBot) -> list[str]:
    """Return when what was set is due, in UTC."""
    found = [job for job in await bot.store.jobs.in_chat(ANN) if job.state is JobState.ACTIVE]
    return sorted(f"{datetime.fromtimestamp(job.next_at or 0, UTC):%d %H:%M}" for job in found)


async def test_a_card_from_before_the_zone_was_changed_is_shown_again_instead_of_set(bot: TimedBot) -> None:
    await says(bot, "/remind every day at 9:00 stretch")
    await says(bot, "/tz mine Tokyo")
    await press(bot, "Confirm")
    assert bot.screen[0].startswith("The time zone is **Asia/Tokyo** now, so look at the time again.")
    assert "every day at 09:00" in bot.screen[0]
    assert await times(bot) == []

    await press(bot, "Confirm")
    assert await times(bot) == ["24 00:00"]


async def test_a_change_on_such_a_card_sets_nothing_that_was_not_shown(bot: TimedBot) -> None:
    await says(bot, "/remind 24 november at 9 stretch")
    await says(bot, "/tz mine Tokyo")
    await press(bot, "Change")
    await press(bot, "1 h later")
    await press(bot, "Confirm")
    assert await times(bot) == []
    await press(bot, "Confirm")
    assert await times(bot) == ["24 01:00"]


@pytest.mark.parametrize("text", ["every day at 9:00 PT stretch", "every day at 9:00 London time stretch"])
async def test_a_card_whose_time_names_a_zone_is_set_as_it_was_shown(bot: TimedBot, text: str) -> None:
    await says(bot, f"/remind {text}")
    await says(bot, "/tz mine Tokyo")
    await press(bot, "Confirm")
    assert len(await times(bot)) == 1


async def test_single_reminders_move_with_their_time_of_day_when_the_person_says_so(bot: TimedBot) -> None:
    await says(bot, "/remind tomorrow at 9:00 stretch")
    await says(bot, "/remind in 26 hours call")
    await says(bot, "/remind tomorrow at 9:00 London time pay")
    before = await times(bot)
    assert before == ["24 09:00", "24 09:00", "24 09:00"]

    shown = await says(bot, "/tz mine Tokyo")
    assert "`/tz move` moves them to this one; the time of day stays." in shown
    await press(bot, "Move them")
    assert await times(bot) == ["24 00:00", "24 09:00", "24 09:00"]


async def test_the_button_that_answers_where_one_is_offers_to_move_the_others(bot: TimedBot) -> None:
    await says(bot, "/remind tomorrow at 9:00 stretch")
    await says(bot, "/remind tomorrow at 10:00 call")
    await press(bot, "Tokyo")

    assert "Planned here by the clocks of another zone: 1." in bot.screen[0]
    await press(bot, "Move them")
    assert await times(bot) == ["24 00:00", "24 01:00"]


async def test_a_change_of_a_time_keeps_what_is_known_of_its_clock(bot: TimedBot) -> None:
    await says(bot, "/remind tomorrow at 9:00 stretch")
    [job] = await bot.store.jobs.in_chat(ANN)
    await says(bot, f"/cron change {job.id} 25 november at 10:00 stretch")
    await press(bot, "Confirm")
    await says(bot, "/tz mine Tokyo")
    await says(bot, "/tz move")

    [job] = await bot.store.jobs.active()
    assert job.next_at == moment("2026-11-25 10:00", TOKYO)
