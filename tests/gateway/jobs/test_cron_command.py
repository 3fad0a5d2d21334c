"""/cron lists the jobs of a chat; users change them by commands and buttons."""

from dataclasses import replace

import pytest

from agent_core.origin import CLEAN
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.job import DeliveryState, Firing, FiringState, JobState, Pause, Report
from gateway.store.rule import Cron, Every
from tests.gateway.jobs.asking import labels, press, typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, TEAM, a_job, moment


class WithPrivateChats(MemoryChannel):
    """A platform on which every user has a private chat."""

    async def private_chat(self, person: str) -> ChatKey:
        return self.chat(person)


async def test_the_list_shows_what_comes_when_and_has_buttons(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.hears("/cron")
    assert bot.screen[-1].startswith(
        "Nothing is planned here. Tell me what you want when, or try `/remind in 20m pizza`"
    )

    await bot.has(
        a_job("stretch", name="aa0001"),
        a_job(Report(instructions="Tell me *all* of it."), Cron(expression="0 9 * * 1-5"), name="aa0002"),
        a_job("look up", Every(seconds=7200, since=moment("2026-11-23 08:00")), name="aa0003", zone="Asia/Tokyo"),
        a_job("no more", name="aa0004", state=JobState.PAUSED, pause=Pause.UNDELIVERABLE, next_at=None),
        a_job("over", name="aa0005", state=JobState.DONE, next_at=None),
    )
    await bot.hears("/cron")
    assert bot.screen[-1] == (
        "**Jobs here** (times in Europe/Paris):\n\n"
        "- `aa0001` every day at 09:00 – Reminder: stretch (next Mon 23 Nov 09:00)\n"
        "- `aa0002` every weekday at 09:00 – Report: Tell me \\*all\\* of it. (next Mon 23 Nov 09:00)\n"
        "- `aa0003` every 2 hours, Asia/Tokyo – Reminder: look up (next Mon 23 Nov 18:00)\n"
        "- `aa0004` every day at 09:00 – Reminder: no more (paused: nothing arrives here any more)"
    )
    assert labels(bot) == [
        ["Pause aa0001", "Run now", "Remove"],
        ["Pause aa0002", "Run now", "Remove"],
        ["Pause aa0003", "Run now", "Remove"],
        ["Resume aa0004", "Remove"],
    ]


async def test_a_pressed_list_reads_as_it_is_then(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job("stretch"), a_job("drink", name="abc124"))
    await bot.hears("/cron")

    now = await press(bot, "Pause abc123")
    assert now.startswith("`abc123` is paused.\n\n**Jobs here**")
    assert "- `abc123` every day at 09:00 – Reminder: stretch (paused)" in now
    assert labels(bot)[0] == ["Resume abc123", "Remove"]

    bot.at("2026-11-25 10:00")
    now = await press(bot, "Resume abc123")
    assert now.startswith("`abc123` goes on. Next: Thu 26 Nov 09:00. What came due meanwhile is not made up for.")
    assert (await bot.job("abc123")).next_at == moment("2026-11-26 09:00")

    now = await press(bot, "/cron rm abc123")
    assert now.startswith("`abc123` is removed: stretch\n\n**Jobs here**")
    assert await press(bot, "/cron rm abc124") == "`abc124` is removed: drink"
    assert len(bot.screen) == 1


async def test_what_is_added_is_for_an_agent_and_is_shown_with_its_cost(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/cron add 0 9 * * 1-5 tell me what is new")

    assert bot.screen[0].startswith("**Shall I set this up?** (Report)\n\n> tell me what is new\n\n")
    assert "- **Cost:** about " in bot.screen[0]
    assert bot.screen[0].endswith(" each time, a first guess.")
    await bot.hears("/cron confirm AB-OOO1")  # typed with O for 0
    assert bot.screen[1].startswith("✓ Set (`ab0001`): every weekday at 09:00. Next: Mon 23 Nov 09:00.")
    assert (await bot.job("ab0001")).work == Report(instructions="tell me what is new")


async def test_the_cost_is_what_it_was_the_last_times(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.has(a_job(Report(instructions="tell me"), name="aa0001"))
    for number, (tokens, usd) in enumerate([(1_000, 0.01), (3_000, 0.03), (0, 0.0)]):
        firing = Firing("aa0001", f"s{number}", f"f{number}", ANN, due=float(number), origin=CLEAN)
        assert await bot.store.firings.begin(firing)
        await bot.store.firings.end([replace(firing, state=FiringState.DONE, tokens=tokens, cost_usd=usd)])

    await bot.hears("/cron change aa0001 every day 10:00")
    assert "- **Cost:** about 0.02 USD each time, as the last 2." in bot.screen[0]


async def test_a_change_takes_the_job_s_place_only_with_a_yes(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.has(a_job("stretch"))

    await bot.hears("/cron change abc123 every day 10:00 stretch well")
    assert bot.screen[0].startswith("**Shall I change `abc123` to this?** (Reminder)\n\n> stretch well\n\n")
    assert await bot.job("abc123") == a_job("stretch")
    assert (
        await press(bot, "Confirm")
        == "✓ Changed (`abc123`): every day at 10:00. Next: Mon 23 Nov 10:00.\n\n> stretch well"
    )
    job = await bot.job("abc123")
    assert (job.next_at, job.state) == (moment("2026-11-23 10:00"), JobState.ACTIVE)
    assert [each.id for each in await bot.store.jobs.planned(ANN)] == ["abc123"]


async def test_a_change_of_the_time_alone_leaves_the_words(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.has(a_job(Report(instructions="tell me", skill="daily-report")))
    await bot.hears("/cron change abc123 every day 10:00")
    await press(bot, "Confirm")

    assert (await bot.job("abc123")).work == Report(instructions="tell me", skill="daily-report")


async def test_what_is_often_wanted_otherwise_is_on_buttons(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind every weekday 9:00 stand-up")

    now = await press(bot, "Change")
    assert now.endswith("or say `/cron change ab0001 every day 8:00`, with new words behind it where you like.")
    assert labels(bot) == [["1 h earlier", "1 h later"], ["Every day"], ["Confirm", "Cancel"]]
    assert "- **When:** every weekday at 08:00 " in await press(bot, "1 h earlier")
    assert "- **When:** every day at 08:00 " in await press(bot, "Every day")
    assert await press(bot, "Confirm") == "✓ Set (`ab0001`): every day at 08:00. Next: Tue 24 Nov 08:00.\n\n> stand-up"
    assert len(bot.screen) == 1


async def test_the_question_that_was_put_otherwise_is_not_answered_by_the_old_one(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind every weekday 9:00 stand-up")
    await bot.hears("/cron change ab0001 every weekday 10:00")

    assert bot.screen[1].startswith("**Shall I set this up?**")
    await press(bot, "/cron confirm ab0001")
    assert bot.screen[0].startswith("That no longer waits for confirmation.")
    await press(bot, "/cron confirm ab0002")
    assert bot.screen[1].startswith("✓ Set (`ab0002`): every weekday at 10:00.")


async def test_one_that_waits_can_be_seen_again(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind at 9 pizza")
    await bot.hears("/cron")

    assert await press(bot, "Show ab0001") == bot.screen[0]
    assert labels(bot) == [["Confirm", "Change", "Cancel"]]


async def test_a_time_that_has_passed_meanwhile_is_not_set(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind at 9 pizza")
    bot.at("2026-11-23 09:00")

    assert await press(bot, "Confirm") == "That time is past."
    assert labels(bot, 0) == [["Confirm", "Change", "Cancel"]]
    await bot.hears("/cron")
    assert bot.screen[-1].endswith("Reminder: pizza (its time passed without your confirmation)")


async def test_all_of_many_are_within_reach(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(*(a_job("x", name=f"aa{number:04}") for number in range(22)))
    await bot.hears("/cron")

    assert bot.screen[0].count("\n- `aa") == 20
    assert bot.screen[0].endswith("- and 2 more")
    assert [row[0] for row in labels(bot)] == [*(f"Pause aa{number:04}" for number in range(4)), "More"]
    for _ in range(5):
        await press(bot, "More")
    assert [row[0] for row in labels(bot)] == ["Pause aa0020", "Pause aa0021"]
    assert len(bot.screen) == 1


async def test_what_is_done_further_back_leaves_the_list_where_it_was(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(*(a_job("x", name=f"aa{number:04}") for number in range(10)))
    await bot.hears("/cron")
    for _ in range(2):
        await press(bot, "More")
    await press(bot, "Pause aa0009")
    assert [row[0] for row in labels(bot)] == ["Pause aa0008", "Resume aa0009"]
    for _ in range(2):
        await press(bot, "Remove")
    assert [row[0] for row in labels(bot)] == [f"Pause aa{number:04}" for number in range(4, 8)]
    assert len(bot.screen) == 1


async def test_reminders_stay_among_themselves(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    works = ["drink" if number % 2 else Report(instructions="tell me") for number in range(14)]
    await bot.has(*(a_job(work, name=f"aa{number:04}") for number, work in enumerate(works)))
    await bot.hears("/remind")
    assert [row[0] for row in labels(bot)][-2:] == ["Pause aa0007", "More"]

    await press(bot, "More")
    assert [row[0] for row in labels(bot)] == ["Pause aa0009", "Pause aa0011", "Pause aa0013"]
    assert (await press(bot, "Pause aa0013")).count("Report") == 0
    assert [row[0] for row in labels(bot)] == ["Pause aa0009", "Pause aa0011", "Resume aa0013"]


async def test_a_press_that_comes_again_finds_it_set(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind at 9 pizza")
    await bot.channel.presses("Confirm")
    await bot.channel.deliver(bot.channel.heard[-1].model_copy(update={"event_id": "again"}))
    await bot.settled()

    assert bot.screen == ["✓ Set (`ab0001`): Mon 23 Nov 09:00.\n\n> pizza"]


async def test_a_press_that_comes_again_finds_it_changed(start_bot: StartTimedBot) -> None:
    """The confirmation counted, but its answer was lost in a restart."""
    bot = await start_bot(new_request_id=typed_ids())
    await bot.has(a_job("stretch"))
    await bot.hears("/cron change abc123 every day 10:00 drink")
    await bot.channel.presses("Confirm")
    await bot.channel.deliver(bot.channel.heard[-1].model_copy(update={"event_id": "again"}))
    await bot.settled()

    assert bot.screen == ["✓ Changed (`abc123`): every day at 10:00. Next: Mon 23 Nov 10:00.\n\n> drink"]
    await bot.hears("/cron")
    assert bot.screen[-1].count("\n- `") == 1


async def test_a_second_yes_changes_nothing(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind at 9 pizza")
    await press(bot, "Confirm")
    await bot.hears("/cron confirm ab0001")

    assert bot.screen[0].startswith("✓ Set")
    assert bot.screen[1] == "That has been set already."


async def test_in_a_group_only_whose_it_is_or_an_owner_says_yes_and_changes_it(
    start_bot: StartTimedBot,
) -> None:  # D-11
    bot = await start_bot(new_request_id=typed_ids())
    not_yours = "Only the person whose job it is, or an owner or admin with no fewer rights, can change it."
    await bot.hears("/remind every day 9:00 stand-up", sender="bob", group="team")

    assert await press(bot, "Confirm", sender="carl") == not_yours
    assert (await bot.job("ab0001")).state is JobState.DRAFT
    await press(bot, "Confirm", sender="bob")
    assert bot.screen[0].startswith("✓ Set")
    for change in ("pause", "rm", "run", "test", "change", "history"):
        await bot.hears(f"/cron {change} ab0001", sender="carl", group="team")
        assert bot.screen[-1] == not_yours
    await bot.hears("/cron pause ab0001", sender="ann", group="team")
    assert bot.screen[-1] == "`ab0001` is paused."


async def test_an_admin_ends_an_owners_job_but_has_it_neither_run_nor_moved(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    not_yours = "Only the person whose job it is, or an owner or admin with no fewer rights, can change it."
    await bot.has(a_job("stretch", chat=TEAM))
    await bot.hears("/role memory:carl admin")
    for change in ("run abc123", "test abc123", "change abc123 at 10:00 stretch"):
        await bot.hears(f"/cron {change}", sender="carl", group="team")
        assert bot.screen[-1] == not_yours, change

    for end, again in (("pause", "resume"), ("rm", "restore")):
        await bot.hears(f"/cron {end} abc123", sender="carl", group="team")
        state = (await bot.job("abc123")).state
        assert state is not JobState.ACTIVE
        await bot.hears(f"/cron {again} abc123", sender="carl", group="team")
        assert (await bot.job("abc123")).state is state
        assert bot.screen[-1] == not_yours, again
        await bot.hears(f"/cron {again} abc123", sender="ann", group="team")
        assert (await bot.job("abc123")).state is JobState.ACTIVE


async def test_another_chat_s_jobs_are_not_here(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job("stretch", chat=TEAM))
    await bot.hears("/cron rm abc123")

    assert bot.screen == ["There is no job `abc123` here. `/cron` lists what there is."]


async def test_it_runs_now_and_its_times_stay(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job("stretch"))
    await bot.hears("/cron run abc123")

    assert "Running `abc123` now. Its times stay as they are." in bot.screen
    assert ["stretch" in text for text in bot.screen].count(True) == 1
    assert (await bot.job("abc123")).next_at == moment("2026-11-23 09:00")


async def test_it_is_tried_where_only_its_author_sees_it(start_bot: StartTimedBot) -> None:
    channel = WithPrivateChats(limits=NO_PACE)
    bot = await start_bot(channel=channel)
    await bot.has(a_job("stretch", chat=TEAM))
    await bot.hears("/cron test abc123", sender="ann", group="team")

    assert channel.screen_of(TEAM) == ["Running `abc123` now, for you alone. Its times stay as they are."]
    [alone] = channel.screen_of(ANN)
    assert "stretch" in alone
    assert (await bot.job("abc123")).next_at == moment("2026-11-23 09:00")


async def test_a_report_can_be_seen_once_before_the_yes(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Two notes are new.", new_request_id=typed_ids())
    await bot.hears("/cron add every day 9:00 tell me what is new")
    await press(bot, "Try it once")

    assert "Running `ab0001` now, for you alone. Its times stay as they are." in bot.screen
    assert ["Two notes are new." in text for text in bot.screen].count(True) == 1
    assert (await bot.job("ab0001")).state is JobState.DRAFT
    assert (await press(bot, "/cron confirm ab0001")) == bot.screen[-1]
    assert bot.screen[0].startswith("✓ Set (`ab0001`)")


async def test_what_nobody_says_yes_to_is_gone_after_a_day(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind every day 9:00 stretch")
    bot.at("2026-11-24 08:30")
    await bot.made.serving.scheduler.tick()

    await press(bot, "Confirm")
    assert bot.screen == ["That no longer waits for confirmation. Ask for it again if you still want it."]
    assert labels(bot) == []


async def test_where_nobody_is_found_alone_it_is_not_tried(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job("stretch", chat=TEAM))
    await bot.hears("/cron test abc123", sender="ann", group="team")

    assert bot.screen == ["Others read here, and I know no chat with you alone. Write to me directly and try it there."]


async def test_the_history_tells_outcome_and_delivery_apart(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job(Report(instructions="tell me")))
    begun = [
        Firing("abc123", f"s{day}", f"f{day}", ANN, due=moment(f"2026-11-{day} 09:00"), origin=CLEAN)
        for day in range(16, 22)
    ]
    ended = [
        replace(begun[0], state=FiringState.MISSED),
        replace(begun[1], state=FiringState.FAILED, error="the model did not answer"),
        replace(begun[2], state=FiringState.DONE, delivery=DeliveryState.FAILED, delivery_error="chat not found"),
        replace(begun[3], state=FiringState.NOTHING, began=0.0, ended=5.0, tokens=2_000),
        replace(begun[4], state=FiringState.DONE, delivery=DeliveryState.SENT, began=0.0, ended=72.0, tokens=4_120),
        replace(begun[5], slot="test:x", state=FiringState.DONE, delivery=DeliveryState.HELD, cost_usd=0.004),
    ]
    for firing in ended:
        await bot.store.firings.begin(replace(firing, state=FiringState.BEGUN))
        await bot.store.firings.end([firing])

    await bot.hears("/cron history abc123")
    assert bot.screen[-1] == (
        "**Last times of `abc123`:** every day at 09:00\n\n"
        "- Sat 21 Nov 09:00 – done, waits for the morning, test, 0.0040 USD\n"
        "- Fri 20 Nov 09:00 – done, sent, 1:12, 4,120 tokens\n"
        "- Thu 19 Nov 09:00 – nothing to report, 0:05, 2,000 tokens\n"
        "- Wed 18 Nov 09:00 – done, not delivered (chat not found)\n"
        "- Tue 17 Nov 09:00 – failed (the model did not answer)\n"
        "- Mon 16 Nov 09:00 – missed"
    )
    await bot.hears("/cron history")
    assert bot.screen[-1].startswith("**The last days here:**\n\n- `abc123` tell me: Sat 21 Nov 09:00 – done")


@pytest.mark.parametrize("typed", ["what", "pause", "rm", "9:00 stretch"])
async def test_what_is_not_understood_is_explained(start_bot: StartTimedBot, typed: str) -> None:
    bot = await start_bot()
    await bot.hears(f"/cron {typed}")

    assert bot.screen[0].startswith("Say `/cron add every weekday 9:00 WORDS`, or `/cron pause ID`")
