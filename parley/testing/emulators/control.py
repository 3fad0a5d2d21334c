"""Control functions of all emulators: recorded calls, injected faults, and waiting for changes.

Faults are counted, not timed: a fault stays until it has met its number of calls, so a test never races a clock.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

_T = TypeVar("_T")


@dataclass
class Call:
    """A request of the client; `params` as the platform understood them."""

    method: str
    params: Mapping[str, object]
    at: float
    """Time of `time.monotonic` at which the whole request had arrived."""
    status: int | None = None
    """HTTP status of the response; None before it, or if the connection was aborted instead."""


@dataclass(frozen=True)
class Effect:
    """The effect of a fault on one call. An empty effect lets it pass."""

    delay: float = 0.0
    status: int | None = None
    retry_after: float | None = None
    drop: bool = False
    lose_answer: bool = False
    hold: asyncio.Event | None = None
    answer_late: asyncio.Event | None = None


NO_EFFECT = Effect()


@dataclass
class Fault:
    """An effect on the next `times` calls of a route (None: until cleared) that satisfy `where`."""

    route: str
    effect: Effect
    times: int | None
    where: Callable[[Call], bool] | None = None

    def meets(self, call: Call) -> bool:
        return self.route in ("*", call.method) and (self.where is None or self.where(call))


@dataclass
class Faults:
    """All injected faults by route ("*" for any). Only the oldest fault that matches a call takes effect."""

    _queue: list[Fault] = field(default_factory=list)
    duplicates: int = 0
    """Number of following events that are delivered twice."""
    reordering: int = 0
    """Number of following events that are held back, then delivered newest first."""
    spares: Callable[[Call], bool] = lambda _: False
    """Returns True for calls that no fault concerns."""

    def rate_limit(self, route: str = "*", *, retry_after: float = 1, times: int | None = 1) -> Fault:
        """Answer 429 and tell the client to wait `retry_after` seconds."""
        return self.add(Fault(route, Effect(status=429, retry_after=retry_after), times))

    def fail(self, route: str = "*", *, status: int = 502, times: int | None = 1) -> Fault:
        """Answer with a server error without doing anything."""
        return self.add(Fault(route, Effect(status=status), times))

    def drop(self, route: str = "*", *, times: int | None = 1) -> Fault:
        """Abort the connection before anything is done."""
        return self.add(Fault(route, Effect(drop=True), times))

    def lose_answer(self, route: str = "*", *, times: int | None = 1) -> Fault:
        """Do what was asked, then abort the connection instead of answering."""
        return self.add(Fault(route, Effect(lose_answer=True), times))

    def delay(self, route: str = "*", *, seconds: float, times: int | None = None) -> Fault:
        """Delay the call before it is done."""
        return self.add(Fault(route, Effect(delay=seconds), times))

    def hold(self, route: str = "*", *, times: int | None = 1) -> asyncio.Event:
        """Hold the call before it is done until the test sets the returned event."""
        gate = asyncio.Event()
        self.add(Fault(route, Effect(hold=gate), times))
        return gate

    def answer_late(self, route: str = "*", *, times: int | None = 1) -> asyncio.Event:
        """Do what was asked, and delay the answer until the test sets the event that this returns."""
        gate = asyncio.Event()
        self.add(Fault(route, Effect(answer_late=gate), times))
        return gate

    def duplicate(self, times: int = 1) -> None:
        """Deliver each of the next `times` events twice."""
        self.duplicates += times

    def reorder(self, count: int = 2) -> None:
        """Hold the next `count` events back and deliver them in reverse."""
        self.reordering = count

    def add(self, fault: Fault) -> Fault:
        """Add a fault with a `where` or an effect of its own."""
        self._queue.append(fault)
        return fault

    def clear(self) -> None:
        self._queue.clear()
        self.duplicates = self.reordering = 0

    @property
    def pending(self) -> int:
        """Number of faults that still wait for a call; 0 proves that all were met."""
        return sum(fault.times is not None for fault in self._queue)

    def take(self, call: Call) -> Effect:
        """Return the effect on this call and count it."""
        for fault in () if self.spares(call) else self._queue:
            if fault.meets(call):
                self._use(fault)
                return fault.effect
        return NO_EFFECT

    def _use(self, fault: Fault) -> None:
        if fault.times is None:
            return
        fault.times -= 1
        if fault.times <= 0:
            self._queue.remove(fault)


@dataclass
class _Waiter:
    condition: Callable[[], bool]
    future: asyncio.Future[None]

    def check(self) -> None:
        """Wake if the condition holds. An IndexError in it, as from `screen[-1]`, counts as "not yet"."""
        if self.future.done():
            return
        try:
            if self.condition():
                self.future.set_result(None)
        except LookupError:
            return
        except (AttributeError, TypeError, ValueError, AssertionError) as error:
            self.future.set_exception(error)


class Changes:
    """Wakes waiters at each change.

    Like `asyncio.Condition` without its lock: everything runs in one event loop, and each waiter sees each change,
    however soon the next one follows.
    """

    def __init__(self) -> None:
        self._waiters: list[_Waiter] = []

    def notify(self) -> None:
        for waiter in self._waiters:
            waiter.check()

    def until(
        self, condition: Callable[[], bool], timeout: float = 30.0, describe: Callable[[], str] = str
    ) -> Awaitable[None]:
        """Wait for a condition. Raises AssertionError with the result of `describe` after `timeout` seconds."""
        return self._until(_Waiter(condition, asyncio.get_running_loop().create_future()), timeout, describe)

    async def found(self, find: Callable[[], _T | None], describe: Callable[[], str]) -> _T:
        """Wait until `find` returns something, and return it. Raises AssertionError as `until` does."""
        results: list[_T] = []

        def look() -> bool:
            if not results and (result := find()) is not None:
                results.append(result)
            return bool(results)

        await self.until(look, describe=describe)
        return results[0]

    async def _until(self, waiter: _Waiter, seconds: float, describe: Callable[[], str]) -> None:
        waiter.check()
        self._waiters.append(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter.future
        except TimeoutError:
            raise AssertionError(f"not so after {seconds} s; {describe()}") from None
        finally:
            self._waiters.remove(waiter)
