"""A cancel token stops a run once, notifies everyone, and loses nothing that has arrived."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from agent_core.cancel import CancellableSource, CancelToken


class Panic(BaseException):
    """An error that is no Exception, as extension modules raise."""


async def numbers(count: int, *, error: BaseException | None = None) -> AsyncGenerator[int, None]:
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


@pytest.mark.parametrize("count", [0, 1, 500])
async def test_a_source_is_read_to_its_end(count: int) -> None:
    source = CancellableSource(lambda: numbers(count), CancelToken())

    assert await asyncio.wait_for(_collect(source), 30) == list(range(count))
    assert source.error is None


@pytest.mark.parametrize("count", [0, 1, 500])
async def test_what_a_source_raises_is_known_after_everything_before_it(count: int) -> None:
    source = CancellableSource(lambda: numbers(count, error=ValueError("broken")), CancelToken())

    assert await asyncio.wait_for(_collect(source), 30) == list(range(count))
    assert str(source.error) == "broken"


async def test_what_is_raised_instead_of_a_source_is_known() -> None:
    def make() -> AsyncGenerator[int, None]:
        raise ValueError("no source")

    source = CancellableSource(make, CancelToken())

    assert await asyncio.wait_for(_collect(source), 30) == []
    assert str(source.error) == "no source"


@pytest.mark.parametrize("error", [asyncio.CancelledError(), Panic("it gave up")])
async def test_a_source_that_breaks_out_of_its_task_has_ended(error: BaseException) -> None:
    source = CancellableSource(lambda: numbers(3, error=error), CancelToken())

    await asyncio.wait_for(_collect(source), 30)

    assert source.error is None
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_reading_ends_at_once_however_long_its_source_is_silent() -> None:  # S2-31
    token, closed = CancelToken(), asyncio.Event()
    seen: list[int] = []

    async def watch() -> None:
        async with CancellableSource(lambda: silent(7, closed), token) as source:
            while (number := await source.next()) is not None:
                seen.append(number)
                asyncio.get_running_loop().call_soon(token.cancel)

    await asyncio.wait_for(watch(), 30)

    assert seen == [7]
    assert closed.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_leaving_ends_the_source() -> None:
    token, closed = CancelToken(), asyncio.Event()

    async with CancellableSource(lambda: silent(7, closed), token) as source:
        await source.next()

    assert closed.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_with_a_cancelled_token_nothing_is_read() -> None:  # C-16
    token = CancelToken()
    token.cancel()

    assert await _collect(CancellableSource(lambda: numbers(3), token)) == []


async def test_cancelling_whoever_reads_is_never_swallowed() -> None:
    closed, came = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        async with CancellableSource(lambda: silent(7, closed), CancelToken()) as source:
            while await source.next() is not None:
                came.set()

    reading = asyncio.create_task(read())
    await came.wait()

    reading.cancel()
    await asyncio.wait([reading])

    assert reading.cancelled()
    assert closed.is_set()


async def _collect(source: CancellableSource[int]) -> list[int]:
    items: list[int] = []
    async with source:
        while (item := await source.next()) is not None:
            items.append(item)
    return items
