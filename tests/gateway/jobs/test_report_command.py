"""/report: each report that ships with Parley needs one press and one confirmation."""

from pathlib import Path

import pytest

from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from gateway.commands.report import OFFERS
from gateway.store.job import JobState, Report
from gateway.store.rule import Cron
from tests.gateway.jobs.asking import labels, press, typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, meaning
from tests.gateway.test_skill_commands import write_skill


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    for offer in OFFERS.values():
        write_skill(tmp_path / "skills", offer.skill)
    return SkillLibrary([(tmp_path / "skills", Origin.SHIPPED)], environ={})


async def test_a_report_is_two_presses_away(start_bot: StartTimedBot, library: SkillLibrary) -> None:
    bot = await start_bot(skills=library, new_request_id=typed_ids())
    await bot.hears("/report")
    assert bot.screen[0].startswith("Which report?")
    assert labels(bot)[:2] == [["Notes", "This chat"], ["Web page", "My usage"]]

    shown = await press(bot, "Notes")
    assert shown.startswith("**Shall I set this up?** (Report)\n\n> A short report of what is new in the folder notes")
    assert "- **With the skill:** daily-report\n- **When:** every weekday at 09:00" in shown
    assert labels(bot) == [["Confirm", "Change", "Cancel"], ["Try it once"]]
    assert (await press(bot, "Confirm")).startswith("✓ Set (`ab0001`): every weekday at 09:00. Next: Mon 23 Nov 09:00.")
    assert len(bot.screen) == 1
    job = await bot.job("ab0001")
    assert job.state is JobState.ACTIVE
    assert isinstance(job.work, Report)
    assert job.work.skill == "daily-report"


async def test_its_time_and_more_words_are_said_behind_its_name(
    start_bot: StartTimedBot, library: SkillLibrary
) -> None:
    bot = await start_bot(skills=library, new_request_id=typed_ids())
    await bot.hears("/report chat every day 20:00 in three lines")

    job = await bot.job("ab0001")
    assert meaning(job.rule) == meaning(Cron(expression="0 20 * * *"))
    assert isinstance(job.work, Report)
    assert job.work.skill == "chat-digest"
    assert job.work.instructions.endswith("what is open.\nin three lines")


async def test_a_zone_that_is_named_is_the_one_of_the_report(start_bot: StartTimedBot, library: SkillLibrary) -> None:
    bot = await start_bot(skills=library, new_request_id=typed_ids())
    await bot.hears("/report chat every day at 9 and 17 Tokyo time in three lines")

    assert "- **When:** every day at 09:00 and 17:00 (Asia/Tokyo)" in bot.screen[-1]
    assert (await bot.job("ab0001")).zone == "Asia/Tokyo"


async def test_words_without_a_time_leave_the_usual_one(start_bot: StartTimedBot, library: SkillLibrary) -> None:
    bot = await start_bot(skills=library, new_request_id=typed_ids())
    await bot.hears("/report page https://example.org/news")

    job = await bot.job("ab0001")
    assert job.rule == OFFERS["page"].rule
    assert isinstance(job.work, Report)
    assert job.work.instructions == "What is new on this page or feed: https://example.org/news"


async def test_a_page_has_to_be_named(start_bot: StartTimedBot, library: SkillLibrary) -> None:
    bot = await start_bot(skills=library)
    await bot.hears("/report")

    assert (await press(bot, "Web page")).startswith("Which page or feed? Say `/report page every day 8:00 https://")
    assert await bot.store.jobs.in_chat(ANN) == []


async def test_in_chinese(start_bot: StartTimedBot, library: SkillLibrary) -> None:
    bot = await start_bot(skills=library, new_request_id=typed_ids())
    await bot.hears("/language zh")
    await bot.hears("/report usage 每周一9点")

    assert bot.screen[-1].startswith("**要这样设置吗？**（报告）\n\n> 报告最近七天的用量")
    assert "- **时间**：每周一 09:00（Europe/Paris）" in bot.screen[-1]


async def test_where_its_skill_is_gone_that_is_said(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.hears("/report notes")

    assert bot.screen == ["The skill daily-report is not here, so I cannot make this report."]
