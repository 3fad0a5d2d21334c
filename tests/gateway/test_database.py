"""The connection that reads sees one state of the database, whatever is written meanwhile."""

import sqlite3
from contextlib import closing
from pathlib import Path

from gateway.store.database import Database, Reader


async def test_all_queries_of_one_read_see_the_same_moment(tmp_path: Path) -> None:
    path = tmp_path / "parley.db"

    def count(connection: sqlite3.Connection) -> int:
        return int(connection.execute("SELECT count(*) FROM sent").fetchone()[0])

    def twice(connection: sqlite3.Connection) -> tuple[int, int]:
        before = count(connection)
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("INSERT INTO sent VALUES (1)")
        return before, count(connection)

    async with Database.open(path) as writing, Reader.open(path) as reading:
        await writing.run(lambda connection: connection.execute("CREATE TABLE sent (id)"))

        assert await reading.run(twice) == (0, 0)
        assert await reading.run(count) == 1
