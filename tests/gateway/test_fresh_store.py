"""A new store is what all migrations would make of an empty file, in one step."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest

from gateway.store.file_connection import connect
from gateway.store.opening import FILE, fresh_schema, migrate, migrations, schema_of
from tests.fresh_store import migrated, schema_in


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Connection]:
    with closing(connect(tmp_path / FILE)) as connection:
        migrate(connection, tmp_path / FILE)
        yield connection


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Connection]:
    with closing(migrated(tmp_path / "migrated")) as connection:
        yield connection


def contents(store: Connection) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of each table; of the store itself only what is not made anew each time."""
    names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = {name: store.execute(f"SELECT * FROM {name}").fetchall() for name in names if name not in ("said", "store")}  # noqa: S608
    return rows | {"store": store.execute("SELECT sequence, restored, restored_from, marked FROM store").fetchall()}


def test_a_new_store_has_the_tables_and_rows_of_one_that_went_through_all_migrations(
    new: Connection, old: Connection
) -> None:
    assert sorted(schema_in(new)) == sorted(schema_in(old))
    assert contents(new) == contents(old)
    assert schema_of(new) == len(migrations())


def test_it_has_an_id_of_its_own_and_a_time_of_birth(new: Connection, old: Connection) -> None:
    [(kind, born, name)] = new.execute("SELECT typeof(born), born, id FROM store").fetchall()
    [(kind_before, born_before, name_before)] = old.execute("SELECT typeof(born), born, id FROM store").fetchall()

    assert (kind, len(name)) == (kind_before, len(name_before))
    assert abs(born - born_before) < 60
    assert name != name_before


def test_the_file_is_made_anew_when_a_migration_is_added(old: Connection) -> None:
    assert all(f"{each};" in fresh_schema() for each in schema_in(old)), "see tests/fresh_store.py"
