"""Told to stop, Parley starts nothing new, finishes running answers, and leaves the rest to the next start."""

import asyncio

import pytest

from agent_core.models.scripted import Waits, calls
from agent_core.tools.tool import tool
from tests.gateway.approving import APPROVED, CHART, QUESTION, recorder
from tests.gateway.bot import PATIENCE, Bot
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import IN_BACKGROUND, Cast, begins, states
from tests.process import until

LOOK = calls(("look", {}))


@tool()
async def look() -> str:
    """Look."""
    return "clouds"


async def next_life(bot: Bot) -> None:
    await bot.restart()
    await bot.app.settled()


async def test_an_open_model_call_ends_and_its_answer_goes_out(start_bot: StartBot) -> None:
    thinking = Waits(asyncio.Event(), "Hi.")
    bot = await start_bot(thinking)
    await bot.channel.hears("hello")
    await thinking.reached.wait()

    over = await bot.drains()
    assert not over.done()
    thinking.event.set()
    await over

    assert bot.screen == ["Hi."]


async def test_with_nothing_at_work_it_is_over_at_once(start_bot: StartBot) -> None:
    bot = await start_bot()

    await asyncio.wait_for(bot.app.drained(PATIENCE), 30)


async def test_what_is_said_meanwhile_is_stored_and_answered_in_the_next_life(start_bot: StartBot) -> None:
    thinking = Waits(asyncio.Event(), "First.")
    bot = await start_bot(thinking, "Another.", "Another.")
    await bot.channel.hears("one")
    await thinking.reached.wait()
    over = await bot.drains()

    await bot.channel.hears("two")
    await bot.channel.hears("hello", sender="bob")
    thinking.event.set()
    await over
    assert bot.screen == ["First."]
    assert len(bot.llm.requests) == 1

    await next_life(bot)
    assert bot.screen == ["First.", "Another.", "Another."]


@pytest.mark.parametrize(("idempotent", "before"), [(True, 0), (False, 1)])
async def test_calls_that_an_answer_wants_are_made_once_now_or_in_the_next_life(
    start_bot: StartBot, *, idempotent: bool, before: int
) -> None:
    """If the call could not be repeated, the next process would report its outcome as unknown."""
    ran = []

    @tool(idempotent=idempotent)
    async def pay() -> str:
        """Pay."""
        ran.append(1)
        return "paid"

    thinking = Waits(asyncio.Event(), calls(("pay", {})))
    bot = await start_bot(thinking, "Paid.", tools=(pay,))
    await bot.channel.hears("pay")
    await thinking.reached.wait()
    over = await bot.drains()
    thinking.event.set()
    await over
    assert (len(ran), len(bot.llm.requests)) == (before, 1)

    await next_life(bot)
    assert (len(ran), len(bot.llm.requests)) == (1, 2)
    assert "paid" in str(bot.llm.requests[-1].messages[-1].content)


async def test_a_call_that_runs_may_end_and_its_result_is_kept(start_bot: StartBot) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(idempotent=False)
    async def pay() -> str:
        """Pay."""
        begun.set()
        await go_on.wait()
        return "paid"

    bot = await start_bot(calls(("pay", {})), "Paid.", tools=(pay,))
    await bot.channel.hears("pay")
    await begun.wait()
    over = await bot.drains()
    go_on.set()
    await over
    assert len(bot.llm.requests) == 1

    await next_life(bot)
    assert bot.screen[-1] == "Paid."
    assert "paid" in str(bot.llm.requests[-1].messages[-1].content)


async def test_a_run_that_waits_for_people_holds_nothing_up_and_their_yes_counts_in_the_next_life(
    start_bot: StartBot,
) -> None:
    running, ran = recorder()
    bot = await start_bot(CHART, "Drawn.", tools=(running,))
    await bot.channel.hears("draw")
    await bot.channel.until(lambda: any(QUESTION in text for text in bot.screen))

    await asyncio.wait_for(bot.app.drained(PATIENCE), 30)
    await bot.channel.hears("/approve")
    await bot.channel.until(lambda: APPROVED in bot.screen)
    assert ran == []

    await next_life(bot)
    assert len(ran) == 1
    assert bot.screen[-1] == "Drawn."


async def test_stop_is_heard_while_a_run_pauses(start_bot: StartBot) -> None:
    thinking, other = Waits(asyncio.Event(), LOOK), Waits(asyncio.Event(), "Hi Bob.")
    bot = await start_bot(thinking, other, tools=(look,))
    await bot.channel.hears("look")
    await thinking.reached.wait()
    await bot.channel.hears("hello", sender="bob")
    await other.reached.wait()
    over = await bot.drains()
    thinking.event.set()
    await until(lambda: bot.app.at_work == 1)  # the other answer

    await bot.channel.hears("/stop")
    await bot.channel.until(lambda: any("Stopped." in text for text in bot.screen))
    other.event.set()
    await over

    assert len(bot.llm.requests) == 2


async def test_it_takes_no_longer_than_it_may(start_bot: StartBot) -> None:
    never = Waits(asyncio.Event())
    bot = await start_bot(never, "Whole.")
    await bot.channel.hears("hello")
    await never.reached.wait()

    await bot.app.drained(0.05)
    await next_life(bot)

    assert bot.screen[-1] == "Whole."


async def test_a_task_in_the_background_comes_to_a_good_point_too(start_bot: StartBot) -> None:
    counting = Waits(asyncio.Event(), LOOK)
    cast = Cast(begins("count"), IN_BACKGROUND, tasks={"count": [counting, "42 files."]})
    bot = await start_bot(*cast.turns, tools=(look,))
    await bot.channel.hears("how many?")
    await bot.channel.until(lambda: IN_BACKGROUND in bot.screen)
    await counting.reached.wait()

    over = await bot.drains()
    counting.event.set()
    await over
    assert cast.asked == {"count": 1}
    assert states(bot.home) == ["running"]

    await next_life(bot)
    assert cast.asked == {"count": 2}
    assert states(bot.home) == ["completed"]


async def test_an_answer_that_waits_for_a_helper_is_no_more_at_work_than_that(start_bot: StartBot) -> None:
    counting = Waits(asyncio.Event(), LOOK)
    cast = Cast(begins("count", background=False), "42.", tasks={"count": [counting, "42 files."]})
    bot = await start_bot(*cast.turns, tools=(look,))
    await bot.channel.hears("how many?")
    await counting.reached.wait()
    assert bot.app.at_work == 1

    over = await bot.drains()
    counting.event.set()
    await over
    await next_life(bot)

    assert bot.screen[-1] == "42."
