"""Waiting for an event with a time limit on an injected clock."""

import asyncio

from agent_core.clock import Clock


async def set_within(event: asyncio.Event, seconds: float, clock: Clock) -> bool:
    """Wait until the event is set, at most `seconds` by the clock. Return True if it is set."""
    if event.is_set():
        return True
    waiting, sleeping = asyncio.ensure_future(event.wait()), asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait((waiting, sleeping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (waiting, sleeping):
            task.cancel()
        await asyncio.gather(waiting, sleeping, return_exceptions=True)
    return event.is_set()
