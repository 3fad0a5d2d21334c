"""A coroutine that emits events, as an async generator."""

import asyncio
from contextlib import aclosing

import pytest

from agent_core.events import AgentStart
from agent_core.loop.event_stream import Emit, stream_events, unheard


async def test_events_and_waits_may_alternate() -> None:
    async def work(emit: Emit) -> None:
        for number in range(3):
            await asyncio.sleep(0)
            await emit(AgentStart(seq=number))

    assert [event.seq async for event in stream_events(work)] == [0, 1, 2]


async def test_what_the_work_raises_ends_the_stream() -> None:
    async def work(emit: Emit) -> None:
        await emit(AgentStart(seq=1))
        raise ZeroDivisionError

    events = stream_events(work)

    assert (await anext(events)).seq == 1
    with pytest.raises(ZeroDivisionError):
        await anext(events)
    with pytest.raises(StopAsyncIteration):
        await anext(events)


async def test_closing_waits_for_the_clean_up_of_the_work() -> None:
    steps: list[str] = []

    async def inner(emit: Emit) -> None:
        try:
            await emit(AgentStart())
        finally:
            await asyncio.sleep(0.01)
            steps.append("cleaned up")

    async def work(emit: Emit) -> None:
        await inner(emit)
        steps.append("went on")

    async with aclosing(stream_events(work)) as events:
        await anext(events)

    assert steps == ["cleaned up"]


async def test_an_error_of_the_clean_up_reaches_who_closes() -> None:
    async def work(emit: Emit) -> None:
        try:
            await emit(AgentStart())
        finally:
            raise ZeroDivisionError

    events = stream_events(work)
    await anext(events)

    with pytest.raises(ZeroDivisionError):
        await events.aclose()


async def test_a_clean_up_cannot_emit() -> None:
    async def work(emit: Emit) -> None:
        try:
            await emit(AgentStart())
        finally:
            await emit(AgentStart())

    events = stream_events(work)
    await anext(events)

    with pytest.raises(RuntimeError, match="AgentStart was emitted after the stream was closed"):
        await events.aclose()


async def test_a_cancellation_while_the_work_cleans_up_is_not_lost() -> None:
    cleaning = asyncio.Event()

    async def work(emit: Emit) -> None:
        try:
            await emit(AgentStart())
        finally:
            cleaning.set()
            await asyncio.Event().wait()

    async def consume() -> None:
        async with aclosing(stream_events(work)) as events:
            await anext(events)

    running = asyncio.create_task(consume())
    await asyncio.wait_for(cleaning.wait(), 30)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


async def test_another_task_cannot_emit() -> None:
    async def work(emit: Emit) -> None:
        async def beside() -> None:
            await emit(AgentStart())

        await asyncio.create_task(beside())

    with pytest.raises(RuntimeError, match="Task got bad yield"):
        assert [event async for event in stream_events(work)] == []


async def test_without_a_consumer_events_are_dropped() -> None:
    await unheard(AgentStart())
