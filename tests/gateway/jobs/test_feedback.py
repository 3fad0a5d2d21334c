"""The buttons under messages that Parley sends by itself."""

from dataclasses import replace
from datetime import datetime

import pytest

from agent_core.origin import NOT_KNOWN
from gateway.commands.proactive import next_morning, weekly
from gateway.store.job import CheckIn, Heartbeat, JobState, Pause, Reaction, Reminder, Report
from gateway.store.rule import Cron, Every, Once, Rule
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, PARIS, TEAM, TimedBot, a_job, moment
from tests.gateway.jobs.speaking import actions, labels, reaction_to, said

REPORT = Report(instructions="Tell what is new")


async def press(bot: TimedBot, button: str, sender: str = "ann") -> None:
    await bot.channel.presses(button, sender=sender)
    await bot.settled()


# The Done button


async def test_done_marks_the_message_and_takes_its_buttons_away(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("Call the bank")
    await bot.has(job)
    firing = await said(bot, job, "Call the bank")

    await press(bot, "Done")

    assert bot.screen == ["⏰ Call the bank\n\n✓ Done"]
    assert labels(bot) == []
    assert await reaction_to(bot, firing) is Reaction.DONE
    assert (await bot.job(job)).state is JobState.ACTIVE


async def test_a_second_press_says_nothing_new(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("Call the bank")
    await bot.has(job)
    await said(bot, job, "Call the bank")
    before = bot.channel.posts[0][1]

    await press(bot, "Done")
    bot.channel.posts[0]
    pressed = bot.channel.heard[-1]
    await bot.channel.deliver(pressed.model_copy(update={"event_id": "again"}))
    await bot.channel.deliver(pressed.model_copy(update={"event_id": "later", "action": before.buttons[0][0].action}))
    await bot.settled()

    assert bot.screen == ["⏰ Call the bank\n\n✓ Done"]
    assert await bot.store.jobs.find("zk7m2xp") is None


async def test_in_a_group_everybody_may_press_who_may_speak_and_nobody_else(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("Stand-up", chat=TEAM)
    await bot.has(job)
    firing = await said(bot, job, "Stand-up")

    await press(bot, "Done", sender="eve")
    assert await reaction_to(bot, firing) is None
    await press(bot, "Done", sender="bob")
    assert await reaction_to(bot, firing) is Reaction.DONE


async def test_what_comes_again_for_somebody_is_not_taken_from_them(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("Stand-up", chat=TEAM)
    await bot.has(job)
    await said(bot, job, "Stand-up")
    await bot.hears("/proactive snooze k7m2xp 60", group="team")
    again = await bot.store.jobs.find("zk7m2xp")

    for line in ("done k7m2xp", "snooze k7m2xp 5"):
        await bot.hears(f"/proactive {line}", sender="bob", group="team")
        assert "Only the person whose job it is" in bot.screen[-1]
        assert await bot.store.jobs.find("zk7m2xp") == again
    await bot.hears("/proactive done k7m2xp", group="team")
    assert (await bot.job("zk7m2xp")).state is JobState.REMOVED


async def test_a_member_changes_nobody_elses_heartbeat_by_its_buttons(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(CheckIn(), chat=TEAM)
    await bot.has(job)
    await bot.store.heartbeats.save(Heartbeat(TEAM, "ann", job.id, on=True))
    await said(bot, job, "The plants are dry.")
    before = await bot.store.heartbeats.find(TEAM)

    for line in ("less k7m2xp", "snooze k7m2xp 600"):
        await bot.hears(f"/proactive {line}", sender="bob", group="team")
        assert "Only the person whose job it is" in bot.screen[-1]
        assert await bot.store.heartbeats.find(TEAM) == before
    await bot.hears("/proactive less k7m2xp", group="team")
    assert await bot.store.heartbeats.find(TEAM) != before


async def test_another_chat_s_message_is_unknown_here(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("Call the bank")
    await bot.has(job)
    firing = await said(bot, job, "Call the bank")

    await bot.hears("/proactive done k7m2xp", sender="bob")
    await bot.hears("/proactive done nobody")

    assert bot.screen[1:] == ["I do not know that message any more."] * 2
    assert await reaction_to(bot, firing) is None


async def test_the_command_stands_in_no_help(start_bot: StartTimedBot) -> None:
    bot = await start_bot()

    await bot.hears("/help")

    assert "proactive" not in bot.screen[0]


async def test_a_message_that_has_no_room_for_another_line_loses_its_buttons_only(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("x" * 3_998)
    await bot.has(job)
    await said(bot, job, "x" * 3_998)

    await press(bot, "Done")

    assert bot.screen == [f"⏰ {'x' * 3_998}"]
    assert labels(bot) == []


async def test_only_a_line_about_it_gives_way_to_another_and_never_its_own_words(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    text = "y" * 3_900 + "\n\nThe end."
    job = a_job(text)
    await bot.has(job)
    await said(bot, job, text + "z" * 80)

    await press(bot, "Snooze 1 h")
    await press(bot, "Done")

    assert bot.screen[0].startswith(f"⏰ {text}")


# The Snooze button


async def test_a_snoozed_reminder_comes_again_in_an_hour(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("Call the bank")
    await bot.has(job)
    firing = await said(bot, job, "Call the bank")

    await press(bot, "Snooze 1 h")

    assert bot.screen == ["⏰ Call the bank\n\n💤 Again Mon 23 Nov 09:00"]
    assert labels(bot) == [["In 3 h instead", "Tomorrow morning", "Done"]]
    again = await bot.job("zk7m2xp")
    assert (again.state, again.next_at) == (JobState.ACTIVE, moment("2026-11-23 09:00"))
    assert (again.work, again.rule) == (Reminder(text="Call the bank"), Once(at=moment("2026-11-23 09:00")))
    assert await reaction_to(bot, firing) is Reaction.SNOOZED


async def test_the_time_can_be_chosen_otherwise_and_it_comes_once(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("Call the bank")
    await bot.has(job)
    await said(bot, job, "Call the bank")

    await press(bot, "Snooze 1 h")
    await press(bot, "In 3 h instead")
    assert bot.screen == ["⏰ Call the bank\n\n💤 Again Mon 23 Nov 11:00"]
    assert (await bot.job("zk7m2xp")).next_at == moment("2026-11-23 11:00")
    await press(bot, "Tomorrow morning")
    assert bot.screen == ["⏰ Call the bank\n\n💤 Again Tue 24 Nov 09:00"]
    assert (await bot.job("zk7m2xp")).next_at == moment("2026-11-24 09:00")
    assert [each.id for each in await bot.store.jobs.in_chat(ANN)] == ["abc123", "zk7m2xp"]


async def test_what_is_done_does_not_come_again(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("Call the bank")
    await bot.has(job)
    await said(bot, job, "Call the bank")

    await press(bot, "Snooze 1 h")
    await press(bot, "Done")

    assert bot.screen == ["⏰ Call the bank\n\n✓ Done"]
    assert (await bot.job("zk7m2xp")).state is JobState.REMOVED


async def test_a_snoozed_report_brings_its_words_and_what_strangers_wrote_stays_theirs(
    start_bot: StartTimedBot,
) -> None:
    bot = await start_bot()
    job = a_job(REPORT)
    await bot.has(job)
    await said(bot, job, "Two notes.\n\n- one\n- two", origin=NOT_KNOWN)

    await press(bot, "Snooze 1 h")

    again = await bot.job("zk7m2xp")
    assert again.work == Reminder(text="**Report: Tell what is new**\n\nTwo notes.\n\n- one\n- two")
    assert again.origin.is_tainted
    assert bot.screen[0].endswith("- two\n\n💤 Again Mon 23 Nov 09:00")


async def test_a_snoozed_check_in_lets_the_heartbeat_rest(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(CheckIn(), Every(seconds=1800, since=0), name="heart1", next_at=moment("2030-01-01 00:00"))
    await bot.has(job)
    await bot.store.heartbeats.save(Heartbeat(ANN, "ann", "heart1"))
    await said(bot, job, "The build is red.")

    await press(bot, "Snooze 1 h")

    heartbeat = await bot.store.heartbeats.find(ANN)
    assert heartbeat is not None
    assert heartbeat.snoozed_until == moment("2026-11-23 09:00")
    assert (await bot.job("zk7m2xp")).work == Reminder(text="The build is red.")


@pytest.mark.parametrize(
    ("now", "morning"),
    [
        ("2026-11-23 20:00", "2026-11-24 09:00"),
        ("2026-11-24 01:30", "2026-11-24 09:00"),
        ("2026-11-24 05:00", "2026-11-25 09:00"),
        ("2027-03-27 22:00", "2027-03-28 09:00"),
    ],
)
def test_tomorrow_morning_is_what_people_mean_who_are_awake(now: str, morning: str) -> None:
    assert datetime.fromtimestamp(next_morning(moment(now), PARIS), PARIS) == datetime.fromisoformat(morning).replace(
        tzinfo=PARIS
    )


# The Less button


async def test_less_of_check_ins_lowers_how_many_there_are_in_a_day(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(CheckIn(), Every(seconds=1800, since=0), name="heart1", next_at=moment("2030-01-01 00:00"))
    await bot.has(job)
    await bot.store.heartbeats.save(Heartbeat(ANN, "ann", "heart1"))
    first = await said(bot, job, "The build is red.", name="aaaaa1")

    await press(bot, "Less like this")
    assert bot.screen[-1] == "The build is red.\n\n↓ From now on at most 1 a day."
    assert await reaction_to(bot, first) is Reaction.LESS

    await said(bot, job, "It is still red.", name="aaaaa2")
    await press(bot, "Less like this")
    assert bot.screen[-1].endswith("↓ It is one a day at most already. I will be choosier.")
    assert actions(bot) == [["/heartbeat off"]]


async def test_less_of_a_job_asks_what_is_to_become_of_it(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(REPORT)
    await bot.has(job)
    await said(bot, job, "Two notes.")

    await press(bot, "Less like this")
    assert bot.screen[-1].endswith("Two notes.\n\n↓ What shall become of it?")
    assert labels(bot) == [["Pause it", "Weekly", "Remove it", "Leave it"]]
    assert (await bot.job(job)).state is JobState.ACTIVE

    await press(bot, "Leave it")
    assert bot.screen[-1].endswith("Two notes.\n\n✓ It stays as it is.")
    assert labels(bot) == []


async def test_it_can_be_paused_from_there(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(REPORT)
    await bot.has(job)
    await said(bot, job, "Two notes.")

    await press(bot, "Less like this")
    await press(bot, "Pause it")

    assert bot.screen[-1].endswith("Two notes.\n\n⏸ Paused (`abc123`)")
    assert ((await bot.job(job)).state, (await bot.job(job)).pause) == (JobState.PAUSED, Pause.PERSON)


async def test_it_can_come_weekly_from_then_on(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(REPORT)
    await bot.has(job)
    bot.at("2026-11-24 09:00")
    await said(bot, job, "Two notes.")

    await press(bot, "Less like this")
    await press(bot, "Weekly")

    assert bot.screen[-1].endswith("Two notes.\n\n↓ Every week now. Next Tue 1 Dec 09:00")
    after = await bot.job(job)
    assert (after.rule, after.next_at) == (Cron(expression="0 9 * * 2"), moment("2026-12-01 09:00"))


async def test_it_can_be_removed_from_there_but_not_by_a_stranger_to_it(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(REPORT, chat=TEAM)
    await bot.has(job)
    await said(bot, job, "Two notes.")

    await press(bot, "Less like this")
    await press(bot, "Remove it", sender="bob")
    assert (await bot.job(job)).state is JobState.ACTIVE
    await press(bot, "Remove it")
    assert (await bot.job(job)).state is JobState.REMOVED
    assert bot.screen[0].endswith("Two notes.\n\n✗ Removed (`abc123`)")


async def test_what_comes_only_once_cannot_come_less(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("Call", Once(at=moment("2026-11-23 08:30")))
    await bot.has(job)
    await said(bot, replace(job, state=JobState.DONE), "Call")

    await press(bot, "Less like this")

    assert bot.screen == ["⏰ Call\n\n↓ It came only this once."]


DUE = moment("2026-11-25 07:45")


@pytest.mark.parametrize(
    ("rule", "rarer"),
    [
        (Cron(expression="45 7 * * *"), Cron(expression="45 7 * * 3")),
        (Cron(expression="*/15 * * * 1-5"), Cron(expression="45 7 * * 3")),
        (Every(seconds=3600, since=DUE), Every(seconds=604_800, since=DUE)),
        (Cron(expression="45 7 * * 3"), None),
        (Cron(expression="0 9 1 * *"), None),
        (Every(seconds=604_800, since=DUE), None),
        (Once(at=DUE), None),
    ],
)
def test_weekly_is_on_the_day_on_which_it_came(rule: Rule, rarer: Rule | None) -> None:
    assert weekly(rule, PARIS, DUE) == rarer


async def test_in_chinese(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.hears("/language zh")
    job = a_job("给银行打电话", language="zh")
    await bot.has(job)
    await said(bot, job, "给银行打电话")

    await press(bot, "1 小时后再提醒")

    assert bot.screen[-1].startswith("⏰ 给银行打电话\n\n💤 11月23日 周一 09:00 再提醒")
    assert labels(bot) == [["改为 3 小时后", "明天早上", "完成"]]
