"""The writer commits changes together, and waits while the disk is full."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.writer import Ballast, Change, StoreUnavailable, Writer


@asynccontextmanager
async def written(path: Path) -> AsyncIterator[tuple[Writer, list[str]]]:
    """A writer over a small table, and every statement that ended a transaction."""
    statements: list[str] = []
    async with Database.open(path) as database:
        await database.run(lambda connection: connection.set_trace_callback(statements.append))
        await database.run(lambda connection: connection.execute("CREATE TABLE seen (number INTEGER, filling TEXT)"))
        writer = Writer(database, try_again_every=0.01)
        try:
            yield writer, statements
        finally:
            await writer.close()


def seen(number: int, filling: str = "") -> Change[int]:
    def change(connection: Connection) -> int:
        connection.execute("INSERT INTO seen VALUES (?, ?)", (number, filling))
        return number

    return change


def broken(connection: Connection) -> int:
    connection.execute("INSERT INTO seen VALUES (0, '')")
    raise ValueError("a mistake of ours")


def broken_by_a_missing_row(connection: Connection) -> int:
    (number,) = connection.execute("SELECT number FROM seen WHERE number = 7").fetchone()
    return int(number)


def numbers(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    try:
        return [row[0] for row in connection.execute("SELECT number FROM seen ORDER BY rowid")]
    finally:
        connection.close()


async def test_many_at_once_are_few_transactions(tmp_path: Path) -> None:
    async with written(tmp_path / "w.db") as (writer, statements):
        results = await asyncio.gather(*(writer.submit(seen(number)) for number in range(1_000)))

    assert results == list(range(1_000))
    assert statements.count("COMMIT") <= 5
    assert numbers(tmp_path / "w.db") == list(range(1_000))


async def test_what_follows_from_one_transaction_is_in_the_next(tmp_path: Path) -> None:
    loop, is_written = asyncio.get_running_loop(), asyncio.Event()

    def first(connection: Connection) -> int:
        loop.call_soon_threadsafe(is_written.set)
        return seen(0)(connection)

    async def two_in_a_row(writer: Writer, change: Change[int]) -> None:
        await writer.submit(change)
        await writer.submit(seen(2))

    async with written(tmp_path / "w.db") as (writer, statements), asyncio.TaskGroup() as tasks:
        tasks.create_task(two_in_a_row(writer, first))
        await is_written.wait()
        for _ in range(19):
            tasks.create_task(two_in_a_row(writer, seen(1)))

    assert statements.count("COMMIT") == 3


async def test_a_change_that_fails_harms_no_other(tmp_path: Path) -> None:
    async with written(tmp_path / "w.db") as (writer, _):
        outcomes = await asyncio.gather(
            writer.submit(seen(1)),
            writer.submit(broken),
            writer.submit(seen(2)),
            writer.submit(broken_by_a_missing_row),
            return_exceptions=True,
        )

    assert [str(outcome) for outcome in outcomes[:3]] == ["1", "a mistake of ours", "2"]
    assert isinstance(outcomes[3], TypeError)
    assert numbers(tmp_path / "w.db") == [1, 2]


async def test_a_failure_that_nobody_awaits_is_no_second_complaint(tmp_path: Path) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with written(tmp_path / "w.db") as (writer, _):
        writer.submit(broken)
        await writer.submit(seen(1))

    assert complaints == []


async def test_a_caller_that_gives_up_does_not_take_its_change_back(tmp_path: Path) -> None:
    async with written(tmp_path / "w.db") as (writer, _):
        writer.submit(seen(1)).cancel()

    assert numbers(tmp_path / "w.db") == [1]


async def test_what_waits_is_written_at_the_close_and_nothing_after(tmp_path: Path) -> None:
    async with written(tmp_path / "w.db") as (writer, _):
        for number in range(5):
            writer.submit(seen(number))

    assert numbers(tmp_path / "w.db") == [0, 1, 2, 3, 4]
    with pytest.raises(StoreUnavailable):
        await writer.submit(seen(9))


# A full disk


def room(pages: int) -> Change[object]:
    """Limit the database to so many pages, as a full disk would."""
    return lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()


async def test_on_a_full_disk_the_impatient_fail_and_the_patient_wait(tmp_path: Path) -> None:
    async with Database.open(tmp_path / "w.db") as database:
        await database.run(lambda connection: connection.execute("CREATE TABLE seen (number INTEGER, filling TEXT)"))
        await database.run(room(4))
        writer = Writer(database, try_again_every=0.01)
        patient = writer.submit(seen(1, "x" * 50_000))
        behind = writer.submit(seen(2))
        with pytest.raises(StoreUnavailable, match="full"):
            await writer.submit(seen(3), patient=False)
        with pytest.raises(StoreUnavailable, match="full"):
            await writer.submit(seen(4), patient=False)
        assert not patient.done()

        await database.run(room(10_000))
        assert await patient == 1
        assert await behind == 2
        assert await writer.submit(seen(5), patient=False) == 5
        await writer.close()

    assert numbers(tmp_path / "w.db") == [1, 2, 5]


async def test_an_impatient_change_leaves_no_trouble_behind(tmp_path: Path) -> None:
    async with written(tmp_path / "w.db") as (writer, _):
        await writer.submit(room(4))
        with pytest.raises(StoreUnavailable):
            await writer.submit(seen(1, "x" * 50_000), patient=False)

        assert await writer.submit(seen(2), patient=False) == 2


async def test_a_full_disk_does_not_hold_up_the_close(tmp_path: Path) -> None:
    async with written(tmp_path / "w.db") as (writer, _):
        await writer.submit(room(4))
        stuck = writer.submit(seen(1, "x" * 50_000))
    with pytest.raises(StoreUnavailable):
        await stuck


# Changes submitted with `later`


async def test_what_nobody_waits_for_goes_with_the_next_that_somebody_does(tmp_path: Path) -> None:
    async with written(tmp_path / "w.db") as (writer, statements):
        later = [writer.submit(seen(number), later=True) for number in range(3)]
        await writer.submit(seen(3))

    assert all(future.done() for future in later)
    assert statements.count("COMMIT") == 1
    assert numbers(tmp_path / "w.db") == [0, 1, 2, 3]


async def test_what_nobody_waits_for_is_written_soon_even_alone(tmp_path: Path) -> None:
    async with written(tmp_path / "w.db") as (writer, _):
        assert await writer.submit(seen(1), later=True) == 1


async def test_room_that_is_made_on_a_full_disk_lets_everything_be_written(tmp_path: Path) -> None:
    ballast = Ballast(tmp_path, 1_000_000)
    ballast.create()
    assert (tmp_path / "ballast").stat().st_blocks * 512 >= 1_000_000
    async with Database.open(tmp_path / "w.db") as database:
        await database.run(lambda connection: connection.execute("CREATE TABLE seen (number INTEGER, filling TEXT)"))
        await database.run(room(4))
        loop = asyncio.get_running_loop()

        def make_room() -> bool:
            given = ballast.delete()
            if given:
                asyncio.run_coroutine_threadsafe(database.run(room(10_000)), loop).result()
            return given

        writer = Writer(database, try_again_every=0.01, make_room=make_room)
        assert await writer.submit(seen(1, "x" * 50_000), patient=False) == 1
        await writer.close()
    assert not (tmp_path / "ballast").exists()
