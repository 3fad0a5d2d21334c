"""Who waits for a turn in a chat gets it, whatever becomes of those before."""

import asyncio

from channels.slack.turns import Turns


async def test_what_was_said_first_goes_first() -> None:
    turns, order = Turns(), list[float]()

    async def go(at: float) -> None:
        async with turns.of("chat", at):
            order.append(at)

    await asyncio.gather(*(go(at) for at in (3.0, 1.0, 2.0)))

    assert order == [1.0, 2.0, 3.0]


async def test_one_that_is_broken_off_before_its_turn_holds_nobody_up() -> None:
    turns, done = Turns(settle=0.1), list[float]()

    async def go(at: float) -> None:
        async with turns.of("chat", at):
            done.append(at)

    following = asyncio.create_task(go(2.0))
    await asyncio.wait((following,), timeout=0.05)
    first = asyncio.create_task(go(1.0))
    await asyncio.wait((following,), timeout=0.07)  # it has looked, and waits for the first
    first.cancel()
    await asyncio.wait_for(following, 5)

    assert done == [2.0]
