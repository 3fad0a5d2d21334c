"""What others said in a run that waits for its user's budget is answered meanwhile, and nothing of it is done again."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from agent_core.messages import AgentMessage, text_of
from agent_core.models.scripted import Waits, calls
from gateway.store.opening import FILE
from gateway.store.rows import Run
from gateway.store.runs import Runs
from gateway.store.transcript import Transcript
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import Cast, begins, rows
from tests.gateway.test_budgets import DEAR
from tests.gateway.test_paused_runs import (
    AMPLE,
    TEAM,
    TIGHT,
    allows,
    asks,
    ends_of,
    heard,
    is_shown,
    is_steered,
    look,
    paused,
    waits_for_room,
)
from tests.process import until

pytestmark = pytest.mark.usefixtures("no_progress")


async def test_words_of_another_that_a_run_without_room_took_in_are_answered_at_once(wired_bot: StartBot) -> None:
    seen = asyncio.Event()
    bot = await wired_bot(Waits(seen, calls(("look", {}))), "Ann's.", "Bob's.", tools=(look,), model=DEAR)
    await asks(bot, "bob", "For Bob?")
    await until(lambda: len(bot.llm.requests) == 1)
    await asks(bot, "ann", "For Ann?")
    await until(lambda: is_steered(bot))
    await allows(bot, TIGHT)
    seen.set()
    await is_shown(bot, "Ann's.")
    assert paused(bot) == ["bob"]
    assert heard(bot.llm.requests[1]) == ["For Ann?"]

    await allows(bot, AMPLE)
    await bot.app.settled()

    assert heard(bot.llm.requests[2]) == ["For Ann?", "assistant", "For Bob?", "assistant", "tool_result"]
    assert ends_of(bot) == [("ann", "completed"), ("bob", "completed")]
    assert await bot.made.base.store.inbox.waiting() == []


async def test_words_of_another_that_the_model_has_seen_go_on_without_what_was_done_being_done_again(
    wired_bot: StartBot,
) -> None:
    first, second = asyncio.Event(), asyncio.Event()
    script = Waits(first, calls(("look", {}))), Waits(second, calls(("look", {})))
    bot = await wired_bot(*script, "Ann's.", "Bob's.", tools=(look,), model=DEAR)
    await asks(bot, "bob", "For Bob?")
    await until(lambda: len(bot.llm.requests) == 1)
    await asks(bot, "ann", "For Ann?")
    await until(lambda: is_steered(bot))
    first.set()
    await until(lambda: len(bot.llm.requests) == 2)
    await allows(bot, TIGHT)
    second.set()
    await is_shown(bot, "Ann's.")
    assert paused(bot) == ["bob"]
    assert heard(bot.llm.requests[2]) == ["For Ann?", "assistant", "tool_result"]

    await bot.restart()
    await until(lambda: paused(bot) == ["bob"])
    await allows(bot, AMPLE)
    await bot.app.settled()

    of_bob = ["For Bob?", "assistant", "tool_result"]
    assert heard(bot.llm.requests[3]) == ["For Ann?", "assistant", "tool_result", "assistant", *of_bob]
    assert ends_of(bot) == [("ann", "completed"), ("bob", "completed")]
    assert rows(bot.home, "SELECT person FROM tool_calls JOIN runs USING (run) ORDER BY seq") == [("bob",), ("ann",)]


async def test_a_task_in_an_answer_that_finds_no_room_holds_nobody_up(start_bot: StartBot) -> None:
    begun = asyncio.Event()
    cast = Cast(
        begins("dig", background=False), "Carl's.", "Bob's.", tasks={"dig": [Waits(begun, calls(("look", {}))), "Dug."]}
    )
    bot = await start_bot(*cast.turns, tools=(look,), model=DEAR)
    await asks(bot, "bob", "For Bob?")
    await until(lambda: cast.asked == {"dig": 1})
    await allows(bot, TIGHT)
    begun.set()
    await until(lambda: paused(bot) == ["bob"])
    await asks(bot, "carl", "For Carl?")
    await is_shown(bot, "Carl's.")

    await allows(bot, AMPLE)
    await bot.app.settled()

    assert bot.screen[-1] == "Bob's."
    assert "the budget of 0.01 USD a day has no room" in text_of(bot.llm.requests[-1].messages[-1].content)


async def test_words_that_an_earlier_version_left_in_a_waiting_run_are_answered_at_the_next_start(
    start_bot: StartBot,
) -> None:
    bot = await start_bot("Ann's.", "Bob's.", model=DEAR)
    await waits_for_room(bot)
    await bot.stop()
    with closing(sqlite3.connect(bot.home / FILE)) as store, store:
        (words,) = store.execute("SELECT message FROM transcript").fetchone()
        (event,) = store.execute("SELECT payload FROM inbox WHERE seq = 1").fetchone()
        words = words.replace("Bob", "Ann").replace("inbox-1", "inbox-2")
        event = event.replace("bob", "ann").replace("Bob", "Ann")
        store.execute("INSERT INTO inbox VALUES (2, 'e2', ?, 'x', ?, 'done', 1.0)", (str(TEAM), event))
        store.execute("INSERT INTO transcript SELECT 2, chat, session, run, turn, ? FROM transcript", (words,))
        store.execute("UPDATE paused_runs SET until = 2")

    await bot.restart()
    await is_shown(bot, "Ann's.")
    await allows(bot, AMPLE)
    await bot.app.settled()

    assert heard(bot.llm.requests[-1]) == ["For Ann?", "assistant", "For Bob?"]
    assert bot.screen[-1] == "Bob's."


async def test_who_writes_at_the_moment_in_which_a_run_is_taken_up_again_does_not_end_it(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot("Ann's.", "Bob's.", model=DEAR)
    await waits_for_room(bot)
    await bot.stop()
    begins_again, is_read, is_taken_up = asyncio.Event(), asyncio.Event(), asyncio.Event()
    take_up, history = Runs.take_up, Transcript.history

    async def taken_up_once_the_history_is_read(self: Runs, run: Run) -> bool:
        begins_again.set()
        await is_read.wait()
        had_waited = await take_up(self, run)
        is_taken_up.set()
        return had_waited

    async def read_before_the_run_is_taken_up(self: Transcript, session: str) -> list[AgentMessage]:
        found = await history(self, session)
        is_read.set()
        await is_taken_up.wait()
        return found

    monkeypatch.setattr(Runs, "take_up", taken_up_once_the_history_is_read)
    monkeypatch.setattr(Transcript, "history", read_before_the_run_is_taken_up)
    await bot.restart()
    await begins_again.wait()
    await asks(bot, "ann", "For Ann?")
    await is_shown(bot, "Ann's.")
    await until(lambda: paused(bot) == ["bob"])
    assert heard(bot.llm.requests[0]) == ["For Ann?"]

    await allows(bot, AMPLE)
    await bot.app.settled()
    assert heard(bot.llm.requests[1]) == ["For Ann?", "assistant", "For Bob?"]
    assert ends_of(bot) == [("ann", "completed"), ("bob", "completed")]
