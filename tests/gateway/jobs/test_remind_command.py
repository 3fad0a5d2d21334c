"""/remind shows a reminder first, sets it with one press, and lists it."""

import pytest

from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.store.job import JobState, Reminder
from gateway.store.rule import Once
from tests.gateway.jobs.asking import labels, press, typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, moment


async def test_it_is_shown_and_then_set_by_one_press(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())

    await bot.hears("/remind at 9 pizza")
    assert bot.screen == [
        "**Shall I set this up?** (Reminder)\n\n"
        "> pizza\n\n"
        "- **When:** on Mon 23 Nov 2026 at 09:00 (Europe/Paris)\n"
        "- **If I am not running then:** it comes as soon as I am back.\n"
        "- **Cost:** nothing, no model is asked."
    ]
    assert labels(bot) == [["Confirm", "Change", "Cancel"]]
    assert (await bot.job("ab0001")).state is JobState.DRAFT
    assert await bot.store.jobs.due(moment("2027-01-01 00:00"), 10, ["memory"]) == []

    assert await press(bot, "Confirm") == "✓ Set (`ab0001`): Mon 23 Nov 09:00.\n\n> pizza"
    assert len(bot.screen) == 1
    assert labels(bot) == []
    job = await bot.job("ab0001")
    assert (job.state, job.chat, job.person) == (JobState.ACTIVE, ANN, "ann")
    assert (job.work, job.rule) == (Reminder(text="pizza"), Once(at=moment("2026-11-23 09:00")))
    assert job.next_at == moment("2026-11-23 09:00")


async def test_one_that_comes_again_shows_the_next_five_and_the_change_of_clocks(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())

    await bot.hears("/remind every weekday 9:00 stand-up")
    assert "- **When:** every weekday at 09:00 (Europe/Paris)\n" in bot.screen[0]
    slots = "Mon 23 Nov 09:00 · Tue 24 Nov 09:00 · Wed 25 Nov 09:00 · Thu 26 Nov 09:00 · Fri 27 Nov 09:00"
    assert f"- **Next:** {slots}\n" in bot.screen[0]
    assert "- Clocks change on Sun 28 Mar 2027: 09:00 stays 09:00.\n" in bot.screen[0]
    assert "it comes once, up to 2 h late; after that I skip it and say so." in bot.screen[0]


async def test_in_chinese_all_of_it_is(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/language zh")

    await bot.hears("/remind 明天9点 给银行打电话")
    assert bot.screen[1] == (
        "**要这样设置吗？**（提醒）\n\n"
        "> 给银行打电话\n\n"
        "- **时间**：2026年11月24日 周二 09:00（Europe/Paris）\n"
        "- **如果届时我没有运行**：恢复后立即补上。\n"
        "- **费用**：无，不调用模型。"
    )
    assert labels(bot) == [["确认", "修改", "取消"]]
    assert await press(bot, "确认") == "✓ 已设置（`ab0001`）：11月24日 周二 09:00。\n\n> 给银行打电话"


async def test_what_was_cancelled_is_gone(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind at 9 pizza")

    assert await press(bot, "Cancel") == "✗ Not set: pizza"
    assert labels(bot) == []
    await bot.hears("/cron confirm ab0001")
    assert bot.screen[-1].startswith("That no longer waits for confirmation.")


async def test_without_anything_it_lists_and_says_how(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind")
    assert bot.screen[-1].startswith("Say `/remind in 20m pizza`")

    await bot.hears("/remind at 9 pizza")
    await press(bot, "Confirm")
    await bot.hears("/remind every day 9:00 water the plants")
    await bot.hears("/cron add every day 10:00 count the plants")
    await bot.hears("/remind")
    title, rows, how = bot.screen[-1].split("\n\n")
    assert title == "**Reminders here** (times in Europe/Paris):"
    assert rows.split("\n") == [
        "- `ab0001` on Mon 23 Nov 2026 at 09:00 – Reminder: pizza (once)",
        "- `ab0002` every day at 09:00 – Reminder: water the plants (waits for your confirmation)",
    ]
    assert how.startswith("Say `/remind in 20m pizza`")
    assert labels(bot) == [["Pause ab0001", "Run now", "Remove"], ["Show ab0002", "Remove"]]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("at 9:00", "It says nothing yet. Put behind the time what it is about."),
        ("every 0 minutes drink", "That is too often: once a minute is the most."),
        ("0 9 31 2 * never", "That date never comes. Please check the day and the month."),
        ("2020-01-01 9:00 too late", "That time is past."),
    ],
)
async def test_what_cannot_be_is_said_and_nothing_is_written_down(  # S2-47
    start_bot: StartTimedBot, typed: str, said: str
) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears(f"/remind {typed}")

    assert bot.screen == [said]
    assert await bot.store.jobs.in_chat(ANN) == []


async def test_what_is_too_long_to_be_seen_whole_is_not_asked_for(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears(f"/remind in 20m {'very ' * 1_000}long")

    assert bot.screen == ["That is too long to be shown whole before you confirm it. Please make it shorter."]
    assert await bot.store.jobs.in_chat(ANN) == []


async def test_a_platform_that_wants_commands_otherwise_is_told_so(start_bot: StartTimedBot) -> None:
    bot = await start_bot(channel=MemoryChannel(limits=Limits(max_text=4_000, slash="!")))
    await bot.hears("/remind")

    assert "`!remind in 20m pizza`" in bot.screen[-1]
    assert "/remind" not in bot.screen[-1]


async def test_the_words_hide_nothing_and_format_nothing(start_bot: StartTimedBot) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.hears("/remind at 9 **pay** \u202eelbisivni")

    assert "> \\*\\*pay\\*\\* ⟨U+202E⟩elbisivni\n" in bot.screen[0]
