"""A caller that waits for a chat's turn gets it, whatever happens to those before."""

import asyncio

from channels.slack.inbound import ChatOrder


async def test_what_was_said_first_goes_first() -> None:
    turns, order = ChatOrder(), list[float]()

    async def go(at: float) -> None:
        async with turns.of("chat", at):
            order.append(at)

    await asyncio.gather(*(go(at) for at in (3.0, 1.0, 2.0)))

    assert order == [1.0, 2.0, 3.0]


async def test_one_that_is_broken_off_before_its_turn_holds_nobody_up() -> None:
    slept, done = list[float](), list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 1:
            await asyncio.Event().wait()  # the first caller never gets its turn

    turns = ChatOrder(sleep)

    async def go(at: float) -> None:
        async with turns.of("chat", at):
            done.append(at)

    first, following = [asyncio.create_task(go(at)) for at in (1.0, 2.0)]
    for _ in range(20):  # the second has checked, and waits for the first
        await asyncio.sleep(0)
    assert (len(slept), done) == (2, [])
    first.cancel()
    await asyncio.wait_for(following, 30)

    assert done == [2.0]
