"""What happens on the page, in order, for every tab: a bounded ring of events that a tab reads at its own pace.

A tab that was away names the last event it saw and gets what came after; one that was away for too long, or since
before a restart, is told to start over.
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
    """Single writer, any number of readers; a reader holds a position and no memory of its own."""

    def __init__(self, size: int = 2_000, beat: float = 15.0) -> None:
        """`beat`: seconds of silence after which a reader gets a comment, so that proxies keep the line."""
        self._life = uuid4().hex[:12]
        self._size = size
        self._events: deque[bytes] = deque(maxlen=size)
        self._count = 0
        self._beat = beat
        self._changed = asyncio.Event()
        self._closed = False

    @property
    def last(self) -> str:
        """The id of the newest event, to read on from."""
        return f"{self._life}-{self._count}"

    def put(self, event: Mapping[str, JsonValue]) -> None:
        self._count += 1
        self._events.append(f"id: {self.last}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
        self._wake()

    def close(self) -> None:
        """Every reader comes to its end."""
        self._closed = True
        self._wake()

    async def read(self, after: str) -> AsyncGenerator[bytes, None]:
        """The events after the one with this id, as they come, ready for the wire."""
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
        """Out of reach for an id of another life."""
        life, _, count = after.partition("-")
        known = life == self._life and count.isascii() and count.isdigit() and int(count) <= self._count
        return int(count) if known else -1 - self._size

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
