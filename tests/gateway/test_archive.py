"""Stored conversations can be read without the store's lock, while Parley writes, at any size."""

import asyncio
import sqlite3
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_core.messages import AssistantMessage, StopReason, TextContent, text_of
from agent_core.models.scripted import Waits
from agent_core.origin import CLEAN
from channels.base import ChatKey
from gateway.security.secrets import Secrets
from gateway.store.archive import Archive, NothingKept, SaidRow, Unreadable
from gateway.store.opening import FILE, StoreDamaged, StoreTooNew
from gateway.store.rows import Run
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.conftest import StartBot
from tests.messages import user

ANN = ChatKey(platform="memory", account="here", chat="ann")
BOB = ChatKey(platform="memory", account="here", chat="bob")


def execute(home: Path, statement: str) -> None:
    connection = sqlite3.connect(home / FILE)
    connection.execute(statement)
    connection.commit()
    connection.close()


async def kept(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds, because some writes reach the disk a moment later."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - what a file holds tells nobody when it changes
            await asyncio.sleep(0.01)


def count_of_runs(home: Path) -> int:
    with Archive.open(home) as archive:
        return len(archive.newest_runs(10))


def words(row: SaidRow | Unreadable) -> str:
    if isinstance(row, Unreadable):
        return "unreadable"
    assert isinstance(row.message, AssistantMessage) or row.message.role == "user"
    return text_of(row.message.content)


def said_at(archive: Archive, chat: ChatKey) -> list[str]:
    sessions = archive.sessions(str(chat))
    return [words(row) for session in sessions for row in archive.said_at(str(chat), session)]


async def test_it_is_read_while_parley_runs_and_writes(start_bot: StartBot) -> None:
    bot = await start_bot("One.", Waits(asyncio.Event()))
    await bot.hears("first")
    await bot.channel.hears("second")
    await kept(lambda: count_of_runs(bot.home) == 2)

    with Archive.open(bot.home) as archive:
        [second, first] = archive.newest_runs(10)
        assert (first.state, first.reason, second.state, second.reason) == ("done", "completed", "running", None)
        assert said_at(archive, ANN) == ["first", "One.", "second"]


async def test_what_is_read_is_of_one_moment(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")
    await bot.hears("first")
    with Archive.open(bot.home) as archive:
        before = archive.chats()
        await bot.hears("second")
        assert said_at(archive, ANN) == ["first", "One."]
        assert before == [str(ANN)]


async def test_the_end_of_a_conversation_and_of_no_other(tmp_path: Path) -> None:  # S3-26
    async with Store.open(tmp_path, FakeClock(), numbered(), Secrets()) as store:
        for number in range(50):
            for chat, session, run in ((ANN, "s1", "run-1"), (ANN, "s1:task-1", "run-2"), (BOB, "s2", "run-3")):
                at_work = Run(run, chat, session, "ann", 1.0)
                await store.transcript.append(at_work, 1, user(f"{session} {number}"), later=True)
        await store.transcript.append(Run("run-1", ANN, "s1", "ann", 1.0), 1, user("the last"))

    with Archive.open(tmp_path) as archive:
        assert [words(row) for row in archive.tail("s1", 3)] == ["s1 48", "s1 49", "the last"]
        assert [words(row) for row in archive.tail("s1:task-1", 2)] == ["s1:task-1 48", "s1:task-1 49"]
        assert archive.chats() == [str(ANN), str(BOB)]
        assert archive.sessions(str(ANN)) == ["s1", "s1:task-1"]
        assert {word[:2] for word in said_at(archive, BOB)} == {"s2"}


async def test_a_row_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        for text in ("one", "two", "three"):
            await store.transcript.append(Run("run-1", ANN, "s1", "ann", 1.0), 1, user(text))
    execute(tmp_path, 'UPDATE transcript SET message = \'{"role": "user"\' WHERE seq = 2')

    with Archive.open(tmp_path) as archive:
        rows = list(archive.said_in("run-1"))
    assert [words(row) for row in rows] == ["one", "unreadable", "three"]
    assert isinstance(rows[1], Unreadable)
    assert rows[1].seq == 2


def test_where_nothing_is_kept_that_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(NothingKept, match="Nothing is kept in"), Archive.open(tmp_path):
        pass

    assert list(tmp_path.iterdir()) == []


async def test_a_store_of_another_version_or_a_damaged_one_is_one_sentence(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered()):
        pass
    execute(tmp_path, "PRAGMA user_version = 99")
    with pytest.raises(StoreTooNew), Archive.open(tmp_path):
        pass
    execute(tmp_path, "PRAGMA user_version = 2")
    with pytest.raises(NothingKept, match="older Parley"), Archive.open(tmp_path):
        pass
    (tmp_path / FILE).write_bytes(b"these are no pages of a database" * 500)
    with pytest.raises(StoreDamaged), Archive.open(tmp_path):
        pass


async def test_a_long_transcript_is_streamed(tmp_path: Path) -> None:  # S3-26
    long = AssistantMessage(content=(TextContent(text="x" * 1_000_000),), stop_reason=StopReason.STOP, origin=CLEAN)
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        for _ in range(40):
            store.transcript.append(Run("run-1", ANN, "s1", "ann", 1.0), 1, long, later=True)
    tracemalloc.start()
    with Archive.open(tmp_path) as archive:
        count = sum(1 for _ in archive.said_in("run-1"))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == 40
    assert most < 10_000_000, "a quarter of it is never in memory"
