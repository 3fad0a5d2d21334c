"""Work that must never end is restarted when it fails, and the failure is reported once."""

import asyncio
from functools import partial

import pytest

from agent_core.supervise import FIRST_PAUSE, LONGEST_PAUSE, STEADY, supervise


class Slept:
    """A clock on which sleeping takes no time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


async def works(outcomes: list[Exception | float | None], clock: Slept) -> None:
    """Make one attempt: fail, work for some seconds and fail, or return."""
    outcome = outcomes.pop(0)
    if isinstance(outcome, float):
        clock.now += outcome
        raise OSError("after a while")
    if outcome is not None:
        raise outcome


async def test_it_is_started_again_until_it_ends_by_itself() -> None:
    clock, told = Slept(), []
    outcomes: list[Exception | float | None] = [OSError(24, "no handles"), RuntimeError("a mistake"), None]

    await supervise("work", partial(works, outcomes, clock), clock, told=lambda name, error: told.append((name, error)))

    assert outcomes == []
    assert clock.pauses == [FIRST_PAUSE, 2 * FIRST_PAUSE]
    assert [(name, type(error)) for name, error in told] == [("work", OSError)]


async def test_pauses_grow_to_a_minute_and_are_short_again_after_it_has_worked() -> None:
    clock, told = Slept(), []
    outcomes: list[Exception | float | None] = [*[OSError()] * 9, STEADY + 1, None]

    await supervise("work", partial(works, outcomes, clock), clock, told=lambda *what: told.append(what))

    assert max(clock.pauses) == LONGEST_PAUSE
    assert clock.pauses[-1] == FIRST_PAUSE
    assert len(told) == 2


async def test_what_no_restart_can_cure_is_raised() -> None:
    clock = Slept()

    with pytest.raises(LookupError):
        await supervise("work", partial(works, [KeyError("x")], clock), clock, fatal=(LookupError,))

    assert clock.pauses == []


async def test_it_ends_when_it_is_cancelled() -> None:
    task = asyncio.create_task(supervise("work", asyncio.Event().wait, Slept()))  # type: ignore[arg-type]
    await asyncio.sleep(0)

    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
