"""The time zone of a chat, and /tz."""

from collections.abc import AsyncIterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent_core.messages import UserMessage
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Turn
from gateway.schedule.times.zone_names import find_zone
from gateway.schedule.zones import nearest_zone
from gateway.store.job import CheckIn, Heartbeat
from gateway.store.rule import Every
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.kit import ANN, BEGINS, Calendar, TimedBot, a_job, make_timed_bot, moment


def tells_the_time(request: LlmRequest) -> Turn:
    """Answer with the time that the prompt tells."""
    told = [message.context or "" for message in request.messages if isinstance(message, UserMessage)]
    return next(line for line in told[-1].split("\n") if line.startswith("Now: ")).removeprefix("Now: ")


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[TimedBot]:
    bot = make_timed_bot(tmp_path, [tells_the_time] * 8)
    await bot.start()
    yield bot
    await bot.stop()


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("America/New York", "America/New_York"),
        ("北京", "Asia/Shanghai"),
        ("utc", "UTC"),
        ("UTC+8", "Etc/GMT-8"),
        ("gmt -3", "Etc/GMT+3"),
    ],
)
def test_a_zone_is_found_as_people_call_it(text: str, zone: str) -> None:
    assert find_zone(text) == ZoneInfo(zone)


@pytest.mark.parametrize("text", ["", "nowhere", "UTC+99", "../../etc/passwd", "a" * 5_000, "\ud800", "Factory"])
def test_what_is_no_zone_is_not_found(text: str) -> None:
    assert find_zone(text) is None


def test_a_slip_of_the_pen_has_a_neighbour() -> None:
    assert nearest_zone("Europe/Berln") == "Europe/Berlin"
    assert nearest_zone("Pariss") == "Europe/Paris"
    assert nearest_zone("qqqqqqqqq") is None


async def test_the_default_is_shown_until_another_is_chosen(bot: TimedBot) -> None:  # C-32
    await bot.hears("/tz")
    await bot.hears("/tz shanghai")
    await bot.hears("/tz")

    shown, chosen, again = bot.screen
    assert shown.startswith("Time zone here: **Europe/Paris** (the default). It is Mon 23 Nov 08:00 there.")
    assert chosen == "Time zone in this chat: **Asia/Shanghai**. It is Mon 23 Nov 15:00 there."
    assert again.startswith("Time zone here: **Asia/Shanghai** (set here).")


async def test_an_offset_is_shown_with_the_sign_that_people_use(bot: TimedBot) -> None:
    await bot.hears("/tz utc+8")
    await bot.hears("/remind tomorrow at 9:00 stretch")

    assert "**UTC+8**" in bot.screen[0]
    assert "(UTC+8)" in bot.screen[-1]
    assert "Etc/" not in "".join(bot.screen)


async def test_the_model_is_told_the_time_of_the_chat_s_zone(wired_bot: StartBot) -> None:  # C-32
    bot = await wired_bot(*[tells_the_time] * 3, clock=Calendar())
    await bot.hears("/tz Asia/Shanghai")
    await bot.hears("what time is it?")
    await bot.restart()
    await bot.hears("and now?")
    await bot.hears("/tz reset")
    await bot.hears("and now?")

    told = [line for line in bot.screen if line.startswith("Monday")]
    assert told == [
        "Monday 2026-11-23 15:00 (Asia/Shanghai)",
        "Monday 2026-11-23 15:00 (Asia/Shanghai)",
        "Monday 2026-11-23 08:00 (Europe/Paris)",
    ]


async def test_a_thread_goes_by_its_channel_until_it_has_one_of_its_own(bot: TimedBot) -> None:  # D-13
    await bot.hears("/tz Tokyo", group="team")
    await bot.hears("/tz", group="team", thread="7")
    await bot.hears("/tz Oslo", group="team", thread="7")
    await bot.hears("/tz", group="team")
    await bot.hears("/tz reset", group="team", thread="7")

    shown, chosen, channel, reset = bot.screen[1:]
    assert shown.startswith("Time zone here: **Asia/Tokyo** (as in the channel).")
    assert chosen.startswith("Time zone in this thread: **Europe/Oslo**.")
    assert channel.startswith("Time zone here: **Asia/Tokyo** (set here).")
    assert reset.startswith("Time zone here: **Asia/Tokyo** (as in the channel).")


async def test_a_name_that_is_nearly_one_is_offered(bot: TimedBot) -> None:
    await bot.hears("/tz Europe/Berln")
    await bot.channel.presses("Europe/Berlin")
    await bot.settled()

    assert bot.screen[0] == "I know no time zone Europe/Berln. Did you mean **Europe/Berlin**?"
    assert bot.screen[-1].startswith("Time zone in this chat: **Europe/Berlin**.")


@pytest.mark.parametrize("name", ["*qqqqqqqqq*", "q" * 5_000, "../../etc/passwd"])
async def test_a_name_that_is_none_changes_nothing(bot: TimedBot, name: str) -> None:
    await bot.hears(f"/tz {name}")
    await bot.hears("/tz")

    assert bot.screen[0].startswith("I know no time zone ")
    assert len(bot.screen[0]) < 300
    assert "Europe/Paris" in bot.screen[1]


async def test_where_others_read_only_an_owner_changes_it(bot: TimedBot) -> None:
    await bot.hears("/tz Tokyo", sender="bob", group="team")
    await bot.hears("/tz", sender="bob", group="team")

    assert bot.screen[0] == "Others read here, too, so only owners and admins can change the time zone."
    assert "Europe/Paris" in bot.screen[1]


async def test_what_is_planned_moves_when_the_person_says_so(bot: TimedBot) -> None:
    job = a_job("Water the plants")
    await bot.has(job)
    await bot.hears("/tz Tokyo")

    assert "Planned here by the clocks of another zone: 1." in bot.screen[-1]
    assert (await bot.job(job)).next_at == moment("2026-11-23 09:00")

    await bot.channel.presses("Move them")
    await bot.settled()

    assert bot.screen[-1] == "Moved to Asia/Tokyo: 1. `/cron list` shows when they come now."
    assert (await bot.job(job)).zone == "Asia/Tokyo"
    assert (await bot.job(job)).next_at == moment("2026-11-24 09:00", ZoneInfo("Asia/Tokyo"))

    await bot.hears("/tz move")
    assert bot.screen[-1] == "Everything planned here goes by Asia/Tokyo already."


async def test_quiet_hours_follow_at_once(bot: TimedBot) -> None:
    looks = a_job(CheckIn(), Every(seconds=1800, since=moment(BEGINS)), name="looks1")
    await bot.has(looks)
    await bot.store.heartbeats.save(Heartbeat(chat=ANN, person="ann", job=looks.id))

    await bot.hears("/tz Tokyo")

    assert (await bot.job(looks)).zone == "Asia/Tokyo"
    assert bot.screen == ["Time zone in this chat: **Asia/Tokyo**. It is Mon 23 Nov 16:00 there."]


async def test_it_is_told_in_chinese(bot: TimedBot) -> None:
    await bot.hears("/tz 北京", language="zh")
    await bot.hears("/tz", language="zh")

    assert bot.screen[0] == "已在本聊天中设置时区：**Asia/Shanghai**。当地时间 11月23日 周一 15:00。"
    assert bot.screen[1].startswith("这里的时区：**Asia/Shanghai**（在这里设置）。")
