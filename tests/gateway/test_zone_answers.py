"""A place that is typed under the question for the time zone answers it, and is for the model anywhere else."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from channels.base import Sender
from gateway.schedule.times.zone_words import zones_answered
from gateway.schedule.zones import nearest_zone
from gateway.store.job import JobState
from tests.gateway.jobs.asking import labels, press, typed_ids
from tests.gateway.jobs.kit import ANN, TimedBot, make_timed_bot, moment

ANNA = Sender(id="ann", name="Ann")
BEN = Sender(id="bob", name="Ben")
NINE = "2026-11-24 09:00"
Start = Callable[..., Awaitable[TimedBot]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    started: list[TimedBot] = []

    async def make(*answers: str) -> TimedBot:
        bot = make_timed_bot(tmp_path, answers, zone="UTC", new_request_id=typed_ids())
        await bot.start()
        started.append(bot)
        return bot

    yield make
    for bot in started:
        await bot.stop()


async def says(bot: TimedBot, text: str, sender: Sender = ANNA, **how: object) -> str:
    """Let somebody say something a second later; returns the newest message of the bot."""
    bot.calendar.advance(1)
    await bot.channel.hears(text, sender=sender, **how)  # type: ignore[arg-type]
    await bot.settled()
    return bot.screen[-1]


@pytest.mark.parametrize(
    ("answer", "zone"),
    [
        ("Tokyo", "Asia/Tokyo"),
        ("tokyo.", "Asia/Tokyo"),
        ("Europe/Berlin", "Europe/Berlin"),
        ("UTC+9", "Etc/GMT-9"),
        ("+05:30", "Asia/Kolkata"),
        ("I'm in Berlin", "Europe/Berlin"),
        ("in New York, USA", "America/New_York"),
        ("Berlin time please", "Europe/Berlin"),
        ("Ich bin in Berlin", "Europe/Berlin"),
        ("JST", "Asia/Tokyo"),
        ("东京", "Asia/Tokyo"),
        ("我在上海。", "Asia/Shanghai"),
        ("北京时间", "Asia/Shanghai"),
    ],
)
async def test_a_typed_place_answers_the_question(start: Start, answer: str, zone: str) -> None:
    bot = await start()
    assert "Where are you?" in await says(bot, "/remind tomorrow at 9:00 stretch")

    assert "Tue 24 Nov 09:00" in await says(bot, answer)
    [job] = await bot.store.jobs.in_chat(ANN)
    assert (job.zone, job.next_at) == (zone, moment(NINE, ZoneInfo(zone)))
    assert "Where are you?" not in await says(bot, "/remind tomorrow at 10:00 stretch")


async def test_a_draft_is_asked_again_below_and_its_old_card_has_no_buttons(start: Start) -> None:
    bot = await start()
    await says(bot, "/remind every day at 9:00 stretch")
    assert "Asia/Tokyo" in await says(bot, "Tokyo")

    assert [labels(bot, number) for number in (0, 1)] == [[], [["Confirm", "Change", "Cancel"]]]
    await says(bot, "yes")
    [job] = await bot.store.jobs.in_chat(ANN)
    assert (job.state, job.zone) == (JobState.ACTIVE, "Asia/Tokyo")


async def test_a_place_with_several_zones_is_asked_for(start: Start) -> None:
    bot = await start()
    await says(bot, "/remind tomorrow at 9:00 stretch")
    assert await says(bot, "Australia") == "Australia can be one of several time zones. Which one is yours?"
    assert labels(bot) == [["Sydney", "Adelaide"], ["Perth"]]

    assert "Tue 24 Nov 09:00" in await press(bot, "Perth")
    [job] = await bot.store.jobs.in_chat(ANN)
    assert job.next_at == moment(NINE, ZoneInfo("Australia/Perth"))


async def test_after_change_zone_a_typed_place_is_the_answer(start: Start) -> None:
    bot = await start()
    await says(bot, "/remind tomorrow at 9:00 stretch", ANNA.model_copy(update={"zone": "Asia/Tokyo"}))
    await press(bot, "Change zone")
    await says(bot, "Lisbon")

    [job] = await bot.store.jobs.in_chat(ANN)
    assert job.zone == "Europe/Lisbon"


async def test_a_place_that_answers_nothing_is_for_the_model(start: Start) -> None:
    bot = await start("Which city?", "Sunny.", "A city in Japan.")
    assert await says(bot, "Tokyo") == "Which city?"
    await says(bot, "/remind tomorrow at 9:00 stretch")
    assert await says(bot, "how is the weather?") == "Sunny."
    assert await says(bot, "Tokyo") == "A city in Japan."

    [job] = await bot.store.jobs.in_chat(ANN)
    assert job.zone == "UTC"


async def test_in_a_group_only_who_was_asked_can_answer(start: Start) -> None:
    bot = await start("A city in Japan.")
    await says(bot, "/remind tomorrow at 9:00 stretch", group="team")
    assert await says(bot, "Tokyo", BEN, group="team") == "A city in Japan."
    await says(bot, "Tokyo", group="team")

    [job] = await bot.store.jobs.active()
    assert job.zone == "Asia/Tokyo"


@pytest.mark.parametrize(
    "text",
    [
        "thanks",
        "ok",
        "Tokyo, call me",
        "is Tokyo far?",
        "cat",
        "London, Ontario",
        "",
        "x" * 400,
        "in",
        "时间",
        ",",
        "(",
    ],
)
def test_what_is_no_place_is_no_answer(text: str) -> None:
    assert zones_answered(text) == ()


def test_a_zone_is_suggested_only_for_a_name_that_is_nearly_its_own() -> None:
    assert nearest_zone("Berln") == "Europe/Berlin"
    assert nearest_zone("Mars") is None


def test_a_city_that_two_countries_have_is_asked_for() -> None:
    assert zones_answered("Paris, Texas") == ("Europe/Paris", "America/Chicago")
    assert zones_answered("Berlin, Germany") == ("Europe/Berlin",)
