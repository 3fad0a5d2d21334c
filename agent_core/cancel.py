"""Cancellation of a run from outside, by one token shared by the loop, the model stream and all tools."""

import asyncio
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
        self._raised: Exception | None = None
        self._items: asyncio.Queue[T | None] = asyncio.Queue(64)
        self.next = self._items.get
        """Returns the next item; None, once, when there are no more or the token is cancelled."""

    async def __aenter__(self) -> Self:
        self._reader = asyncio.create_task(self._read())
        self._reader.add_done_callback(self._over)
        self._forget = self._cancel.on_cancel(self._end_now)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._forget()
        self._reader.cancel()
        try:
            await asyncio.wait([self._reader])
        finally:
            await self._close()

    async def _close(self) -> None:
        if not self._cancel.cancelled:
            self.error = self._raised
        if self._source is not None:
            try:
                await self._source.aclose()
            except Exception as error:  # noqa: BLE001 (it is the source's, and noted)
                self.error = error

    async def _read(self) -> None:
        try:
            self._source = self._make()
            async for item in self._source:
                await self._items.put(item)
        except Exception as error:  # noqa: BLE001 (it is the source's, and noted)
            self._raised = error
        await self._items.put(None)

    def _over(self, reader: "asyncio.Task[None]") -> None:
        """Let nobody wait for more of a task that was cancelled, or ended by more than an Exception."""
        if reader.cancelled() or reader.exception() is not None:
            self._end_now()

    def _end_now(self) -> None:
        """Let the consumer get nothing more, also of what was read ahead."""
        while not self._items.empty():
            self._items.get_nowait()
        self._items.put_nowait(None)
