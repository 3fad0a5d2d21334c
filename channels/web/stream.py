"""Ring buffer of the page's events, which every tab reads at its own pace.

A tab that reconnects names the last event it received and gets those after it. If they are no longer in the buffer, or
stem from before a restart, it is told to start over.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from uuid import uuid4

from pydantic import JsonValue

START_OVER = b'data: {"type": "reset"}\n\n'
BEAT = b": still here\n\n"


class EventRing:
    """Events for any number of readers; a reader is only a position in the buffer."""

    def __init__(self, size: int = 2_000, beat: float = 15.0) -> None:
        """`beat` is the silence in seconds after which a comment is sent, so that proxies keep the connection open."""
        self._life = uuid4().hex[:12]
        self._size = size
        self._events: deque[bytes] = deque(maxlen=size)
        self._count = 0
        self._beat = beat
        self._changed = asyncio.Event()
        self._closed = False

    @property
    def last(self) -> str:
        """Id of the newest event, from which reading can continue."""
        return f"{self._life}-{self._count}"

    def put(self, event: Mapping[str, JsonValue]) -> None:
        self._count += 1
        self._events.append(f"id: {self.last}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
        self._wake()

    def close(self) -> None:
        """End all readers."""
        self._closed = True
        self._wake()

    async def read(self, after: str) -> AsyncGenerator[bytes, None]:
        """Yield the events after the one with this id as they occur, encoded as server-sent events."""
        position = self._position(after)
        while not self._closed:
            changed = self._changed
            missed = self._count - position
            if missed > len(self._events):
                position = self._count
                yield f"id: {self.last}\n".encode() + START_OVER
            elif missed:
                position += 1
                yield self._events[-missed]
            elif not await self._happens(changed):
                yield BEAT

    async def _happens(self, changed: asyncio.Event) -> bool:
        try:
            await asyncio.wait_for(changed.wait(), self._beat)
        except TimeoutError:
            return False
        return True

    def _position(self, after: str) -> int:
        """Return the position of an event id; one before the start of the buffer for an id of another process."""
        life, _, count = after.partition("-")
        known = life == self._life and count.isascii() and count.isdigit() and int(count) <= self._count
        return int(count) if known else -1 - self._size

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
