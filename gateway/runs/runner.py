"""The lifecycle that the runs of chats, tasks and jobs share."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from msgspec import Struct

from agent_core.agent import Agent
from agent_core.events import AgentEnd, AgentEvent, BudgetReached, MessageUpdate, ToolExecutionStart
from agent_core.file_handles import lack
from agent_core.loop.event_stream import Emit
from agent_core.messages import AgentMessage
from agent_core.models.llm import FailureCause
from gateway.records.audit import AuditLog
from gateway.records.run_recorder import Records, RunRecorder
from gateway.records.run_tally import RunTally
from gateway.runs.attempts import is_stuck
from gateway.runs.chat_models import ChatModels
from gateway.runs.drain import Drain
from gateway.store.rows import Run
from gateway.store.store import Store


class _Left(BaseException):
    """A run is left where it is. No error: nothing in the loop may take it for one."""


class Watcher(Protocol):
    """Follows a run. This is where the kinds of runs differ."""

    @property
    def released(self) -> asyncio.Event | None:
        """Set when a user stops the run, so that it is not left for the next process to resume."""

    @property
    def is_left(self) -> bool:
        """True once the run is to be left where it is, to be resumed later."""

    def show(self, event: AgentEvent) -> None:
        """Handle an event, before it is stored."""

    def said(self, message_id: str) -> None:
        """Handle a message that has entered the transcript."""

    def ended(self, end: AgentEnd) -> None:
        """Handle the last event, after it was stored."""


class Attempt(Struct, frozen=True):
    """Another attempt at a run of an earlier process."""

    said: Sequence[AgentMessage]
    """The run's stored messages."""
    is_stuck: bool
    """True if the program crashed too often in the same step of it."""
    is_lost: bool = False
    """True if it has messages, and none of them can be read any more."""


class Runner:
    """Drives runs. Everything said is stored; runs that a shutdown cuts off are resumed by the next process."""

    def __init__(
        self, store: Store, audit: AuditLog, drain: Drain, models: ChatModels, fresh: Callable[[], Awaitable[None]]
    ) -> None:
        """`fresh` returns when no other process can have taken over the chats of this one, see `Sending`."""
        self._fresh = fresh
        self.drain = drain
        self.tally = RunTally()
        self._store = store
        self._records = Records(store, audit, self.tally)
        self._models = models
        self._open: set[str] = set()

    def begin(self, run: Run) -> None:
        """Track a run that this process begins or resumes."""
        self._open.add(run.id)

    def end(self, run_id: str) -> None:
        """Stop tracking a run whose end is recorded."""
        self._open.discard(run_id)

    @contextmanager
    def tracked(self, run: Run) -> Iterator[None]:
        """Track a run while the context is open, and after it if it is cut off."""
        self._open.add(run.id)
        is_cut_off = False
        try:
            yield
        except asyncio.CancelledError:
            is_cut_off = True
            raise
        finally:
            if not is_cut_off:
                self._open.discard(run.id)

    async def resume(self, run: Run) -> Attempt:
        """Record another attempt at a run, and return what it has said so far."""
        said = await self._store.transcript.said_in(run)
        is_lost = not said and await self._store.transcript.has_rows(run)
        return Attempt(said, await is_stuck(self._store, run, said), is_lost)

    async def equip(self, run: Run, agent: Agent) -> None:
        """Give the agent of a run its model."""
        await self._models.give(agent, run)

    @contextmanager
    def driving(self, run: Run, agent: Agent, watcher: Watcher) -> Iterator[Emit]:
        """Yield what stores and handles each event of the run before the next one happens. `equip` the agent first.

        The context ends early where the watcher leaves the run. While the program drains, or the chat is left, the run
        pauses at its next safe point. No call begins in a process that may have been taken over: files in the home,
        unlike rows, could be written all the same.

        Raises OSError within the context if the run has failed for want of a file handle; it goes on where it stopped.
        """
        tools = agent.loop.tools
        recorder = RunRecorder(self._records, agent, run, watcher.said)

        async def handle(event: AgentEvent) -> None:
            if isinstance(event, AgentEnd) and event.cause is FailureCause.HANDLES:
                raise lack(event.error or "")
            watcher.show(event)
            if isinstance(event, MessageUpdate):  # pieces of an answer are only shown
                return
            await recorder.keep(event)
            await unit.follow(event, tools, watcher.released)
            match event:
                case ToolExecutionStart():
                    await self._fresh()
                case BudgetReached():
                    await self._store.runs.reached_budget(run)
                case AgentEnd():
                    watcher.ended(event)
                case _:
                    pass
            if watcher.is_left:
                raise _Left

        with self.drain.unit(run.id, run.chat) as unit, suppress(_Left):
            yield handle

    def stop(self) -> None:
        """Record a clean shutdown: open runs are resumed at the next start without counting a crash."""
        self._store.runs.note_shutdown(sorted(self._open))
