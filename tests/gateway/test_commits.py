"""On a slow disk people wait for commits, so a message takes few of them, and what only reads takes none."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_core.models.scripted import calls
from gateway.permissions.roles import People
from gateway.store import database
from gateway.store.file_connection import connect
from tests.entering import opened_store
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import rows

OF_A_MESSAGE = 4
"""It is accepted; its run has begun, with its words and what is reserved; its answer ends the run; that has arrived."""
TRIES = 60
"""Most messages that are tried until one takes so few. A busy machine needs more of them."""


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


async def fewest(bot: Bot, said: str, senders: Sequence[str] = ("ann",) * TRIES, *, enough: int) -> int:
    """Return the fewest commits of a message that these people send in turn, until it takes few enough."""
    counts: list[int] = []
    for sender in senders:
        counts.append(await made(bot, said, sender))
        if counts[-1] <= enough:
            break
    return min(counts)


async def test_a_message_takes_four_commits_also_the_first_in_its_chat(start_bot: StartBot) -> None:
    names = [f"member{number}" for number in range(TRIES)]
    people = People(owners=frozenset({"memory:ann"}), allow=frozenset(f"memory:{name}" for name in names))
    bot = await start_bot(*["Hello."] * (1 + 2 * TRIES), people=people)
    await made(bot, "good morning")  # until then the start goes on

    assert await fewest(bot, "and again", enough=OF_A_MESSAGE) == OF_A_MESSAGE
    assert await fewest(bot, "good morning", names, enough=OF_A_MESSAGE) == OF_A_MESSAGE


async def test_a_tool_that_only_reads_takes_one_more(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", *[calls(("now", {})), "It is nine."] * TRIES)
    await made(bot, "good morning")

    assert await fewest(bot, "what time is it?", enough=OF_A_MESSAGE + 1) == OF_A_MESSAGE + 1


async def test_a_message_takes_few_statements(start_bot: StartBot, monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[str] = []

    def traced(path: Path, *, cached_statements: int) -> sqlite3.Connection:
        connection = connect(path, cached_statements=cached_statements)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(database, "connect", traced)
    bot = await start_bot(*["Hello."] * TRIES)
    for _ in range(TRIES):
        statements.clear()
        await made(bot, "good morning")
        if len(statements) <= MOST_STATEMENTS:
            break

    assert len(statements) <= MOST_STATEMENTS, statements


async def test_what_only_reads_takes_none_and_asking_whether_it_can_be_written_takes_one(tmp_path: Path) -> None:
    async with opened_store(tmp_path) as store:
        await store.check_writable()
        before = await store.sequence()

        await store.person_zones.all()  # in order with changes
        await store.runs.note_shutdown([])
        assert await store.sequence() == before
        await store.check_writable()
        assert await store.sequence() == before + 1
