"""Cancellation of a run from outside, by one token shared by the loop, the model stream and all tools."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Generic, Self, TypeVar

from agent_core.log_errors import log_errors

T = TypeVar("T")


class CancelToken:
    """Signals once that a run is to stop, and why."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._callbacks: dict[object, Callable[[], object]] = {}
        self.reason = ""

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self, reason: str = "user") -> None:
        """Stop the run; later calls do nothing. Callbacks run once, and one that fails does not stop the others."""
        if self.cancelled:
            return
        self.reason = reason
        self._event.set()
        callbacks = list(self._callbacks.values())
        self._callbacks.clear()
        for callback in callbacks:
            with log_errors("cancel callback"):
                callback()

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback` on cancellation, or now if already cancelled; returns a function that unregisters it."""
        if self.cancelled:
            with log_errors("cancel callback"):
                callback()
            return lambda: None
        handle = object()
        self._callbacks[handle] = callback

        def forget() -> None:
            self._callbacks.pop(handle, None)

        return forget

    async def wait(self) -> None:
        """Wait until the run is cancelled."""
        await self._event.wait()


class ReadAhead(Generic[T]):
    """Reads a source in a task of its own, at most 64 items ahead, so that cancellation ends also a silent one.

    The task and the source have ended when the block has: `async with ReadAhead(make, cancel) as ahead`.
    """

    def __init__(self, make: Callable[[], AsyncGenerator[T, None]], cancel: CancelToken) -> None:
        """`make` returns the source. What it raises counts as raised by the source."""
        self.error: Exception | None = None
        """The exception that the source raised, after the block; None if it was only cancelled."""
        self._make = make
        self._source: AsyncGenerator[T, None] | None = None
        self._cancel = cancel
        self._queue: asyncio.Queue[T | None] = asyncio.Queue(64)

    async def next(self) -> T | None:
        """Return the next item; None once there is none, or the token is cancelled."""
        while not self._cancel.cancelled and not (self._reader.done() and self._queue.empty()):
            item = await self._queue.get()
            if item is not None:
                return item
        return None

    async def __aenter__(self) -> Self:
        self._reader = asyncio.create_task(self._read())
        self._reader.add_done_callback(self._wake)
        self._forget = self._cancel.on_cancel(self._wake)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._forget()
        self._reader.cancel()
        try:
            await asyncio.wait([self._reader])
        finally:
            await self._close()

    async def _close(self) -> None:
        raised = self._reader.exception() if self._reader.done() and not self._reader.cancelled() else None
        if isinstance(raised, Exception) and not self._cancel.cancelled:
            self.error = raised
        if self._source is not None:
            try:
                await self._source.aclose()
            except Exception as error:  # noqa: BLE001 (it is the source's, and noted)
                self.error = error

    async def _read(self) -> None:
        self._source = self._make()
        async for item in self._source:
            await self._queue.put(item)

    def _wake(self, *_: object) -> None:
        """Wake the waiting consumer. A full queue needs no wake-up, because its consumer is not waiting."""
        with contextlib.suppress(asyncio.QueueFull):
            self._queue.put_nowait(None)
