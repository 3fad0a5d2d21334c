"""The control plane that every emulator shares: what was called, what goes wrong, and waiting for what happens next.

Faults are counted, not timed: a fault stays until it has met its number of calls, so a test never races a clock.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field


@dataclass
class Call:
    """One request of the client: `params` as the platform understood them."""

    method: str
    params: Mapping[str, object]
    at: float
    """Seconds of `time.monotonic`, when the whole request had arrived."""
    status: int | None = None
    """HTTP status of the answer; None while none was sent, or when the connection was killed instead."""


@dataclass(frozen=True)
class Effect:
    """What happens to one call. The empty effect lets it pass."""

    delay: float = 0.0
    status: int | None = None
    retry_after: float | None = None
    drop: bool = False
    lose_answer: bool = False
    hold: asyncio.Event | None = None


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
    """Everything that can be made to go wrong, per route ("*": any). The oldest fault that meets a call acts alone."""

    _queue: list[Fault] = field(default_factory=list)
    duplicates: int = 0
    """How many of the next events are delivered twice."""
    reordering: int = 0
    """How many of the next events are kept back, then delivered newest first."""

    def rate_limit(self, route: str = "*", *, retry_after: float = 1, times: int | None = 1) -> Fault:
        """Answer 429 and tell the client to wait `retry_after` seconds."""
        return self.add(Fault(route, Effect(status=429, retry_after=retry_after), times))

    def fail(self, route: str = "*", *, status: int = 502, times: int | None = 1) -> Fault:
        """Answer a server error and do nothing."""
        return self.add(Fault(route, Effect(status=status), times))

    def drop(self, route: str = "*", *, times: int | None = 1) -> Fault:
        """Kill the connection before anything was done."""
        return self.add(Fault(route, Effect(drop=True), times))

    def lose_answer(self, route: str = "*", *, times: int | None = 1) -> Fault:
        """Do what was asked, then kill the connection instead of answering."""
        return self.add(Fault(route, Effect(lose_answer=True), times))

    def delay(self, route: str = "*", *, seconds: float, times: int | None = None) -> Fault:
        """Let the client wait before the call is done."""
        return self.add(Fault(route, Effect(delay=seconds), times))

    def hold(self, route: str = "*", *, times: int | None = 1) -> asyncio.Event:
        """Keep the call waiting, not yet done, until the test sets the event that this returns."""
        gate = asyncio.Event()
        self.add(Fault(route, Effect(hold=gate), times))
        return gate

    def duplicate(self, times: int = 1) -> None:
        """Deliver each of the next `times` events twice."""
        self.duplicates += times

    def reorder(self, count: int = 2) -> None:
        """Keep the next `count` events back and deliver them in reverse."""
        self.reordering = count

    def add(self, fault: Fault) -> Fault:
        """For a fault with a `where` or an effect of its own."""
        self._queue.append(fault)
        return fault

    def clear(self) -> None:
        self._queue.clear()
        self.duplicates = self.reordering = 0

    @property
    def pending(self) -> int:
        """Faults that still wait for a call: 0 proves that each was met."""
        return sum(fault.times is not None for fault in self._queue)

    def take(self, call: Call) -> Effect:
        """The effect on this call; uses it up."""
        for fault in self._queue:
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
        """Wake when the condition holds. Looking at something not there yet (`screen[-1]`) is "not yet"."""
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
    """Wakes whoever waits for a condition, at each change and never in between.

    It does what `asyncio.Condition` does, without its lock: everything here runs in one loop, and each change is
    seen by each waiter, however soon the next one follows.
    """

    def __init__(self) -> None:
        self._waiters: list[_Waiter] = []

    def notify(self) -> None:
        for waiter in self._waiters:
            waiter.check()

    def until(
        self, condition: Callable[[], bool], timeout: float = 5.0, describe: Callable[[], str] = str
    ) -> Awaitable[None]:
        """Raise AssertionError, with what `describe` sees by then, when `timeout` seconds pass first."""
        return self._until(_Waiter(condition, asyncio.get_running_loop().create_future()), timeout, describe)

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
