"""What one member proposes and puts off leaves room for the jobs of others, and stays within their own share."""

from channels.memory import NO_PACE, MemoryChannel
from gateway.schedule.jobs.jobs import MOST_WAITING
from gateway.settings.limits import QuotaSettings
from gateway.store.job import JobState
from gateway.store.rule import Every
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TEAM, a_job
from tests.gateway.jobs.speaking import said


async def test_proposals_that_one_person_leaves_open_keep_nobody_else_from_a_job(start_bot: StartTimedBot) -> None:
    bot = await start_bot(channel=MemoryChannel(limits=NO_PACE))
    for number in range(MOST_WAITING + 1):
        await bot.hears(f"/cron add every day at 9:00 look for {number}", sender="bob", group="team")
    assert bot.screen[-1].startswith(f"{MOST_WAITING} proposals of yours wait")

    await bot.hears("/remind in 5 hours drink", group="team")

    [job] = await bot.store.jobs.active()
    assert job.person == "ann"


async def test_putting_off_messages_sets_no_more_jobs_than_a_person_may_have(start_bot: StartTimedBot) -> None:
    bot = await start_bot(quotas=QuotaSettings(person_jobs=2))
    job = a_job("Stand-up", person="bob", chat=TEAM, rule=Every(seconds=300, since=0.0))
    await bot.has(job)
    for name in ("k7m2xp", "k7m2xq", "k7m2xr"):
        await said(bot, job, "Stand-up", name=name)
        await bot.hears(f"/proactive snooze {name} 600", sender="bob", group="team")

    assert len(await bot.store.jobs.active()) == 2
    assert bot.screen[-1].startswith("You have 2 jobs already")


async def test_what_is_put_off_already_may_be_put_off_further(start_bot: StartTimedBot) -> None:
    bot = await start_bot(quotas=QuotaSettings(person_jobs=2))
    job = a_job("Stand-up", person="bob", chat=TEAM, rule=Every(seconds=300, since=0.0))
    await bot.has(job)
    await said(bot, job, "Stand-up")
    for minutes in (60, 600):
        await bot.hears(f"/proactive snooze k7m2xp {minutes}", sender="bob", group="team")

    [again] = [each for each in await bot.store.jobs.active() if each.id != job.id]
    assert again.state is JobState.ACTIVE
    assert again.next_at == bot.clock.time() + 600 * 60
