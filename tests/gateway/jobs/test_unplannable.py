"""A job with an unknown zone or an unreadable rule can be seen and removed, and affects no other job."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.store.job import JobState
from gateway.store.rule import Cron, Once
from tests.gateway.jobs.asking import typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import a_job, moment
from tests.gateway.jobs.waking import ward

BROKEN = pytest.mark.parametrize(
    "broken",
    [
        {"zone": "Mars/Olympus"},
        {"zone": "../x"},
        {"rule": Cron(expression="99 9 * * *")},
        {"rule": Cron(expression="")},
        {"rule": Once(at=1e300)},
        {"rule": Once(at=-1e12), "next_at": -1e12},
    ],
)


@BROKEN
async def test_it_is_listed_and_can_be_removed(start_bot: StartTimedBot, broken: dict[str, object]) -> None:
    bot = await start_bot(new_request_id=typed_ids())
    await bot.store.jobs.add(replace(a_job("stretch"), **broken))  # type: ignore[arg-type]
    await bot.store.jobs.add(a_job("drink", name="def456"))

    await bot.hears("/cron")
    assert "`abc123`" in bot.screen[-1]
    assert "`def456` every day at 09:00" in bot.screen[-1]

    for command in ("/remind", "/cron history abc123", "/tz"):
        await bot.hears(command)
    assert len(bot.screen) == 4

    await bot.hears("/cron rm abc123")
    assert (await bot.job("abc123")).state is JobState.REMOVED


@BROKEN
async def test_it_does_not_keep_others_silent_when_the_clock_is_set_back(
    tmp_path: Path, broken: dict[str, object]
) -> None:
    async with ward(tmp_path) as here:
        await here.has(replace(a_job("x"), **broken), a_job("y", name="def456"))  # type: ignore[arg-type]
        await here.store.jobs.change("abc123", lambda job: replace(job, next_at=moment("2027-11-23 09:00")))
        await here.at("2026-11-28 09:30")

        await here.at("2026-11-23 07:00")

        assert await here.due.next_due() == moment("2026-11-23 09:00")
