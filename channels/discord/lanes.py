"""Into the inbox, in order: what was said in one place stands in one line, and waits there until it is taken in.

Discord delivers each event once. What the inbox cannot keep, because the disk is full, say, is kept here meanwhile.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from channels.backoff import Backoff
from channels.base import Accepted, ChannelError, InboundEvent, Inbox, NotTakenIn

log = logging.getLogger(__name__)

Reading = Callable[[], Awaitable[InboundEvent | None]]
"""What makes an event of what was heard, when its turn comes; what it raises lets it be asked again."""
Outcome = asyncio.Future[Accepted | None]
"""None: it was no event for us."""


class Lanes:
    """One line for each place; each is worked off by a task of its own, which ends when the line is empty."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._lines: dict[str, deque[tuple[Reading, Outcome]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def join(self, place: str, reading: Reading) -> Outcome:
        """Stand at the end of the line; the result is what became of the event."""
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
        """What still waits is lost to us; a later start finds it in Discord's history."""
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
                log.error("event not accepted: %s", error)  # noqa: TRY400 (a reason that we know, told each time)
            except Exception:  # whatever befalls one event, those behind it must not be lost with it
                log.exception("event not accepted")
            await backoff.wait()

    async def _take(self, reading: Reading) -> Accepted | None:
        event = await reading()
        return None if event is None else await self._inbox(event)
