"""A cancel token stops a run once, notifies everyone, and loses nothing that has arrived."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from agent_core.cancel import CancelToken


async def numbers(count: int, *, error: Exception | None = None) -> AsyncGenerator[int, None]:
    for number in range(count):
        yield number
    if error:
        raise error


async def silent(first: int, closed: asyncio.Event) -> AsyncGenerator[int, None]:
    try:
        yield first
        await asyncio.Event().wait()
    finally:
        closed.set()


def test_a_token_is_cancelled_once_and_keeps_the_first_reason() -> None:  # S2-32
    token = CancelToken()
    calls: list[str] = []
    token.on_cancel(lambda: calls.append("called"))

    token.cancel("person")
    token.cancel("shutdown")

    assert token.cancelled
    assert token.reason == "person"
    assert calls == ["called"]


def test_a_callback_that_fails_or_unregisters_others_stops_none_of_them() -> None:  # S2-32
    token = CancelToken()
    calls: list[str] = []

    def fail() -> None:
        raise ValueError("no")

    def unregister() -> None:
        forget()

    token.on_cancel(fail)
    token.on_cancel(unregister)
    forget = token.on_cancel(lambda: calls.append("second"))
    token.on_cancel(lambda: token.cancel("again"))
    token.on_cancel(lambda: calls.append("last"))

    token.cancel()

    assert calls == ["second", "last"]
    assert token.reason == "user"


def test_who_comes_late_is_called_at_once() -> None:  # S2-32
    token = CancelToken()
    token.cancel()
    calls: list[str] = []

    forget = token.on_cancel(lambda: calls.append("late"))
    forget()

    assert calls == ["late"]


def test_a_forgotten_callback_is_not_called() -> None:  # S2-32
    token = CancelToken()
    calls: list[str] = []

    token.on_cancel(lambda: calls.append("never"))()
    token.cancel()

    assert calls == []


async def test_waiting_ends_with_the_cancel() -> None:  # S2-32
    token = CancelToken()
    waiting = asyncio.create_task(token.wait())
    token.cancel()

    await asyncio.wait_for(waiting, 30)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 128, 500])
async def test_a_guard_passes_on_everything_and_ends_with_its_source(count: int) -> None:
    guarded = CancelToken().guard(numbers(count))

    assert await asyncio.wait_for(_collect(guarded), 30) == list(range(count))


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 128])
async def test_a_guard_raises_what_its_source_raised_after_everything_before_it(count: int) -> None:
    seen: list[int] = []

    async def watch() -> None:
        async for number in CancelToken().guard(numbers(count, error=ValueError("broken"))):
            seen.append(number)  # noqa: PERF401 - keeps what came before the error

    with pytest.raises(ValueError, match="broken"):
        await asyncio.wait_for(watch(), 30)

    assert seen == list(range(count))


async def test_a_guard_ends_at_once_however_long_its_source_is_silent() -> None:  # S2-31
    token, closed = CancelToken(), asyncio.Event()
    seen: list[int] = []

    async def watch() -> None:
        async for number in token.guard(silent(7, closed)):
            seen.append(number)
            asyncio.get_running_loop().call_soon(token.cancel)

    await asyncio.wait_for(watch(), 30)

    assert seen == [7]
    assert closed.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_closed_guard_has_ended_its_reader_and_its_source() -> None:
    token, closed = CancelToken(), asyncio.Event()

    async with aclosing(token.guard(silent(7, closed))) as guarded:
        await anext(guarded)

    assert closed.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_guard_over_a_cancelled_token_asks_its_source_nothing() -> None:  # C-16
    token = CancelToken()
    token.cancel()

    assert await _collect(token.guard(numbers(3))) == []


async def test_cancelling_whoever_reads_a_guard_is_never_swallowed() -> None:
    closed, came = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        async with aclosing(CancelToken().guard(silent(7, closed))) as guarded:
            async for _ in guarded:
                came.set()

    reading = asyncio.create_task(read())
    await came.wait()

    reading.cancel()
    await asyncio.wait([reading])

    assert reading.cancelled()
    assert closed.is_set()


async def _collect(guarded: AsyncGenerator[int, None]) -> list[int]:
    async with aclosing(guarded) as items:
        return [item async for item in items]
