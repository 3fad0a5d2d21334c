"""The time zone of a person is learned once, said with the first time that is set, and changed with a button."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent_core.messages import ToolResultMessage, UserMessage, text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Turn, calls
from agent_core.tools.clock import clock_tool
from channels.base import Addressed, Sender
from gateway.schedule.times.zone_names import likely_zones
from gateway.schedule.times.zone_words import zone_said
from gateway.settings.zone import is_zone
from gateway.store.job import JobState, Report
from gateway.store.opening import FILE
from tests.gateway.jobs.asking import labels, press, typed_ids
from tests.gateway.jobs.kit import ANN, PARIS, Calendar, TimedBot, a_job, make_timed_bot, moment

TOKYO = ZoneInfo("Asia/Tokyo")
Start = Callable[..., Awaitable[TimedBot]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    started: list[TimedBot] = []

    async def make(*turns: Turn, zone: str = "UTC", clock: Calendar | None = None) -> TimedBot:
        how = {"clock": clock, "tools": [clock_tool(clock, lambda: PARIS)]} if clock else {}
        turns = turns or (tells_the_time,) * 4
        bot = make_timed_bot(tmp_path, turns, zone=zone, new_request_id=typed_ids(), **how)
        await bot.start()
        started.append(bot)
        return bot

    yield make
    for bot in started:
        await bot.stop()


def tells_the_time(request: LlmRequest) -> Turn:
    told = [message.context or "" for message in request.messages if isinstance(message, UserMessage)]
    return next(line for line in told[-1].split("\n") if line.startswith("Now: ")).removeprefix("Now: ")


def looks_at_the_clock(request: LlmRequest) -> Turn:
    """Ask the tool `clock`, and say what it tells."""
    told = request.messages[-1]
    return text_of(told.content) if isinstance(told, ToolResultMessage) else calls(("clock", {}))


def ann(zone: str | None, language: str | None = None) -> Sender:
    return Sender(id="ann", name="Ann", zone=zone, language=language)


async def says(bot: TimedBot, text: str, sender: Sender, **how: object) -> str:
    """Let somebody say something; returns the newest message of the bot."""
    await bot.channel.hears(text, sender=sender, **how)  # type: ignore[arg-type]
    await bot.settled()
    return bot.screen[-1]


async def test_the_zone_of_a_profile_is_that_of_the_person_s_times_and_said_once(start: Start) -> None:
    bot = await start()
    first = await says(bot, "/remind tomorrow at 9:00 stretch", ann("Asia/Tokyo"))
    second = await says(bot, "/remind tomorrow at 10:00 stretch", ann("Asia/Tokyo"))

    assert "Times are by the clock of **Asia/Tokyo** (from your profile on Memory)." in first
    assert labels(bot) == [["Undo", "Change"]]
    assert "Times are by the clock" not in second
    found = sorted(job.next_at or 0 for job in await bot.store.jobs.in_chat(ANN))
    assert found == [moment("2026-11-24 09:00", TOKYO), moment("2026-11-24 10:00", TOKYO)]


async def test_what_is_said_in_a_row_is_heard_in_its_order_while_the_zone_is_learned_from_it(start: Start) -> None:
    said: list[str] = []

    def listens(request: LlmRequest) -> Turn:
        said[:] = [text_of(message.content) for message in request.messages if isinstance(message, UserMessage)]
        return "Yes."

    bot = await start(*[listens] * 3)
    words = ["first", "second", "third"]
    await asyncio.gather(*(bot.channel.hears(each, sender=ann("Asia/Tokyo")) for each in words))
    await bot.settled()

    assert said == words


async def test_the_first_source_wins_and_what_the_person_says_wins_over_it(start: Start) -> None:
    bot = await start()
    await says(bot, "hello", ann("Asia/Tokyo"))
    assert (await says(bot, "hello", ann("Europe/Berlin"))).endswith("(Asia/Tokyo)")

    assert "Your time zone: **Europe/Lisbon**." in await says(bot, "/tz mine Lisbon", ann("Asia/Tokyo"))
    await bot.restart()
    assert (await says(bot, "hello", ann("Asia/Tokyo"))).endswith("(Europe/Lisbon)")


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("I am in Tokyo", "Asia/Tokyo"),
        ("I'm now in New York.", "America/New_York"),
        ("my time zone is UTC+8", "Etc/GMT-8"),
        ("我在东京", "Asia/Tokyo"),
        ("我的时区是北京时间。", "Asia/Shanghai"),
        ("I am in a meeting", None),
        ("I am in Tokyo, call me", None),
        ("I am in the US", None),
        ("我在家", None),
    ],
)
def test_a_sentence_says_where_somebody_is_if_it_says_nothing_else(text: str, zone: str | None) -> None:
    assert zone_said(text) == zone


async def test_what_a_message_says_is_taken_and_said_with_the_first_time(start: Start) -> None:
    bot = await start()
    assert (await says(bot, "I am in Tokyo", ann("Europe/Berlin"))).endswith("(Asia/Tokyo)")

    shown = await says(bot, "/remind tomorrow at 9:00 stretch", ann("Europe/Berlin"))
    assert "Times are by the clock of **Asia/Tokyo** (as you said)." in shown


async def test_a_zone_that_could_not_be_said_with_the_first_time_is_said_after_a_restart(
    start: Start, tmp_path: Path
) -> None:
    bot = await start()
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        with database:
            database.execute("CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'full'); END")
        await bot.channel.hears("/remind tomorrow at 9:00 stretch", sender=ann("Asia/Tokyo"))
        await bot.settled()
        with database:
            database.execute("DROP TRIGGER full")
    await bot.restart()
    await bot.settled()

    assert "Times are by the clock of **Asia/Tokyo**" in bot.screen[-1]


@pytest.mark.parametrize(
    "told",
    ["UTC", "Etc/GMT-3", "Mars/Base", "../../etc", "localtime", "Asia/Tokyo\0", "\ud800", "x" * 10_000],
    ids=lambda told: ascii(told)[:20],
)
async def test_a_zone_in_which_nobody_lives_is_not_taken(start: Start, told: str) -> None:
    bot = await start(zone="Europe/Paris")
    assert (await says(bot, "hello", ann(told))).endswith("(Europe/Paris)")


async def test_the_model_is_told_the_time_of_the_author_in_a_group(start: Start) -> None:
    bot = await start()
    bob = Sender(id="bob", name="Bob", zone="America/New_York")
    assert (await says(bot, "hello", ann("Asia/Tokyo"), group="team")).endswith("(Asia/Tokyo)")
    assert (await says(bot, "hello", bob, group="team")).endswith("(America/New_York)")

    await says(bot, "/tz Berlin", ann("Asia/Tokyo"), group="team")
    assert (await says(bot, "hello", bob, group="team")).endswith("(Europe/Berlin)")


async def test_the_clock_of_the_model_is_that_of_the_person(start: Start) -> None:
    bot = await start(*[looks_at_the_clock] * 6, clock=Calendar())
    assert "16:00:00, Asia/Tokyo" in await says(bot, "what time is it?", ann("Asia/Tokyo"))
    bob = Sender(id="bob", name="Bob", zone="America/New_York")
    assert "02:00:00, America/New_York" in await says(bot, "what time is it?", bob, group="team")
    assert "16:00:00, Asia/Tokyo" in await says(bot, "what time is it?", ann("Asia/Tokyo"), group="team")


async def test_the_clock_of_a_report_is_that_of_its_job(start: Start) -> None:
    bot = await start(*[looks_at_the_clock] * 2, clock=Calendar())
    await says(bot, "/tz mine Tokyo", ann(None))
    job = a_job(Report(instructions="Tell the time."), zone="America/New_York")
    await bot.has(job)
    await bot.fires(job, "2026-11-24 09:00")
    await bot.settled()

    assert "02:00:00, America/New_York" in bot.screen[-1]


async def test_the_button_changes_the_zone_and_the_time_that_was_set(start: Start) -> None:
    bot = await start()
    await says(bot, "/remind tomorrow at 9:00 stretch", ann("Asia/Tokyo", "de"))
    await press(bot, "Change zone")
    assert labels(bot) == [["Berlin", "Vienna"], ["Zurich", "New York"]]

    shown = await press(bot, "Berlin")
    assert "Europe/Berlin" in shown
    [job] = await bot.store.jobs.in_chat(ANN)
    assert (job.zone, job.next_at) == ("Europe/Berlin", moment("2026-11-24 09:00", ZoneInfo("Europe/Berlin")))
    assert (await says(bot, "hello", ann("Asia/Tokyo"))).endswith("(Europe/Berlin)")


async def test_where_nothing_knows_the_zone_is_asked_once_and_the_reminder_is_kept(start: Start) -> None:
    bot = await start()
    shown = await says(bot, "/remind tomorrow at 9:00 stretch", ann(None, "ja"))

    assert "I do not know your time zone, so this is by **UTC**. Where are you?" in shown
    assert labels(bot) == [["Undo", "Change"], ["Tokyo", "New York"], ["Los Angeles", "London"]]
    [job] = await bot.store.jobs.in_chat(ANN)
    assert (job.state, job.next_at) == (JobState.ACTIVE, moment("2026-11-24 09:00", ZoneInfo("UTC")))

    assert "Tue 24 Nov 09:00 (Asia/Tokyo)" in await press(bot, "Tokyo")
    [job] = await bot.store.jobs.in_chat(ANN)
    assert job.next_at == moment("2026-11-24 09:00", TOKYO)
    assert "Where are you?" not in await says(bot, "/remind tomorrow at 11:00 stretch", ann(None, "ja"))


async def test_a_command_names_the_zone_and_the_job_as_well(start: Start) -> None:
    bot = await start()
    asked = await says(bot, "/remind tomorrow at 9:00 stretch", ann(None))
    [job] = await bot.store.jobs.in_chat(ANN)
    assert "reply with a city" in asked

    assert "(Europe/Lisbon)" in await says(bot, f"/tz mine Lisbon {job.id}", ann(None))
    [job] = await bot.store.jobs.in_chat(ANN)
    assert job.next_at == moment("2026-11-24 09:00", ZoneInfo("Europe/Lisbon"))


async def test_a_draft_is_asked_again_by_the_clock_that_was_chosen(start: Start) -> None:
    bot = await start()
    shown = await says(bot, "/remind 每天9点和17点 伸展", ann(None, "zh-CN"))
    assert "我不知道您的时区" in shown

    asked = await press(bot, "Shanghai")
    assert "Asia/Shanghai" in asked
    await press(bot, "确认")
    [job] = await bot.store.jobs.in_chat(ANN)
    assert (job.state, job.zone) == (JobState.ACTIVE, "Asia/Shanghai")


async def test_a_time_that_is_past_by_the_chosen_clock_is_that_of_the_next_day(start: Start) -> None:
    bot = await start()  # 07:00 in UTC, 16:00 in Tokyo
    await says(bot, "/remind at 9:00 stretch", ann(None, "ja"))
    await press(bot, "Tokyo")

    [job] = await bot.store.jobs.in_chat(ANN)
    assert job.next_at == moment("2026-11-24 09:00", TOKYO)


async def test_a_button_below_a_reminder_that_has_come_still_sets_the_zone(start: Start) -> None:
    bot = await start()
    await says(bot, "/remind at 9:00 stretch", ann(None, "ja"))
    bot.at("2026-11-23 10:30")  # in Paris, half past nine in UTC
    await bot.look()

    assert bot.screen[-1].startswith("⏰ stretch")
    assert "Your time zone: **Asia/Tokyo**." in await press(bot, "Tokyo")


async def test_what_people_say_to_each_other_is_not_taken(start: Start) -> None:
    bot = await start()
    await bot.channel.hears("I am in Tokyo", sender=ann(None), group="team", addressed=Addressed.AMBIENT)
    await bot.settled()
    assert await bot.store.person_zones.all() == {}


@pytest.mark.parametrize("text", ["/remind in 20 minutes stretch", "/remind tomorrow at 9:00 Tokyo time stretch"])
async def test_a_time_that_is_the_same_by_every_clock_asks_nothing(start: Start, text: str) -> None:
    bot = await start()
    assert "Where are you?" not in await says(bot, text, ann(None))


async def test_a_message_is_answered_though_the_zone_of_its_sender_cannot_be_kept(start: Start, tmp_path: Path) -> None:
    bot = await start("Hi.")
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("CREATE TRIGGER full BEFORE INSERT ON person_zones BEGIN SELECT RAISE(ABORT, 'full'); END")

    assert await says(bot, "hello", ann("Asia/Tokyo")) == "Hi."


@pytest.mark.parametrize("typed", ["x" * 60, "zz9999", "`x`[y](https://z.example)", ""])
async def test_a_zone_is_offered_without_a_job_that_there_is_not(start: Start, typed: str) -> None:
    bot = await start()
    asked = await says(bot, f"/tz change {typed}", ann(None))

    assert asked == "Where are you? Choose or reply with a city, such as `Lisbon`."
    assert next(each.action for row in bot.channel.posts[-1][1].buttons for each in row) == "/tz mine America/New_York"


async def test_the_button_below_the_job_of_somebody_else_changes_only_one_s_own_zone(start: Start) -> None:
    bot = await start()
    await says(bot, "/remind tomorrow at 9:00 stretch", ann("Asia/Tokyo"), group="team")
    await press(bot, "Change zone", sender="bob")
    await press(bot, "London", sender="bob")

    [job] = await bot.store.jobs.active()
    assert (job.zone, job.next_at) == ("Asia/Tokyo", moment("2026-11-24 09:00", TOKYO))
    assert {each.principal: each.zone for each in (await bot.store.person_zones.all()).values()} == {
        "memory:ann": "Asia/Tokyo",
        "memory:bob": "Europe/London",
    }


async def test_an_installation_with_a_zone_asks_nobody(start: Start) -> None:
    bot = await start(zone="Europe/Paris")
    assert "Where are you?" not in await says(bot, "/remind tomorrow at 9:00 stretch", ann(None))


async def test_what_the_model_sets_says_the_zone_as_well(start: Start) -> None:
    proposed = calls(("schedule", {"kind": "reminder", "what": "stretch", "when": "tomorrow 9:00"}))
    bot = await start(proposed, "I will.")
    await says(bot, "Remind me to stretch tomorrow at 9:00", ann("Asia/Tokyo"))

    [shown] = [text for text in bot.screen if "Times are by the clock of **Asia/Tokyo**" in text]
    assert "Tue 24 Nov 09:00" in shown


async def test_an_erased_person_has_no_zone(start: Start) -> None:
    bot = await start()
    await says(bot, "hello", ann("Asia/Tokyo"))
    await bot.made.commands.forgetting.erase("memory:ann", "memory:ann")

    assert await bot.store.person_zones.all() == {}
    assert (await says(bot, "hello", ann(None))).endswith("(UTC)")


@pytest.mark.parametrize("language", ["ja", "ko-KR", "zh-CN", "zh_TW", "en-US", "en-GB", "pt-BR", "xx", "", None])
def test_every_language_has_zones_to_choose_from(language: str | None) -> None:
    found = likely_zones(language)
    assert len(found) == 4
    assert all(is_zone(each) for each in found)
