"""The work that exists once: when it begins, how it goes on after an error, and how it ends."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from agent_core import supervise
from channels.base import ChannelError
from gateway.app.duties import Duties
from gateway.cluster.leases import IsReady, LocalLeases, Work, always_ready
from gateway.errors import ParleyError
from gateway.schedule.scheduler import HEAD_START
from gateway.store.rule import Once
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.jobs.kit import a_job
from tests.process import until


class Failing(LocalLeases):
    """Leases of which the first one fails in the middle of its work."""

    has_failed = False

    async def while_held(
        self, name: str, work: Work, *, on_wait: Callable[[], None] | None = None, is_ready: IsReady = always_ready
    ) -> None:
        if self.has_failed:
            await work()
        self.has_failed = True
        raise RuntimeError("a mistake")


async def test_duties_go_on_after_an_error_around_their_lease(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "FIRST_PAUSE", 0.01)
    bot, done = await nodes.start(), asyncio.Event()

    async def do() -> None:
        done.set()
        await asyncio.Event().wait()

    duties = asyncio.create_task(Duties({"all": do}, bot.made.people.supervisor, Failing()).run())
    await asyncio.wait_for(done.wait(), 30)

    duties.cancel()
    await asyncio.wait([duties])
    assert duties.cancelled()


async def test_one_of_them_that_fails_is_started_again_after_a_pause_while_the_others_go_on(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "FIRST_PAUSE", 0.01)
    bot, begun = await nodes.start(), list[str]()
    errors = [
        RuntimeError("a mistake"),
        ChannelError("nobody is there", permanent=True),
        ParleyError("The disk is full."),
    ]

    async def fails() -> None:
        begun.append("fails")
        if errors:
            raise errors.pop()
        await asyncio.Event().wait()

    async def goes_on() -> None:
        begun.append("goes on")
        await asyncio.Event().wait()

    duties = Duties({"fails": fails, "goes on": goes_on}, bot.made.people.supervisor, LocalLeases())
    running = asyncio.create_task(duties.run())
    await until(lambda: begun.count("fails") == 4)

    assert begun.count("goes on") == 1
    running.cancel()
    await asyncio.wait([running])


async def test_one_of_a_plugin_that_fails_is_logged_with_the_plugin(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "FIRST_PAUSE", 0.01)
    bot, begun = await nodes.start(), list[str]()

    async def count() -> None:
        begun.append("count")
        if len(begun) == 1:
            raise RuntimeError("a mistake")
        await asyncio.Event().wait()

    with capture_logs() as logs:
        duties = Duties({}, bot.made.people.supervisor, LocalLeases(), {"dice": {"count": count}})
        running = asyncio.create_task(duties.run())
        await until(lambda: len(begun) == 2)

    [failed] = [each for each in logs if each["log_level"] == "error"]
    assert (failed["event"], failed["plugin"], failed["duty"]) == ("a plugin failed", "dice", "count")
    running.cancel()
    await asyncio.wait([running])


class Losing(LocalLeases):
    """Leases that are lost when a test says so."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self.is_released = False

    async def while_held(
        self, name: str, work: Work, *, on_wait: Callable[[], None] | None = None, is_ready: IsReady = always_ready
    ) -> None:
        working = asyncio.ensure_future(work())
        await self.lost.wait()
        working.cancel()
        await asyncio.wait([working])
        self.is_released = True


async def test_all_of_them_have_ended_before_the_lease_is_released(nodes: Nodes) -> None:
    bot, leases, working = await nodes.start(), Losing(), set[str]()
    ended_late = list[str]()

    def loop(name: str) -> Work:
        async def work() -> None:
            working.add(name)
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0.05)  # as for a transaction that is on its way
                working.remove(name)
                ended_late.extend([name] * leases.is_released)

        return work

    running = asyncio.create_task(
        Duties({each: loop(each) for each in "abc"}, bot.made.people.supervisor, leases).run()
    )
    await until(lambda: working == {*"abc"})
    leases.lost.set()
    await asyncio.wait_for(running, 30)

    assert working == set()
    assert ended_late == []


async def reminded(bot: Bot, text: str) -> None:
    """Let what is due be done until a reminder that is due has come."""
    job = a_job(text, Once(at=time.time()), name=text, created="2026-01-01 00:00")
    assert await bot.made.base.store.jobs.add(replace(job, next_at=time.time()))
    doing = asyncio.create_task(bot.made.serving.scheduler.run(HEAD_START + 1))
    await until(lambda: f"⏰ {text}" in bot.screen)
    doing.cancel()
    await asyncio.wait([doing])


async def test_what_is_due_waits_for_the_channels_only_when_the_process_begins(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept, sleep = list[float](), asyncio.sleep

    async def noted(seconds: float) -> None:
        slept.append(seconds)
        await sleep(0 if seconds == HEAD_START else seconds)

    bot = await nodes.start()
    monkeypatch.setattr(asyncio, "sleep", noted)

    await reminded(bot, "tea")
    assert slept.count(HEAD_START) == 1
    await reminded(bot, "cake")  # the duties were elsewhere, and have come back
    assert slept.count(HEAD_START) == 1
