"""The queue of events from calls that run at the same time."""

import asyncio

from agent_core.events import AgentEvent, ToolExecutionUpdate


class EventQueue:
    """Keeps events in order. Only the newest unread update of each call is kept, so that a tool that reports without
    pause cannot fill the memory."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[AgentEvent | str] = asyncio.Queue()
        """An update is represented by the id of its call."""
        self._newest: dict[str, ToolExecutionUpdate] = {}

    def put(self, event: AgentEvent) -> None:
        if not isinstance(event, ToolExecutionUpdate):
            self._queue.put_nowait(event)
            return
        if event.tool_call_id not in self._newest:
            self._queue.put_nowait(event.tool_call_id)
        self._newest[event.tool_call_id] = event

    async def get(self) -> AgentEvent:
        event = await self._queue.get()
        return self._newest.pop(event) if isinstance(event, str) else event
