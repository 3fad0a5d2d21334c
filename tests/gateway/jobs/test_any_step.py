"""The program is killed at any step of a firing; after the restart it is announced once and recorded once.

A step is what runs between two waits. The work is frozen before the n-th step, the home is copied as it is on disk
then, and another program starts in the copy, on the same platform.
"""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import pytest

from agent_core.messages import ToolResultMessage
from agent_core.models.llm import FailureKind, LlmRequest
from agent_core.models.scripted import Failure, Turn, calls
from agent_core.tools.tool import Tool
from channels.base import ChannelError, ChatKey, OutboundMessage, Posted
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.job import CheckIn, Heartbeat, Job, Report
from gateway.store.job_targets import JobTarget, TargetState
from gateway.store.opening import FILE
from gateway.store.rule import Once
from tests.gateway.jobs.kit import ANN, TEAM, Calendar, TimedBot, a_job, make_timed_bot, moment
from tests.gateway.jobs.test_firing_recovery import is_all_done, notes
from tests.gateway.jobs.test_reports import draw

NINE = Once(at=moment("2026-11-23 09:00"))
SALES = a_job(Report(instructions="Report the sales."), NINE)
WATCHED = frozenset({"Firings._fire", "ChatSession._process"})
"""The coroutines of a firing, by qualified name."""
FEW = 4
"""Steps from one kill to the next without `--all-platforms`, which kills at each."""
Work = Coroutine[object, object, object]


@dataclass
class Steps:
    """Counts the steps that are left in the process to be killed."""

    left: int
    watched: frozenset[str]
    """The coroutines whose steps are counted, by qualified name."""
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def task(self, loop: asyncio.AbstractEventLoop, work: Work, **how: object) -> "asyncio.Task[object]":
        """Create a task; used as the loop's task factory."""
        watched = _Watched(work, self) if getattr(work, "__qualname__", "") in self.watched else work
        return asyncio.Task(watched, loop=loop, **how)  # type: ignore[arg-type]


class _Watched(Coroutine[object, object, object]):
    """A coroutine that freezes when no step is left, until it is cancelled."""

    def __init__(self, work: Work, steps: Steps) -> None:
        self._work = work
        self._steps = steps
        self._is_frozen = False

    def __await__(self) -> object:  # type: ignore[override]
        return self._work.__await__()

    def send(self, value: object) -> object:
        if self._steps.left or self._is_frozen:
            self._steps.left -= not self._is_frozen
            return self._work.send(value)
        self._is_frozen = True
        self._steps.over.set()
        return next(asyncio.get_running_loop().create_future().__await__())

    def throw(self, kind: object, error: object = None, trace: TracebackType | None = None) -> object:
        self._is_frozen = True
        return self._work.throw(kind)  # type: ignore[call-overload]

    def close(self) -> None:
        self._work.close()


class Closed(MemoryChannel):
    """A platform on which the group is gone."""

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        if chat == TEAM:
            raise ChannelError("channel_not_found", permanent=True)
        return await super().send(chat, message, key)


@dataclass(frozen=True)
class Kind:
    job: Job
    says: Sequence[str]
    is_noted: bool = True
    turn: Turn = ""
    tools: Sequence[Tool] = ()
    is_rehearsal: bool = False
    goes_to: ChatKey | None = None
    """The other chat in which it is posted."""
    is_gone: bool = False
    """True if that chat takes no messages."""


def reports(request: LlmRequest) -> Turn:
    done = sum(isinstance(message, ToolResultMessage) for message in request.messages)
    turns: list[Turn] = [calls(("draw", {})), calls(("send_file", {"path": "chart.txt"})), "Sales: 42."]
    return turns[done]


KINDS = {
    "reminder": Kind(a_job("make tea", NINE), ["⏰ make tea"]),
    "report": Kind(SALES, ["Sales: 42."], turn=reports, tools=[draw]),
    "nothing": Kind(SALES, [], is_noted=False, turn=calls(("nothing_to_report", {"why": "none"}))),
    "failure": Kind(SALES, ["The model's provider refused the key."], turn=Failure(FailureKind.AUTH)),
    "rehearsal": Kind(SALES, ["Sales: 42."], is_noted=False, turn="Sales: 42.", is_rehearsal=True),
    "elsewhere": Kind(SALES, ["Sales: 42."], turn=reports, tools=[draw], goes_to=TEAM),
    "come back": Kind(SALES, ["Sales: 42."], turn=reports, tools=[draw], goes_to=TEAM, is_gone=True),
    "check-in": Kind(a_job(CheckIn(), NINE, name="beat01"), ["Sales wait for you."], turn="Sales wait for you."),
}


async def begin(bot: TimedBot, kind: Kind) -> None:
    """Make the job due, or run it on request."""
    await bot.has(kind.job)
    if kind.goes_to:
        await bot.store.job_targets.add([JobTarget("to0001", kind.job.id, kind.goes_to, TargetState.OPEN)])
    if isinstance(kind.job.work, CheckIn):
        await bot.store.heartbeats.save(Heartbeat(ANN, "ann", kind.job.id))
        folder = bot.home / "workspaces" / "memory_here_ann"
        await asyncio.to_thread(folder.mkdir, parents=True)
        await asyncio.to_thread((folder / "HEARTBEAT.md").write_text, "- tell me when sales wait\n")
    bot.at("2026-11-23 09:00")


async def fire(bot: TimedBot, kind: Kind) -> None:
    if kind.is_rehearsal:
        await bot.firings.run_now(kind.job, "e1", for_author=ANN)
    else:
        await bot.fires(kind.job)
    await bot.app.settled()


@asynccontextmanager
async def life(home: Path, kind: Kind, channel: MemoryChannel) -> AsyncIterator[TimedBot]:
    clock = Calendar("2026-11-23 09:00")
    bot = make_timed_bot(home, [kind.turn] * 20, channel=channel, clock=clock, tools=kind.tools)
    await bot.start()
    try:
        yield bot
    finally:
        await bot.stop()


def copy(home: Path, to: Path) -> None:
    """Copy the home as it is on disk now, even during writes."""
    shutil.copytree(home, to, ignore=shutil.ignore_patterns(f"{FILE}*"))
    with closing(sqlite3.connect(home / FILE)) as source, closing(sqlite3.connect(to / FILE)) as target:
        source.backup(target)


async def killed(work: Work, step: int, watched: frozenset[str] = WATCHED) -> bool:
    """Run the work until the given step; return True if it got that far."""
    loop, steps = asyncio.get_running_loop(), Steps(step, watched)
    loop.set_task_factory(steps.task)  # type: ignore[arg-type]
    working, over = asyncio.ensure_future(work), asyncio.ensure_future(steps.over.wait())
    try:
        await asyncio.wait([working, over], return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.set_task_factory(None)
        for task in (working, over):
            task.cancel()
        await asyncio.wait([working, over])
    return steps.over.is_set()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_killed_at_any_step_it_is_said_once_and_noted_once(
    kind: Kind, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    step, came, every = 0, True, 1 if request.config.getoption("all_platforms") else FEW
    while came:
        channel = Closed(limits=NO_PACE) if kind.is_gone else MemoryChannel(limits=NO_PACE)
        async with AsyncExitStack() as lives:
            first = await lives.enter_async_context(life(tmp_path / f"{step}", kind, channel))
            await begin(first, kind)
            came = await killed(fire(first, kind), step)
            home = tmp_path / f"{step}-next"
            await asyncio.to_thread(copy, first.home, home)
            bot = await lives.enter_async_context(life(home, kind, channel))
            await bot.app.settled()

            assert [words in said for words, said in zip(kind.says, bot.screen, strict=True)] == [True] * len(kind.says)
            assert notes(bot) == kind.is_noted, step
            assert {posted.chat for posted, _ in channel.posts} <= {TEAM if kind.goes_to and not kind.is_gone else ANN}
            assert is_all_done(bot), step
        step += every
    assert step > 2 * FEW
