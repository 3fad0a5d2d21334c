"""Notices about failing jobs: after two failures in a row, rarely, and once when the job works again."""

import pytest

from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure, calls
from agent_core.origin import CLEAN
from gateway.schedule.jobs.notices import failures_in_a_row
from gateway.store.job import Firing, FiringState, Job, Report
from gateway.store.rule import Every, Once
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, BOB, TEAM, TimedBot, a_job, moment

REFUSED = Failure(FailureKind.AUTH, "bad key")
EVERY_TEN = Every(seconds=600, since=moment("2026-11-23 09:00"))
NOTHING = calls(("nothing_to_report", {"why": "all is well"}))


def sales(name: str = "abc123", **how: object) -> Job:
    return a_job(Report(instructions="Report the sales."), EVERY_TEN, name=name, **how)  # type: ignore[arg-type]


async def goes_by(bot: TimedBot, *times: str) -> None:
    for time in times:
        bot.at(f"2026-11-23 {time}")
        await bot.look()


async def test_one_failure_is_made_up_for_by_the_next_time(start_bot: StartTimedBot) -> None:
    bot = await start_bot(REFUSED, "Sales: 42.")
    await bot.has(sales())
    await goes_by(bot, "09:00")

    assert bot.screen == []
    assert (await bot.firing("abc123")).error
    assert (await bot.job("abc123")).failures == 1
    await goes_by(bot, "09:10")
    assert [said.splitlines()[-1] for said in bot.screen] == ["Sales: 42."]
    assert (await bot.job("abc123")).failures == 0


async def test_two_in_a_row_are_told_with_why(wired_bot: StartTimedBot) -> None:
    bot = await wired_bot(REFUSED, REFUSED, "That the key is wrong.")
    await bot.has(sales())
    await goes_by(bot, "09:00", "09:10")

    [said] = bot.screen
    assert "2 times in a row" in said
    assert "Report the sales." in said
    assert "The model's provider refused the key. (run job-abc123-20261123T081000Z)" in said
    await bot.hears("what does it say?")
    assert "the news that a scheduled job failed (abc123)" in bot.llm.requests[-1].model_dump_json()


async def test_an_owner_reads_the_cause_and_the_cure_and_others_one_sentence(start_bot: StartTimedBot) -> None:
    bot = await start_bot(*[REFUSED] * 6)
    await bot.has(sales(), sales("def456", chat=TEAM), sales("ghi789", chat=BOB, person="bob"))
    await goes_by(bot, "09:00", "09:10")

    told = {posted.chat: message for posted, message in bot.channel.posts}
    sentence = "The model's provider refused the key. (run job-"
    assert all(sentence in message.markdown for message in told.values())
    cure = "scripted answered: bad key. Set `OPENAI_API_KEY` again and restart Parley; `./run doctor` checks it."
    assert told[ANN].markdown.endswith(cure)
    assert told[TEAM].markdown.endswith("20261123T081000Z)")
    assert told[BOB].markdown.endswith("20261123T081000Z)")
    assert [told[chat].buttons[0][0].label for chat in (ANN, TEAM, BOB)] == ["Try again"] * 3


async def test_the_same_cause_is_told_once_an_hour_whichever_job_it_is(start_bot: StartTimedBot) -> None:
    bot = await start_bot(*[REFUSED] * 40)
    await bot.has(sales(), sales("def456"))
    await goes_by(bot, "09:00", "09:10", "09:20", "09:50", "10:00")

    assert len(bot.screen) == 1
    await goes_by(bot, "10:10")
    assert len(bot.screen) == 2


async def test_another_cause_is_told_beside_it(start_bot: StartTimedBot) -> None:
    quota = Failure(FailureKind.QUOTA, "no money")
    bot = await start_bot(REFUSED, REFUSED, quota, quota)
    await bot.has(sales())
    await goes_by(bot, "09:00", "09:10", "09:20", "09:30")

    assert ["refused the key" in said for said in bot.screen] == [True, False]
    assert ["no quota left" in said for said in bot.screen] == [False, True]


async def test_that_it_works_again_is_said_once(start_bot: StartTimedBot) -> None:
    bot = await start_bot(REFUSED, REFUSED, "Sales: 42.", "Sales: 43.")
    await bot.has(sales())
    await goes_by(bot, "09:00", "09:10", "09:20", "09:30")

    assert ["works again" in said for said in bot.screen] == [False, True, False]
    assert bot.screen[1].endswith("Sales: 42.")
    assert (await bot.job("abc123")).told_cause == ""


async def test_that_it_works_again_is_said_where_there_is_nothing_else_to_say(start_bot: StartTimedBot) -> None:
    bot = await start_bot(REFUSED, REFUSED, NOTHING, NOTHING)
    await bot.has(sales())
    await goes_by(bot, "09:00", "09:10", "09:20", "09:30")

    assert len(bot.screen) == 2
    assert "This works again." in bot.screen[1]


async def test_who_waits_for_one_time_is_told_at_once(start_bot: StartTimedBot) -> None:
    bot = await start_bot(REFUSED)
    await bot.has(a_job(Report(instructions="Report the sales."), Once(at=moment("2026-11-23 09:00"))))
    await goes_by(bot, "09:00")

    [said] = bot.screen
    assert said.startswith("⚠️ I could not do this: Report the sales.")


async def test_a_skill_that_is_gone_is_told_at_once_and_then_seldom(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job(Report(instructions="Report.", skill="daily-report"), EVERY_TEN))
    await goes_by(bot, "09:00", "09:10", "09:20")

    [said] = bot.screen
    assert "The skill `daily-report` that it follows cannot be used any more." in said
    assert (await bot.firing("abc123")).cause == "skill"
    assert bot.llm.requests == []


async def test_a_restart_between_two_failures_counts_them_right(start_bot: StartTimedBot) -> None:
    bot = await start_bot(REFUSED, REFUSED, REFUSED)
    await bot.has(sales())
    await goes_by(bot, "09:00")
    await bot.restart()
    await goes_by(bot, "09:10")
    await bot.restart()
    await goes_by(bot, "09:20")

    assert len(bot.screen) == 1
    assert (await bot.job("abc123")).failures == 3


def tried(*states: FiringState, slot: str = "s") -> list[Firing]:
    return [
        Firing("abc123", f"{slot}{number}", str(number), ANN, float(-number), CLEAN, state)
        for number, state in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("newest_first", "count"),
    [
        ([], 0),
        ([FiringState.FAILED], 1),
        ([FiringState.DONE, FiringState.FAILED], 0),
        ([FiringState.FAILED, FiringState.NOTHING, FiringState.FAILED], 1),
        ([FiringState.FAILED, FiringState.OVERLAPPED, FiringState.MISSED, FiringState.BEGUN, FiringState.FAILED], 2),
    ],
)
def test_what_was_skipped_says_nothing(newest_first: list[FiringState], count: int) -> None:
    assert failures_in_a_row(tried(*newest_first)) == count


def test_rehearsals_are_not_counted() -> None:
    assert failures_in_a_row(tried(FiringState.FAILED, FiringState.FAILED, slot="test:")) == 0
