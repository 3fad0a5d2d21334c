"""Event streams: a coroutine emits events, and an async generator yields them.

`await emit(event)` suspends the coroutine until the consumer asks for the next event. Both run in the consumer's task,
so cancellation, exceptions and context variables work as they would within one function, and no queue or task is left
behind.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from types import coroutine

from msgspec import Struct

from agent_core.events import AgentEvent

Emit = Callable[[AgentEvent], Awaitable[object]]
"""Passes an event on; returns when it has been handled.

Await it in the task that received it, never in a task of its own, and never inside a task group or a timeout.
"""
Work = Coroutine[object, object, object]


async def unheard(_: AgentEvent) -> None:
    """Ignore an event: an `Emit` for when there is no consumer."""


async def stream_events(work: Callable[[Emit], Work]) -> AsyncGenerator[AgentEvent, None]:
    """Run `work` and yield the events that it emits.

    Closing the generator cancels `work`: the `emit` that it awaits raises CancelledError. `aclose` returns when `work`
    has cleaned up.

    Args:
        work: Called with the function that emits. Its return value is dropped.

    Raises:
        RuntimeError: `work` emitted an event while it was cleaning up.
    """
    run = work(_emit)
    while (event := await _next(run)) is not None:
        is_handled = False
        try:
            yield event
            is_handled = True
        finally:
            if not is_handled:
                await _cancel(run)


async def _cancel(run: Work) -> None:
    """Raise CancelledError from the `emit` that is awaited, and wait until the run has ended."""
    # Not GeneratorExit: a coroutine that gets it closes those that it awaits, which then cannot await any clean-up.
    error = asyncio.CancelledError("the stream of events was closed")
    try:
        event = await _next(run, error)
    except asyncio.CancelledError as raised:
        if raised is not error:
            raise
        return
    if event is not None:
        raise RuntimeError(f"{type(event).__name__} was emitted after the stream was closed")


class _Emitted(Struct, frozen=True):
    """An event on its way from `emit` to the generator."""

    event: AgentEvent


@coroutine
def _emit(event: AgentEvent) -> Generator[_Emitted, None, None]:
    yield _Emitted(event)


@coroutine
def _next(run: Work, thrown: BaseException | None = None) -> Generator[object, object, AgentEvent | None]:
    """Run a coroutine up to its next event, and return that; None at the end of the coroutine.

    Anything else that the coroutine awaits is passed on to the event loop. `thrown` is raised where it goes on.
    """
    try:
        awaited = run.send(None) if thrown is None else run.throw(thrown)
        while not isinstance(awaited, _Emitted):
            try:
                answer = yield awaited
            except BaseException as error:  # noqa: BLE001 - it is the coroutine's
                awaited = run.throw(error)
            else:
                awaited = run.send(answer)
    except StopIteration:
        return None
    return awaited.event
