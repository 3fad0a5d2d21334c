"""The whole gateway looks for due jobs as long as it runs, and resumes those of the previous process."""

import asyncio
from pathlib import Path

from channels.memory import NO_PACE, MemoryChannel
from gateway.store.job import FiringState, Job, Report
from gateway.store.rule import Cron, Once
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.jobs.kit import TimedBot, a_job, make_timed_bot, moment
from tests.process import until

HOURLY = Cron(expression="0 * * * *")


def soon(bot: Bot, seconds: float) -> Job:
    at = bot.clock.time() + seconds
    return a_job("Call mum.", Once(at=at), next_at=at)


async def test_a_reminder_comes_by_itself(tmp_path: Path) -> None:
    bot = Bot(tmp_path, (), BotOptions(channel=MemoryChannel(limits=NO_PACE), look_every=0.1))
    await bot.start()
    await bot.made.base.store.jobs.add(soon(bot, 0.3))

    await bot.channel.until(lambda: any("Call mum." in text for text in bot.screen))

    await bot.stop()


async def test_one_that_was_due_while_nobody_was_there_comes_after_the_start(tmp_path: Path) -> None:
    bot = Bot(tmp_path, (), BotOptions(channel=MemoryChannel(limits=NO_PACE), look_every=0.1))
    await bot.start()
    await bot.made.base.store.jobs.add(soon(bot, -7_200))
    await bot.restart()

    await bot.channel.until(lambda: any("Call mum." in text for text in bot.screen))

    await bot.stop()
    assert "2 h late" in bot.screen[0]


async def test_nobody_looks_after_the_end(tmp_path: Path) -> None:
    bot = Bot(tmp_path, (), BotOptions(look_every=0.05))
    await bot.start()
    await until(lambda: "what is due" in {task.get_name() for task in asyncio.all_tasks()})

    await bot.stop()

    assert {task.get_name() for task in asyncio.all_tasks()} & {"what is due"} == set()


async def test_down_over_three_firings_there_is_one_report_and_it_says_that_it_is_late(tmp_path: Path) -> None:  # S2-47
    bot = make_timed_bot(tmp_path, ["All quiet."])
    await bot.start()
    await bot.has(a_job(Report(instructions="look"), HOURLY))
    await bot.stop()
    bot.at("2026-11-23 11:20")
    await bot.restart()

    await look(bot)
    await look(bot)

    states = {firing.slot: firing.state for firing in await bot.store.firings.history("abc123", 9)}
    await bot.stop()
    assert len(bot.screen) == 1
    assert "All quiet." in bot.screen[0]
    assert "20 min late" in bot.screen[0]
    assert list(states.values()) == [FiringState.DONE, FiringState.MISSED, FiringState.MISSED]


async def test_what_was_missed_is_told_once_whatever_happens_then(tmp_path: Path) -> None:
    bot = make_timed_bot(tmp_path, [])
    await bot.start()
    await bot.has(a_job(Report(instructions="look")))
    bot.at("2026-11-23 20:00")

    await look(bot)
    await bot.restart()
    await look(bot)

    await bot.stop()
    assert bot.screen == [
        "Missed, and now it is too late: look (`abc123`), due Mon 23 Nov 09:00.\n\nThe next time is Tue 24 Nov 09:00."
    ]
    assert bot.calendar.now == moment("2026-11-23 20:00")


async def test_a_clock_set_back_for_a_day_makes_nobody_hear_anything_twice(tmp_path: Path) -> None:
    bot = make_timed_bot(tmp_path, [])
    await bot.start()
    await bot.has(a_job("Stand up!", HOURLY))
    for local in ("2026-11-23 09:00", "2026-11-23 10:00", "2026-11-22 09:30", "2026-11-22 10:00", "2026-11-23 10:00"):
        bot.at(local)
        await look(bot)

    said = [firing.slot for firing in await bot.store.firings.history("abc123", 99) if firing.state is FiringState.DONE]
    await bot.stop()

    assert len(said) == len(set(said)) == 3
    assert len([text for text in bot.screen if "Stand up!" in text]) == 3


async def look(bot: TimedBot) -> None:
    await bot.made.serving.scheduler.tick()
    await bot.app.settled()


async def test_a_clock_that_is_set_forward_while_it_runs_is_not_told_as_an_absence(tmp_path: Path) -> None:
    bot = make_timed_bot(tmp_path, [])
    await bot.start()
    await bot.has(
        a_job(Report(instructions="look")), a_job("call mum", Once(at=moment("2026-11-23 09:00")), name="once12")
    )
    bot.at("2026-11-23 20:00")

    await look(bot)

    await bot.channel.until(lambda: len(bot.screen) == 2)
    await bot.stop()
    assert any("11 h late. It was due Mon 23 Nov 09:00." in text for text in bot.screen)
    assert not any("running" in text or "away" in text for text in bot.screen)
