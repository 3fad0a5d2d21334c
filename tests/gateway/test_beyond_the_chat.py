"""Only owners look beyond the chat in which they are; admins see and end, and read nothing that is not theirs."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_schedules import NINE
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.test_rights_of_jobs import LOCAL, admin


async def test_an_admin_sees_and_sets_no_budget_of_jobs_in_owners_private_chats(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.", "Hi.")
    await bot.hears("/role memory:carl admin")
    for sender in ("ann", "bob"):
        await bot.hears("hello", sender=sender)
    for name, sender in (("aaa111", "ann"), ("bbb222", "bob")):
        assert await bot.made.base.store.jobs.add(replace(NINE, id=name, chat=bot.channel.chat(sender), person=sender))
        await bot.hears(f"/budget job {name} 5 USD a day")
    for line in ("/budget job aaa111", "/budget job aaa111 1 USD a day", "/budget raise job aaa111 $9/day"):
        await bot.hears(line, sender="carl")
        assert "5 USD" not in bot.screen[-1]
        assert "aaa111" in bot.screen[-1]
    await bot.hears("/budget job aaa111")
    assert "5 USD a day" in bot.screen[-1]
    await bot.hears("/budget job bbb222", sender="carl")
    assert "5 USD a day" in bot.screen[-1]


@pytest.mark.parametrize("verb", ["rm", "remove", "delete", "undo", "cancel", "pause"])
async def test_an_admin_who_ends_a_job_from_the_page_reads_none_of_its_words(tmp_path: Path, verb: str) -> None:
    async with admin_world(tmp_path, "Hi.") as world:
        await world.bot.hears("hello", sender="bob")
        carl, bob = await admin(world), world.bot.channel.chat("bob")
        line = "/cron add every day at 9:00 see the doctor" if verb == "cancel" else "/remind in 3 hours see the doctor"
        await world.bot.hears(line, sender="bob")
        (job,) = await world.bot.made.jobs.jobs.shown(bob)
        reply = await world.desk.run(carl, bob, f"/cron {verb} {job.id}", ())
        assert job.id in str(reply)
        assert "doctor" not in str(reply)
        if verb == "pause":
            assert "doctor" in str(await world.desk.run(LOCAL, bob, f"/cron rm {job.id}", ()))
