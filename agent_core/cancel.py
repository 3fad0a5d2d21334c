"""Cancellation of a run from outside, by one token shared by the loop, the model stream and all tools."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Generic, Self, TypeVar

from agent_core.log_errors import log_errors

T = TypeVar("T")


class CancelToken:
    """Signals once that a run is to stop, and why."""

    def __init__(self) -> None:
        self.cancelled = False
        self.reason = ""
        self._event = asyncio.Event()
        self._callbacks: dict[object, Callable[[], object]] = {}

    def cancel(self, reason: str = "user") -> None:
        """Stop the run; later calls do nothing. Callbacks run once, and one that fails does not stop the others."""
        if self.cancelled:
            return
        self.cancelled, self.reason = True, reason
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


class CancellableSource(Generic[T]):
    """Reads a source item by item, so that cancellation ends also a silent one.

    The source has ended when the block has: `async with CancellableSource(make, cancel) as source`.
    """

    def __init__(self, make: Callable[[], AsyncGenerator[T, None]], cancel: CancelToken) -> None:
        """`make` returns the source. What it raises counts as raised by the source."""
        self.error: Exception | None = None
        """The exception that the source raised, after the block; None if it was only cancelled."""
        self._make = make
        self._source: AsyncGenerator[T, None] | None = None
        self._cancel = cancel
        self._wait: asyncio.Timeout | None = None
        """Set while an item is awaited."""

    async def __aenter__(self) -> Self:
        self._forget = self._cancel.on_cancel(self._end_wait)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._forget()
        if self._source is not None:
            try:
                await self._source.aclose()
            except Exception as error:  # noqa: BLE001 (it is the source's, and noted)
                self.error = error

    async def next(self) -> T | None:
        """Return the next item; None when there are no more or the token is cancelled."""
        if self._cancel.cancelled:
            return None
        item = None
        try:
            self._source = self._source or self._make()
            async with asyncio.timeout(None) as self._wait:
                item = await anext(self._source, None)
        except Exception as error:  # noqa: BLE001 (it is the source's, and noted)
            self.error = None if self._cancel.cancelled else error
        except BaseException as error:
            if _is_for_task(error):
                raise
        finally:
            self._wait = None
        return None if self._cancel.cancelled else item

    def _end_wait(self) -> None:
        if self._wait is not None:
            self._wait.reschedule(asyncio.get_running_loop().time())


def _is_for_task(error: BaseException) -> bool:
    """Return False for a cancellation by the source itself, and for more than an Exception that broke out of it."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit)
