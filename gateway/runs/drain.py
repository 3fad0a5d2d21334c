"""Lets work reach a safe point before the program ends. Nothing new begins meanwhile.

A run pauses before its next model call, and before calls that may be repeated; the next process resumes it there. A run
that waits for people, a budget or another run is at a safe point already.
"""

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Self, TypeVar

from agent_core.background import Background
from agent_core.events import (
    AgentEvent,
    BudgetReached,
    MessageEnd,
    PermissionRequest,
    RetryScheduled,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnStart,
)
from agent_core.messages import AssistantMessage
from agent_core.tools.registry import ToolRegistry
from channels.base import ChatKey

T = TypeVar("T")

BY_OTHERS = "task"
"""The tool whose calls are carried out by separate runs."""


class Unit:
    """A piece of work that the program waits for before it ends."""

    def __init__(self, drain: "Drain", name: str, chat: ChatKey | None) -> None:
        self.users = 0
        self.name = name
        self.chat = chat
        self._drain = drain
        self._rests = False
        self._running: set[str] = set()
        """Ids of the run's open calls."""
        self._waiting: set[str] = set()
        """Those of them that wait for people or for another run."""

    def __enter__(self) -> Self:
        self.users += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.users -= 1
        if not self.users:
            self._drain.forget(self)
        self._drain.changed.set()

    @property
    def rests(self) -> bool:
        """True if the work can be cut off now without loss."""
        return self._rests

    @rests.setter
    def rests(self, rests: bool) -> None:
        self._rests = rests
        self._drain.changed.set()

    async def follow(self, event: AgentEvent, tools: ToolRegistry, released: asyncio.Event | None = None) -> None:
        """Handle an event of a run with these tools, after it was stored.

        While the program drains, or the chat is left, this returns from a safe point only once `released` is set.
        """
        match event:
            case ToolExecutionStart():
                self._running.add(event.tool_call_id)
                if event.tool_name == BY_OTHERS:
                    self._waiting.add(event.tool_call_id)
            case PermissionRequest():
                self._waiting.add(event.tool_call_id)
            case ToolExecutionUpdate() if event.tool_name != BY_OTHERS:
                self._waiting.discard(event.tool_call_id)
            case ToolExecutionEnd():
                self._running.discard(event.tool_call_id)
                self._waiting.discard(event.tool_call_id)
            case _:
                pass
        waits = bool(self._running) and self._running <= self._waiting
        rests = waits or isinstance(event, BudgetReached)
        if rests != self._rests:
            self.rests = rests
        if self._drain.holds(self.chat) and _is_good_point(event, tools):
            await self.pause(released)

    async def pause(self, released: asyncio.Event | None = None) -> None:
        """Block while the program drains or the chat is left, until `released` is set."""
        if self._drain.holds(self.chat):
            self.rests = True
            await (released or asyncio.Event()).wait()
            self.rests = False


PATIENCE = 20.0
"""Seconds."""


class Drain:
    """Tracks all work, and holds it once the program begins to end."""

    def __init__(self, patience: Callable[[], float] = lambda: PATIENCE) -> None:
        """`patience` returns the seconds that running answers get when the program ends."""
        self.patience = patience
        self.is_on = False
        """True from when the program begins to end; nothing new may begin."""
        self.changed = asyncio.Event()
        self._units: dict[str, Unit] = {}
        self._left: set[ChatKey] = set()

    def leave(self, chat: ChatKey) -> None:
        """Hold the work in a chat at its next safe point, from which another process goes on with it."""
        self._left.add(chat)

    def was_left(self, chat: ChatKey) -> None:
        """Note that nothing of a chat is done here any more."""
        self._left.discard(chat)

    def holds(self, chat: ChatKey | None) -> bool:
        """Return True if work in a chat pauses at its next safe point."""
        return self.is_on or (bool(self._left) and chat in self._left)

    def unit(self, name: str, chat: ChatKey | None = None) -> Unit:
        """Return work of a name, in a chat if it belongs to one, to be registered while its context is open.

        Users of the same name share one unit.
        """
        unit = self._units.get(name)
        if unit is None:
            unit = self._units[name] = Unit(self, name, chat)
        return unit

    def forget(self, unit: Unit) -> None:
        """Forget work that is done."""
        del self._units[unit.name]

    @property
    def at_work(self) -> int:
        """Number of units that are not at a safe point."""
        return sum(not unit.rests for unit in self._units.values())

    def rests_in(self, chat: ChatKey) -> bool:
        """Return True if all work in a chat is at a safe point, and no command runs anywhere."""
        return all(unit.rests for unit in self._units.values() if unit.chat in (chat, None))

    async def hold(self) -> None:
        """Block forever once the program drains; otherwise return at once."""
        if self.is_on:
            await asyncio.Event().wait()

    async def rested(self) -> None:
        """Begin to drain, and wait until every unit is at a safe point or done."""
        self.is_on = True
        while self.at_work:
            self.changed.clear()
            await self.changed.wait()


class DrainedTasks(Background):
    """Background tasks that the program waits for before it ends."""

    def __init__(self, failed: str, drain: Drain, unit: str) -> None:
        """`failed` is the log message for a task that fails; `unit` is the name of the tasks' work."""
        super().__init__(failed)
        self._drain = drain
        self._unit = unit

    def start(self, work: Coroutine[object, object, T], name: str | None = None) -> "asyncio.Task[T]":
        return super().start(self._counted(work), name)

    async def _counted(self, work: Coroutine[object, object, T]) -> T:
        with self._drain.unit(self._unit):
            return await work


def _is_good_point(event: AgentEvent, tools: ToolRegistry) -> bool:
    """Return True before a model call, and before an answer's tool calls if all of them may be repeated.

    A call that may not be repeated is made now: the next process could not tell that it was never begun.
    """
    if not isinstance(event, MessageEnd):
        return isinstance(event, TurnStart | RetryScheduled)
    wanted = event.message.tool_calls if isinstance(event.message, AssistantMessage) else ()
    return bool(wanted) and all(tools.may_repeat(call.name) for call in wanted)
