"""The tasks that handle events: the program waits for them before it ends, and they wait for file handles."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from agent_core.clock import Clock
from gateway.runs.drain import Drain, DrainedTasks
from gateway.runs.handles import Handles
from gateway.store.rows import InboxItem

T = TypeVar("T")


class EventTasks(DrainedTasks):
    """Handles stored events beside the channels."""

    def __init__(self, drain: Drain, clock: Clock) -> None:
        super().__init__("handling an event failed", drain, "commands")
        self._handles = Handles(clock, "an event")

    async def until_done(self, item: InboxItem, do: Callable[[], Awaitable[T]]) -> T:
        """Do a step of an event, and again once there are file handles if it failed for want of them.

        A step is what the next process does again, too, if this one is killed in it.
        """
        return await self._handles.until_done(str(item.seq), do)
