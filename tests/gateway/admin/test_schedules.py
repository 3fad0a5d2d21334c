"""The screen of schedules: what is planned in all chats, and changes of it."""

import re
from dataclasses import replace
from pathlib import Path

from aiohttp import ClientSession

from agent_core.origin import CLEAN
from channels.base import ChatKey
from gateway.store.budget import Payer, Spent
from gateway.store.job import Heartbeat, Job, JobState, Report
from gateway.store.job_targets import JobTarget, TargetState
from gateway.store.rule import Cron
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_pages import act

XSS = "<img src=x onerror=alert(1)>"
BOB = ChatKey(platform="memory", account="here", chat="bob")
NINE = Job(
    id="abc123",
    chat=BOB,
    person="bob",
    language="en",
    zone="Asia/Tokyo",
    rule=Cron(expression="0 9 * * *"),
    work=Report(instructions=f"Look at the sales {XSS}"),
    created=1.0,
    state=JobState.ACTIVE,
    next_at=4_000_000_000.0,
    origin=CLEAN,
)


async def shown(world: AdminWorld, path: str = "schedules", status: int = 200) -> str:
    async with world.client() as client, client.get(f"/admin/{path}") as page:
        assert page.status == status
        return await page.text()


async def state(world: AdminWorld, job_id: str = "abc123") -> JobState:
    job = await world.bot.made.base.store.jobs.find(job_id)
    assert job is not None
    return job.state


async def acts(client: ClientSession, command: str, *arguments: str) -> str:
    return await act(client, command, *arguments, chat=str(BOB))


def confirm_of(answer: str) -> str:
    """Return the command of the button that confirms a preview."""
    found = re.search(r'value="(/cron confirm [0-9a-z]{6})"', answer)
    assert found, answer
    return found[1]


async def test_an_empty_list_says_how_jobs_get_there(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        page = await shown(world)
        assert "Nothing is planned yet" in page
        assert "No chat has a heartbeat" in page
        await shown(world, "schedules/nojob1", 404)


async def test_jobs_of_all_chats_are_shown_in_words_and_filtered(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        store = world.bot.made.base.store
        await store.jobs.add(NINE)
        await store.jobs.add(replace(NINE, id="xyz789", chat=world.bot.channel.chat("ann"), state=JobState.PAUSED))
        await store.jobs.add(replace(NINE, id="dra678", state=JobState.DRAFT))
        await store.heartbeats.save(Heartbeat(BOB, "bob", "abc123", last_look=1.0, last_outcome="heartbeat_is_off"))
        payer = Payer(BOB, run="r", user="bob", person="memory:bob", job="abc123")
        await store.spending.reserve("c", world.bot.clock.time(), payer, "m", Spent(10, 1_500_000_000))
        page = await shown(world)
        assert "every day at 09:00" in page
        assert "Asia/Tokyo" in page
        assert "1.50 USD" in page
        assert XSS not in page
        assert "Look at the sales &lt;img" in page
        assert "/heartbeat off" in page
        for query, found in {
            "": {"abc123", "xyz789"},
            "q=sales": {"abc123", "xyz789"},
            "q=abc123": {"abc123"},
            "q=nothing": set(),
            f"chat={BOB}": {"abc123"},
            "state=paused": {"xyz789"},
            "state=active": {"abc123"},
        }.items():
            page = await shown(world, f"schedules?{query}")
            ids = {each for each in ("abc123", "xyz789", "dra678") if f'href="/admin/schedules/{each}"' in page}
            assert ids == found, query


async def test_the_other_chats_in_which_a_job_posts_are_named_with_their_answers(tmp_path: Path) -> None:
    team = ChatKey(platform="memory", account="here", chat="#team")
    async with admin_world(tmp_path) as world:
        store = world.bot.made.base.store
        await store.jobs.add(NINE)
        await store.jobs.add(replace(NINE, id="own456"))
        await store.job_targets.add(
            [
                JobTarget("t1", "abc123", team, TargetState.OPEN),
                JobTarget("t2", "abc123", replace_chat(team, f"#{XSS}"), TargetState.ASKED),
                JobTarget("t3", "abc123", replace_chat(team, "#sales"), TargetState.REFUSED),
            ]
        )

        listed, one = await shown(world), await shown(world, "schedules/abc123")
        for page in (listed, one):
            assert '<a href="/admin/schedules?chat=memory%3Ahere%3A%23team">' in page
            assert re.search(r"#sales[^<]*</a> \(refused\)", page)
            assert "(asked, no answer yet)" in page
            assert XSS not in page
        assert listed.count("posted in") == one.count("posted in") == 1
        in_team = await shown(world, "schedules?chat=memory%3Ahere%3A%23team")
        assert "/admin/schedules/abc123" in in_team
        assert "/admin/schedules/own456" not in in_team


def replace_chat(chat: ChatKey, name: str) -> ChatKey:
    return chat.model_copy(update={"chat": name})


async def test_a_job_is_paused_resumed_removed_and_brought_back(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await world.bot.made.base.store.jobs.add(NINE)
        assert "is paused" in await acts(client, "/cron pause abc123")
        assert await state(world) is JobState.PAUSED
        assert "goes on" in await acts(client, "/cron resume abc123")
        answer = await acts(client, "/cron rm abc123")
        assert await state(world) is JobState.REMOVED
        assert 'value="/cron restore abc123"' in answer
        assert "is back" in await acts(client, "/cron restore abc123")
        assert await state(world) is JobState.ACTIVE
        assert "cannot be brought back" in await acts(client, "/cron restore abc123")
        await acts(client, "/cron pause abc123")
        await acts(client, "/cron rm abc123")
        await acts(client, "/cron restore abc123")
        assert await state(world) is JobState.PAUSED


async def test_a_removed_draft_is_not_brought_back(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await world.bot.made.base.store.jobs.add(replace(NINE, state=JobState.DRAFT, next_at=None))
        assert "/cron restore" not in await acts(client, "/cron rm abc123")
        assert "cannot be brought back" in await acts(client, "/cron restore abc123")
        assert await state(world) is JobState.REMOVED


async def test_a_job_is_run_and_its_history_leads_to_the_run(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Sales are fine.") as world, world.client() as client:
        await world.bot.made.base.store.jobs.add(NINE)
        assert "Running" in await acts(client, "/cron run abc123")
        await world.bot.app.settled()
        assert any("Sales are fine." in text for text in world.bot.screen)
        page = await shown(world, "schedules/abc123")
        (firing,) = await world.bot.made.base.store.firings.history("abc123", 9)
        assert f"/admin/runs/{firing.run}" in page
        assert "Run" in await shown(world, f"runs/{firing.run}")


async def test_the_second_of_two_tabs_is_told_that_the_job_changed(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as first, world.client() as second:
        await world.bot.made.base.store.jobs.add(NINE)
        seen = f"/cron change abc123 @{NINE.version}"
        assert f'value="{seen}"' in await shown(world, "schedules/abc123")
        early = await acts(first, seen, "every day at 8:00")
        late = await acts(second, f"{seen} text:", "Look at the costs")
        assert "Look at the costs" in late
        await acts(first, confirm_of(early))
        assert "no longer applies" in await acts(second, confirm_of(late))
        answer = await acts(second, f"{seen} text:", "Look at the costs")
        assert "was changed meanwhile" in answer
        assert "08:00" in answer
        job = await world.bot.made.base.store.jobs.find("abc123")
        assert job is not None
        assert job.work == NINE.work
        again = await acts(second, f"/cron change abc123 @{job.version} text:", "Look at the costs")
        await acts(second, confirm_of(again))
        job = await world.bot.made.base.store.jobs.find("abc123")
        assert job is not None
        assert job.work == Report(instructions="Look at the costs")
        assert "08:00" in await shown(world, "schedules/abc123")


async def test_an_admin_sees_when_but_no_words_of_others(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        await world.bot.made.base.store.jobs.add(NINE)
        for path in ("schedules", "schedules/abc123"):
            page = await world.seen_by_admin(path)
            assert "every day at 09:00" in page
            assert "sales" not in page
        assert "sales" in await world.seen_by_admin("schedules", "memory:bob")
