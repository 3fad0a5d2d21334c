"""One queue per chat in front of the inbox, so that events are stored in order.

Discord delivers each event once. Events that the inbox cannot store, for example because the disk is full, wait here.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from channels.backoff import Backoff
from channels.base import Accepted, ChannelError, InboundEvent, Inbox, NotTakenIn

log = logging.getLogger(__name__)

Reading = Callable[[], Awaitable[InboundEvent | None]]
"""Builds the event when its turn comes. If it raises, it is called again later."""
Outcome = asyncio.Future[Accepted | None]
"""The outcome of an event; None if there was none for the bot."""


class Lanes:
    """Queues by place. Each has a task that ends when its queue is empty."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._lines: dict[str, deque[tuple[Reading, Outcome]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def join(self, place: str, reading: Reading) -> Outcome:
        """Append to the queue of a place; the returned future resolves to the outcome of the event."""
        outcome: Outcome = asyncio.get_running_loop().create_future()
        line = self._lines.get(place)
        if line is None:
            self._lines[place] = line = deque()
            task = asyncio.create_task(self._work(place, line))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        line.append((reading, outcome))
        return outcome

    async def close(self) -> None:
        """Drop what is still queued; it is read from Discord's history after the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self, place: str, line: deque[tuple[Reading, Outcome]]) -> None:
        while line:
            reading, outcome = line.popleft()
            accepted = await self._until_taken(reading)
            if not outcome.done():
                outcome.set_result(accepted)
        del self._lines[place]

    async def _until_taken(self, reading: Reading) -> Accepted | None:
        backoff = Backoff()
        while True:
            try:
                return await self._take(reading)
            except (NotTakenIn, ChannelError) as error:
                log.error("event not accepted: %s", error)  # noqa: TRY400 (a known reason, logged on each retry)
            except Exception:  # an error in one event must not lose those behind it
                log.exception("event not accepted")
            await backoff.wait()

    async def _take(self, reading: Reading) -> Accepted | None:
        event = await reading()
        return None if event is None else await self._inbox(event)
