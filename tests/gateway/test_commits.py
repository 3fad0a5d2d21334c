"""On a slow disk people wait for commits, so a message takes few of them, and what only reads takes none."""

import sqlite3
from pathlib import Path

import pytest

from agent_core.models.scripted import calls
from gateway.store import database
from gateway.store.file_connection import connect
from tests.entering import opened_store
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import rows

OF_A_MESSAGE = 4
"""It is accepted; its run has begun, with its words and what is reserved; its answer ends the run; that has arrived."""


def commits(bot: Bot) -> int:
    [(sequence,)] = rows(bot.home, "SELECT sequence FROM store")
    assert isinstance(sequence, int)
    return sequence


MOST_STATEMENTS = 27
"""Of a message, with those that begin, number and end its transactions."""


async def made(bot: Bot, said: str, sender: str = "ann") -> int:
    """Return how many commits are made for a message and its answer.

    They are more if the machine is too busy for what follows from one commit to be in time for the next.
    """
    before = commits(bot)
    await bot.hears(said, sender=sender)
    await bot.app.settled()
    return commits(bot) - before


async def test_a_message_takes_four_commits_also_the_first_in_its_chat(start_bot: StartBot) -> None:
    bot = await start_bot(*["Hello."] * 6)
    await made(bot, "good morning")  # until then the start goes on

    assert min([await made(bot, "and again") for _ in range(3)]) == OF_A_MESSAGE
    assert min([await made(bot, "good morning", sender=name) for name in ("bob", "carl")]) == OF_A_MESSAGE


async def test_a_tool_that_only_reads_takes_one_more(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", *[calls(("now", {})), "It is nine."] * 3)
    await made(bot, "good morning")

    assert min([await made(bot, "what time is it?") for _ in range(3)]) == OF_A_MESSAGE + 1


async def test_a_message_takes_few_statements(start_bot: StartBot, monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[str] = []

    def traced(path: Path, *, cached_statements: int) -> sqlite3.Connection:
        connection = connect(path, cached_statements=cached_statements)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(database, "connect", traced)
    bot = await start_bot(*["Hello."] * 5)
    counts: list[int] = []
    for _ in range(5):
        statements.clear()
        await made(bot, "good morning")
        counts.append(len(statements))

    assert min(counts) <= MOST_STATEMENTS, statements


async def test_what_only_reads_takes_none_and_asking_whether_it_can_be_written_takes_one(tmp_path: Path) -> None:
    async with opened_store(tmp_path) as store:
        await store.check_writable()
        before = await store.sequence()

        await store.person_zones.all()  # in order with changes
        await store.runs.note_shutdown([])
        assert await store.sequence() == before
        await store.check_writable()
        assert await store.sequence() == before + 1
