"""Cancellation of a run from outside, by one token shared by the loop, the model stream and all tools."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TypeVar

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

    async def guard(self, items: AsyncIterator[T]) -> AsyncGenerator[T, None]:
        """Yield from `items`, and end as soon as the token is cancelled, even while `items` is silent.

        One task reads ahead by at most 64 items; it has ended when this generator has.
        """
        queue: asyncio.Queue[T | None] = asyncio.Queue(64)

        async def read() -> None:
            async for item in items:
                await queue.put(item)

        reader = asyncio.create_task(read())
        reader.add_done_callback(lambda _: _wake(queue))
        forget = self.on_cancel(lambda: _wake(queue))
        try:
            while not self.cancelled and not (reader.done() and queue.empty()):
                item = await queue.get()
                if item is not None:
                    yield item
        finally:
            forget()
            reader.cancel()
            await asyncio.wait([reader])
        if not self.cancelled and not reader.cancelled() and (error := reader.exception()):
            raise error


def _wake(queue: "asyncio.Queue[T | None]") -> None:
    """Wake the waiting consumer. A full queue needs no wake-up, because its consumer is not waiting."""
    with contextlib.suppress(asyncio.QueueFull):
        queue.put_nowait(None)
