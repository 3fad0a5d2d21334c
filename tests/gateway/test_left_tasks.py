"""A Parley that ends, as one that other nodes have taken over from and that begins anew, leaves no task behind."""

import asyncio

from agent_core.models.scripted import Waits, calls
from channels.base import ChannelError
from tests.gateway.approving import questions, recorder
from tests.gateway.conftest import StartBot


async def _others() -> set[str]:
    await asyncio.sleep(0)  # those that were cancelled last end
    return {repr(task.get_coro()) for task in asyncio.all_tasks() if task is not asyncio.current_task()}


async def test_one_at_rest_leaves_no_task(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.")
    await bot.hears("hi")

    await bot.stop()

    assert await _others() == set()


async def test_one_in_the_middle_of_its_work_leaves_no_task(start_bot: StartBot) -> None:
    run, _ = recorder()
    held = asyncio.Event()
    bot = await start_bot(Waits(held, "never"), calls(("run", {"command": ["draw"]})), "never", tools=[run])
    await bot.channel.hears("first")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("draw", sender="bob")
    await bot.channel.until(lambda: bool(questions(bot)))
    bot.channel.fails("send", ChannelError("down", retry_after=3600))
    await bot.channel.hears("/status", sender="carl")
    await bot.channel.hears("/remind in 1h tea", sender="carl", group="team")

    await bot.stop()

    assert await _others() == set()
