"""A run that failed for want of file handles waits for them, but not for ever for more than it needs."""

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent_core.file_handles import lacks_handles
from gateway.runs.handles import FIRST_WAIT, MOST_TRIES, Handles
from tests.clock import FakeClock

LACK = OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@contextmanager
def none_left() -> Iterator[None]:
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)


async def test_other_errors_are_not_waited_for() -> None:
    clock = FakeClock()

    assert not await Handles(clock).awaited("run", OSError(errno.ENOENT, "gone"))
    assert clock.slept == []


async def test_where_there_are_enough_it_goes_on_at_once_and_a_few_times_at_most() -> None:
    clock = FakeClock()
    handles = Handles(clock)

    goes_on = [await handles.awaited("run", LACK) for _ in range(MOST_TRIES + 1)]

    assert goes_on == [True] * MOST_TRIES + [False]
    assert clock.slept == []
    assert await handles.awaited("another run", LACK)
    handles.over("run")
    assert await handles.awaited("run", LACK)


async def test_where_there_are_none_it_tries_after_longer_and_longer_waits_and_never_gives_up() -> None:
    clock = FakeClock()
    handles = Handles(clock)
    waits = []
    with none_left():
        for _ in range(MOST_TRIES + 3):
            began = clock.now
            assert await handles.awaited("run", LACK)
            waits.append(clock.now - began)

    assert waits[:3] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT]
    assert waits[-1] == 600.0


def test_the_lack_is_found_behind_other_errors() -> None:
    error = RuntimeError("cannot connect")
    error.__cause__ = ValueError("no socket")
    error.__cause__.__context__ = LACK

    assert lacks_handles(error)
    assert not lacks_handles(RuntimeError("cannot connect"))
    assert not lacks_handles(None)


async def test_work_is_done_again_once_there_are_handles_and_its_other_errors_are_raised() -> None:
    handles, errors = Handles(FakeClock()), [LACK, LACK]

    async def work() -> str:
        if errors:
            raise errors.pop()
        return "done"

    assert await handles.until_done("work", work) == "done"
    errors.append(OSError(errno.ENOENT, "gone"))
    with pytest.raises(FileNotFoundError):
        await handles.until_done("work", work)
