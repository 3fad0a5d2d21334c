"""When a run ends the program again and again, finished work is delivered and the run is not retried forever."""

import asyncio
from pathlib import Path

import pytest

from agent_core.clock import SystemClock, new_id
from agent_core.messages import text_of
from agent_core.models.scripted import Waits
from gateway.runs.attempts import MOST_DEATHS
from gateway.store.store import Store
from tests.gateway.conftest import StartBot
from tests.gateway.dying import died
from tests.gateway.tasking import rows
from tests.gateway.test_budgets import DEAR
from tests.gateway.test_paused_runs import AMPLE, TIGHT, WAITS, allows, ends_of
from tests.gateway.test_recovery import RUN, answered, heard, runs, said
from tests.messages import user
from tests.process import until


async def test_a_run_that_ends_the_program_three_times_in_the_same_step_is_set_aside(  # D-23
    start_bot: StartBot, tmp_path: Path
) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "the message of death"))
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, said(1, "the message of death"), [1])
        await died(store, RUN, MOST_DEATHS - 1)
    bot = await start_bot("Something else.")
    await bot.app.settled()

    [told] = bot.screen
    assert "three times at the same point" in told
    assert runs(tmp_path) == [("done", "set_aside")]
    await bot.hears("are you there?")
    assert bot.screen[-1] == "Something else."


async def test_what_it_had_answered_is_told_when_a_run_is_set_aside(start_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "hello"))
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, said(1, "hello"), [1])
        await store.transcript.append(RUN, 1, answered("Hi."))
        await store.transcript.append(RUN, 2, user("and now the message of death"))
        await died(store, RUN, MOST_DEATHS - 1)
    bot = await start_bot()
    await bot.app.settled()

    [told] = bot.screen
    assert told.startswith("Hi.\n\nI was interrupted three times")


async def test_an_answer_that_stands_is_delivered_however_often_the_program_died(
    start_bot: StartBot, tmp_path: Path
) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "hello"))
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, said(1, "hello"), [1])
        await store.transcript.append(RUN, 1, answered("Hi."))
        await died(store, RUN, 64)
    bot = await start_bot()
    await bot.app.settled()

    assert bot.screen == ["Hi."]
    assert bot.llm.requests == []


async def test_lives_of_the_program_that_end_as_they_should_do_not_count(start_bot: StartBot) -> None:
    never = asyncio.Event()
    bot = await start_bot(*[Waits(never)] * (MOST_DEATHS + 2), "Here it is.")
    await bot.channel.hears("a long one")
    for life in range(MOST_DEATHS + 2):
        await bot.channel.until(lambda life=life: len(bot.llm.requests) == life + 1)  # type: ignore[misc]
        await bot.restart()
    await bot.app.settled()

    assert bot.screen[-1] == "Here it is."


@pytest.mark.parametrize("group", [None, "team"])
async def test_a_run_that_came_to_wait_for_its_budget_between_deaths_is_not_set_aside(
    start_bot: StartBot, group: str | None
) -> None:
    bot = await start_bot("Carl's.", "Bob's.", model=DEAR)
    await allows(bot, TIGHT)
    await bot.channel.hears("For Bob?", sender="bob", group=group)
    waits = "SELECT count(*) FROM steps WHERE json_extract(event, '$.type') = 'budget_reached'"
    for life in range(MOST_DEATHS):
        await until(lambda life=life: rows(bot.home, waits) == [(life + 1,)])  # type: ignore[misc]
        await bot.stop()
        async with Store.open(bot.home, SystemClock(), new_id) as store:
            [run] = await store.runs.unfinished()
            await died(store, run, MOST_DEATHS - 1)  # the first follows a life that ended as it should
        await bot.start()
    await until(lambda: any(WAITS in shown for shown in bot.screen))
    await bot.channel.hears("For Carl?", sender="carl", group=group)
    await until(lambda: any("Carl's." in shown for shown in bot.screen))

    assert [text_of(each.content) for each in bot.llm.requests[0].messages] == ["For Carl?"]
    await allows(bot, AMPLE)
    await bot.app.settled()
    assert ends_of(bot) == [("carl", "completed"), ("bob", "completed")]
