"""Messages held during quiet hours arrive as one message in the morning."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from agent_core.models.scripted import Call, Calls
from channels.base import ChannelError
from gateway.store.job import CheckIn, DeliveryState, Firing, FiringState, Heartbeat, JobState, Pause, Reaction, Report
from gateway.store.rule import Cron, Every
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, TimedBot, a_job, moment
from tests.gateway.jobs.speaking import actions, contents, labels, noted, reaction_to

NOTES = Report(instructions="Tell what is new in the notes")
SALES = Report(instructions="Report the sales", skill=None)
AT_TWO, AT_THREE = Cron(expression="0 2 * * *"), Cron(expression="0 3 * * *")


async def sleeps(bot: TimedBot, **how: object) -> None:
    """Give Ann's chat a heartbeat, with quiet hours from 21:00 to 8:00."""
    never = moment("2030-01-01 00:00")
    await bot.has(a_job(CheckIn(), Every(seconds=1800, since=0), name="heart1", next_at=never))
    await bot.store.heartbeats.save(replace(Heartbeat(ANN, "ann", "heart1"), **how))  # type: ignore[arg-type]


async def morning(bot: TimedBot, local: str = "2026-11-24 08:00") -> None:
    bot.at(local)
    await bot.look()
    await bot.app.settled()


async def at_night(bot: TimedBot) -> None:
    for local in ("2026-11-24 02:00", "2026-11-24 03:00"):
        bot.at(local)
        await bot.look()


async def delivery(bot: TimedBot, job: str) -> DeliveryState:
    return (await bot.firing(job)).delivery


async def test_two_reports_of_the_night_are_one_message_in_the_morning(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Two notes.", "**Sales**\n\nUp.")
    await sleeps(bot)
    await bot.has(a_job(NOTES, AT_TWO, name="notes1"), a_job(SALES, AT_THREE, name="sales1"))

    await at_night(bot)
    assert bot.screen == []
    assert await delivery(bot, "notes1") is DeliveryState.HELD
    await morning(bot, "2026-11-24 07:59")
    assert bot.screen == []
    await morning(bot)

    assert bot.screen == [
        "**While it was quiet:**\n\n"
        "**1.** **Report: Tell what is new in the notes**\n\nTwo notes.\n\n"
        "**2.** **Sales**\n\nUp."
    ]
    assert labels(bot) == [
        [f"{number} · {label}" for label in ("Snooze 1 h", "Done", "Less like this")] for number in (1, 2)
    ]
    assert await delivery(bot, "notes1") is await delivery(bot, "sales1") is DeliveryState.SENT
    await morning(bot, "2026-11-24 08:30")
    assert len(bot.screen) == 1


async def test_each_has_its_own_buttons(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Two notes.", "**Sales**\n\nUp.")
    await sleeps(bot)
    await bot.has(a_job(NOTES, AT_TWO, name="notes1"), a_job(SALES, AT_THREE, name="sales1"))
    await at_night(bot)
    await morning(bot)

    await bot.channel.presses("2 · Done")
    await bot.settled()
    assert "**1.** **Report" in bot.screen[0]
    assert "**2. ✓ Done** **Sales**" in bot.screen[0]
    assert [row[0] for row in labels(bot)] == ["1 · Snooze 1 h"]

    await bot.channel.presses("1 · Snooze 1 h")
    await bot.settled()
    assert "**1. 💤 Again Tue 24 Nov 09:00** **Report" in bot.screen[0]
    assert labels(bot) == [["1 · In 3 h instead", "1 · Tomorrow morning", "1 · Done"]]
    await bot.channel.presses("1 · Done")
    await bot.settled()
    assert "**1. ✓ Done** **Report" in bot.screen[0]
    assert len(bot.screen) == 1
    assert await reaction_to(bot, await bot.firing("notes1")) is Reaction.DONE


async def test_the_numbers_of_a_report_s_own_headings_are_left_alone(start_bot: StartTimedBot) -> None:
    bot = await start_bot("**1. Sales**\n\nUp.\n\n**2. Costs**\n\nDown.", "Two notes.")
    await sleeps(bot)
    await bot.has(a_job(SALES, AT_TWO, name="sales1"), a_job(NOTES, AT_THREE, name="notes1"))
    await at_night(bot)
    await morning(bot)

    await bot.channel.presses("2 · Snooze 1 h")
    await bot.channel.presses("2 · Done")
    await bot.settled()

    assert "**2. Costs**" in bot.screen[0]
    assert "**2. ✓ Done** **Report" in bot.screen[0]


async def test_a_single_one_comes_as_it_would_have_come(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Two notes.")
    await sleeps(bot)
    await bot.has(a_job(NOTES, AT_TWO, name="notes1"))

    await at_night(bot)
    await morning(bot)

    firing = await bot.firing("notes1")
    assert bot.screen == ["**Report: Tell what is new in the notes**\n\nTwo notes."]
    assert actions(bot)[0][1] == f"/proactive done {firing.id}"


async def test_its_files_come_with_it(start_bot: StartTimedBot) -> None:
    bot = await start_bot(Calls((Call("send_file", {"path": "sales.csv"}, id="1"),)), "Up.", "Two notes.")
    await sleeps(bot)
    await bot.has(a_job(SALES, AT_TWO, name="sales1"), a_job(NOTES, AT_THREE, name="notes1"))
    keep(bot, "sales.csv", "1,2")

    await at_night(bot)
    await morning(bot)

    [(_, message)] = bot.channel.posts
    assert contents(message.attachments) == ["1,2"]


def keep(bot: TimedBot, name: str, content: str) -> None:
    folder = Path(bot.home) / "workspaces" / "memory_here_ann"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)


async def test_the_model_knows_what_the_morning_brought(wired_bot: StartTimedBot) -> None:  # S2-48
    bot = await wired_bot("Sales fell to 90.", "Because of the rain.")
    await sleeps(bot)
    await bot.has(a_job(SALES, AT_TWO, name="sales1"))
    await at_night(bot)
    await morning(bot)

    await bot.hears("why is it lower?")

    assert "Sales fell to 90." in bot.llm.requests[-1].model_dump_json()


async def test_reminders_come_at_night(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await sleeps(bot)
    await bot.has(a_job("Take the pill", AT_TWO))

    await at_night(bot)

    assert bot.screen == ["⏰ Take the pill"]


async def test_a_morning_that_was_interrupted_is_made_up_for_once(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Two notes.")
    await sleeps(bot)
    await bot.has(a_job(NOTES, AT_TWO, name="notes1"))
    await at_night(bot)

    bot.channel.fails("send", ChannelError("overloaded", retry_after=timedelta(hours=1).total_seconds()))
    bot.at("2026-11-24 08:00")
    await bot.made.serving.scheduler.tick()
    await bot.channel.until(lambda: any(call.kind == "send" for call in bot.channel.calls))
    assert bot.screen == []
    assert await delivery(bot, "notes1") is DeliveryState.PENDING
    await bot.restart()
    await bot.channel.until(lambda: bool(bot.screen))
    await morning(bot, "2026-11-24 08:01")

    assert bot.screen == ["**Report: Tell what is new in the notes**\n\nTwo notes."]
    assert await delivery(bot, "notes1") is DeliveryState.SENT


async def test_a_message_of_several_that_an_earlier_life_left_is_written_down_too(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Two notes.", "**Sales**\n\nUp.")
    await sleeps(bot)
    await bot.has(a_job(NOTES, AT_TWO, name="notes1"), a_job(SALES, AT_THREE, name="sales1"))
    await at_night(bot)

    bot.channel.fails("send", ChannelError("overloaded", retry_after=3600.0))
    bot.at("2026-11-24 08:00")
    await bot.made.serving.scheduler.tick()
    await bot.channel.until(lambda: any(call.kind == "send" for call in bot.channel.calls))
    bot.channel.fails("send", ChannelError("gone", permanent=True))
    await bot.restart()
    await bot.channel.until(lambda: len([call for call in bot.channel.calls if call.kind == "send"]) > 1)
    await bot.settled()
    await morning(bot, "2026-11-24 08:01")

    assert await delivery(bot, "notes1") is await delivery(bot, "sales1") is DeliveryState.FAILED


async def test_what_could_not_be_delivered_is_written_down_and_the_chat_left_alone(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Two notes.")
    await sleeps(bot)
    await bot.has(a_job(NOTES, AT_TWO, name="notes1"))
    await at_night(bot)

    bot.channel.fails("send", ChannelError("gone", permanent=True))
    await morning(bot)

    firing = await bot.firing("notes1")
    assert (firing.delivery, firing.delivery_error) == (DeliveryState.FAILED, "gone")
    assert (await bot.job("notes1")).pause is Pause.UNDELIVERABLE


async def test_what_nobody_is_to_get_any_more_is_dropped(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await sleeps(bot)
    off = a_job(CheckIn(), AT_TWO, name="looks1", state=JobState.PAUSED, next_at=None)
    sent_away = a_job(NOTES, AT_TWO, name="notes1", person="eve")
    await bot.has(off, sent_away)
    await noted(bot, off, "The plants are dry.", name="aaaaa1", delivery=DeliveryState.HELD)
    await noted(bot, sent_away, "Two notes.", name="aaaaa2", delivery=DeliveryState.HELD)

    await morning(bot)

    assert bot.screen == []
    assert await delivery(bot, "looks1") is await delivery(bot, "notes1") is DeliveryState.NONE


async def test_where_quiet_hours_are_given_up_what_waits_comes_at_once(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Two notes.")
    await sleeps(bot)
    await bot.has(a_job(NOTES, AT_TWO, name="notes1"))
    await at_night(bot)

    await bot.store.heartbeats.change(ANN, lambda found: replace(found, quiet_from=None, quiet_to=None))
    await morning(bot, "2026-11-24 03:30")

    assert len(bot.screen) == 1


async def test_very_many_come_in_messages_that_every_platform_takes(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await sleeps(bot)
    job = a_job(NOTES, AT_TWO, name="notes1", next_at=moment("2030-01-01 00:00"))
    await bot.has(job)
    for number in range(9):
        await noted(bot, job, f"Text {number}.", name=f"aaaaa{number}", delivery=DeliveryState.HELD)

    await morning(bot)

    assert [text.count("Text") for text in bot.screen] == [8, 1]
    assert [sum(map(len, message.buttons)) for _, message in bot.channel.posts] == [24, 3]


async def test_a_failure_of_the_night_is_told_without_buttons(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await sleeps(bot)
    job = a_job(NOTES, AT_TWO, name="notes1", next_at=moment("2030-01-01 00:00"))
    await bot.has(job)
    held: Firing = await noted(
        bot, job, "It failed twice.", name="aaaaa1", delivery=DeliveryState.HELD, state=FiringState.FAILED
    )

    await morning(bot)

    assert bot.screen == ["**While it was quiet:**\n\n**1.** It failed twice."]
    assert labels(bot) == []
    assert held.state is FiringState.FAILED
