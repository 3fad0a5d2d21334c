"""`parley migrate` moves the whole store from SQLite to PostgreSQL and back, or leaves both as they are."""

import asyncio
import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.app.resources import prepare
from gateway.cluster.node import Node
from gateway.errors import ParleyError
from gateway.settings.settings import load_settings
from gateway.store.archive import NothingKept
from gateway.store.opening import FILE, StoreBusy, StoreDamaged, StoreNotMoved, check_store
from gateway.store.postgres_contents import DatabaseBusy
from gateway.store.postgres_opening import DatabaseLeft, DatabaseUnusable
from gateway.store.server import PostgresServer
from gateway.store.signals import StoreNode
from gateway.store.store import Store
from gateway.store.writer import BALLAST, StoreUnavailable
from gateway.upkeep.migration import SQLITE, NotEmpty
from gateway.upkeep.restore import restore
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.end_to_end.forks import parley
from tests.gateway.cluster.test_node import FACTS
from tests.gateway.moving import Use, back, content_of, filled, move
from tests.gateway.test_postgres import opened
from tests.gateway.test_store import CHAT, RUN
from tests.messages import user
from tests.postgres import UrlOf, execute, rows
from tests.process import python

DIES = """
import os, signal, sys
from gateway.cli import main
from gateway.upkeep import migration

say = migration.print_pieces

def dies(pieces, secrets):
    say(pieces, secrets)
    if pieces[0].startswith("tool_calls: "):
        os.kill(os.getpid(), signal.SIGKILL)

migration.print_pieces = dies
sys.exit(main(sys.argv[1:]))
"""
"""The command line of a program that is killed once it has told of one of the tables that it moves."""


# The content


@pytest.mark.parametrize("seed", range(3))
def test_every_table_of_the_schema_comes_over_and_back_whole(tmp_path: Path, bare_url_of: UrlOf, seed: int) -> None:
    url = bare_url_of(tmp_path)
    filled(tmp_path, seed)
    before = content_of(tmp_path, None)
    assert all(before.values()), "a table has no row, so this shows nothing for it"

    move(tmp_path, url)
    assert content_of(tmp_path, url) == before
    back(tmp_path)
    assert content_of(tmp_path, None) == before


def test_new_rows_get_higher_numbers_than_those_that_came_over(tmp_path: Path, bare_url_of: UrlOf) -> None:
    url = bare_url_of(tmp_path)
    filled(tmp_path, seed=1)
    with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
        file.execute("UPDATE inbox SET seq = seq + 1000")

    insert = (
        "INSERT INTO inbox (event_id, chat, payload, at) VALUES ('{}', 'c', '', 0)"
        " RETURNING seq > (SELECT max(seq) FROM inbox WHERE event_id <> '{}')"
    )
    move(tmp_path, url)
    assert rows(url, insert.format("x", "x")) == [(True,)]
    back(tmp_path)
    assert execute(tmp_path, None, insert.replace("RETURNING seq >", "RETURNING seq - 1 =").format("y", "y"))


@pytest.mark.parametrize("seed", range(3))
async def test_conversations_go_on_wherever_the_store_moves(tmp_path: Path, bare_url_of: UrlOf, seed: int) -> None:
    use = Use(tmp_path, bare_url_of(tmp_path), seed)
    await use.play()

    heard = [text for text in use.bot.screen if text.startswith("Heard ")]
    assert sorted(heard) == sorted(f"Heard {word}." for word in use.said)
    assert len(use.ran) == len({command for _, command in use.ran}) > 0


# What is refused, and what is left then


async def test_a_running_parley_is_not_moved(tmp_path: Path, bare_url_of: UrlOf) -> None:
    url = bare_url_of(tmp_path)
    async with Store.open(tmp_path, FakeClock(), numbered()):
        with pytest.raises(StoreBusy):
            move(tmp_path, url)
    async with opened(tmp_path / "another", url), Node.joined(url, FACTS):
        with pytest.raises(DatabaseBusy, match=r"in use by a on here, \d+ seconds ago"):
            move(tmp_path, SQLITE, PARLEY_DATABASE_URL=url)


async def test_a_process_that_was_cut_off_can_write_no_more_once_the_store_is_elsewhere(
    tmp_path: Path, bare_url_of: UrlOf
) -> None:
    url = bare_url_of(tmp_path)
    await PostgresServer(url).migrate()
    async with Node.joined(url, FACTS) as node, PostgresServer(url).opened(StoreNode(node)) as (writer, _):
        rows(url, "UPDATE nodes SET beat = beat - interval '1 hour'")
        move(tmp_path, SQLITE, PARLEY_DATABASE_URL=url)
        with pytest.raises(StoreUnavailable):
            await writer.submit(lambda connection: connection.execute("UPDATE store SET sequence = 7"))

    with pytest.raises(DatabaseLeft, match="was moved to a file by `parley migrate`"):
        await PostgresServer(url).migrate()


def test_each_copy_has_an_id_by_which_its_home_is_known(tmp_path: Path, bare_url_of: UrlOf) -> None:
    homes = [tmp_path / name for name in ("one", "two")]
    for home in homes:
        home.mkdir()
        filled(home, seed=1)
        move(home, bare_url_of(home))

    ids = {str(found) for home in homes for (found,) in rows(bare_url_of(home), "SELECT id FROM store")}
    assert {len(found) for found in ids} == {32}
    assert len(ids) == 2


async def test_no_start_forgets_a_store_that_was_not_moved(tmp_path: Path, bare_url_of: UrlOf) -> None:
    filled(tmp_path, seed=1)
    settings = load_settings({"PARLEY_HOME": str(tmp_path), "PARLEY_DATABASE_URL": bare_url_of(tmp_path)}, tmp_path)

    with pytest.raises(StoreNotMoved, match="parley migrate --to"):
        async with prepare(settings):
            pass
    await asyncio.to_thread(move, tmp_path, bare_url_of(tmp_path))
    async with prepare(settings):
        pass


def test_a_store_that_was_moved_already_is_said_to_be(tmp_path: Path, bare_url_of: UrlOf) -> None:
    filled(tmp_path, seed=1)
    move(tmp_path, bare_url_of(tmp_path))

    with pytest.raises(ParleyError, match="on PostgreSQL already"):
        move(tmp_path, bare_url_of(tmp_path))


def test_a_database_that_is_in_use_for_something_else_is_left_alone(tmp_path: Path, bare_url_of: UrlOf) -> None:
    url = bare_url_of(tmp_path)
    filled(tmp_path, seed=1)
    rows(url, "CREATE TABLE cakes (name text)")

    with pytest.raises(NotEmpty, match="DROP SCHEMA public CASCADE"):
        move(tmp_path, url)
    assert rows(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [("cakes",)]
    assert (tmp_path / FILE).exists()
    assert not (tmp_path / ".env").exists()


def test_another_store_is_not_overwritten(tmp_path: Path, bare_url_of: UrlOf) -> None:
    url = bare_url_of(tmp_path)
    filled(tmp_path, seed=1)
    move(tmp_path, url)
    filled(tmp_path, seed=2)
    other = content_of(tmp_path, None)

    with pytest.raises(NotEmpty, match="it is another store"):
        back(tmp_path)
    with pytest.raises(NotEmpty, match="is not empty"):
        move(tmp_path, url)
    assert content_of(tmp_path, None) == other


def test_what_cannot_be_moved_is_told_with_the_reason(tmp_path: Path, bare_url_of: UrlOf) -> None:
    url = bare_url_of(tmp_path)
    with pytest.raises(NothingKept, match="Nothing is kept"):
        move(tmp_path, url)
    with pytest.raises(DatabaseUnusable, match="is empty or of an older Parley"):
        move(tmp_path, SQLITE, PARLEY_DATABASE_URL=url)
    with pytest.raises(ParleyError, match="in SQLite's file already"):
        back(tmp_path)
    filled(tmp_path, seed=1)
    with pytest.raises(DatabaseUnusable, match="Connection refused"):
        move(tmp_path, "postgresql://ann:sesame@127.0.0.1:1/parley")
    with pytest.raises(ParleyError, match="pg_dump and pg_restore"):
        move(tmp_path, "postgresql://ann:sesame@127.0.0.1:1/parley", PARLEY_DATABASE_URL=url)
    with (tmp_path / FILE).open("r+b") as file:
        file.truncate(4096)
    with pytest.raises(StoreDamaged):
        move(tmp_path, url)
    assert rows(url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


async def test_a_place_that_is_none_is_refused() -> None:
    refused = await parley("migrate", "--to", "mysql://db/parley")

    assert refused.code == 2
    assert "is neither sqlite nor an address that begins with postgresql://" in refused.err


@pytest.mark.parametrize("to_server", [True, False])
async def test_a_move_that_is_killed_can_be_made_again(tmp_path: Path, bare_url_of: UrlOf, *, to_server: bool) -> None:
    url = bare_url_of(tmp_path)
    filled(tmp_path, seed=1)
    if not to_server:
        move(tmp_path, url)
    before = content_of(tmp_path, None if to_server else url)

    to = url if to_server else SQLITE
    moving = await python("-P", "-c", DIES, "migrate", "--to", to, environ={"PARLEY_HOME": str(tmp_path)})
    assert moving.code == -signal.SIGKILL, moving.err

    assert content_of(tmp_path, None if to_server else url) == before
    assert (tmp_path / FILE).exists() is to_server
    move(tmp_path, url if to_server else SQLITE)
    assert content_of(tmp_path, url if to_server else None) == before


@pytest.mark.parametrize("to_server", [True, False])
def test_a_move_that_was_killed_at_its_end_is_completed(tmp_path: Path, bare_url_of: UrlOf, *, to_server: bool) -> None:
    url = bare_url_of(tmp_path)
    filled(tmp_path, seed=1)
    file, settings = (tmp_path / FILE).read_bytes(), tmp_path / ".env"
    move(tmp_path, url)
    if to_server:
        (tmp_path / FILE).write_bytes(file)
        settings.unlink()
    else:
        back(tmp_path)
        settings.write_text(f"PARLEY_DATABASE_URL={url}")

    move(tmp_path, url if to_server else SQLITE)
    assert load_settings({"PARLEY_HOME": str(tmp_path)}, tmp_path).database == (url if to_server else None)
    assert (tmp_path / FILE).exists() is not to_server


# What it says and leaves


def test_it_says_what_it_did_and_how_to_undo_it(
    tmp_path: Path, bare_url_of: UrlOf, capsys: pytest.CaptureFixture[str]
) -> None:
    url = bare_url_of(tmp_path)
    filled(tmp_path, seed=1)
    (tmp_path / ".env").write_text("PARLEY_MODEL=ollama/qwen3\n")
    (tmp_path / BALLAST).write_bytes(b"for SQLite's disk")

    move(tmp_path, url)
    assert not (tmp_path / BALLAST).exists()
    told = capsys.readouterr().out
    assert re.search(r"^inbox: \d+ rows copied and compared$", told, re.MULTILINE)
    assert f"{tmp_path / '.env'}: PARLEY_DATABASE_URL is set." in told
    assert "To come back, with all that will have been said by then: parley migrate --to sqlite" in told
    assert load_settings({"PARLEY_HOME": str(tmp_path)}, tmp_path).database == url

    back(tmp_path)
    assert f"{tmp_path / '.env'}: PARLEY_DATABASE_URL is empty." in capsys.readouterr().out
    assert load_settings({"PARLEY_HOME": str(tmp_path)}, tmp_path).database is None
    assert (tmp_path / ".env").read_text() == "PARLEY_MODEL=ollama/qwen3\nPARLEY_DATABASE_URL=\n"


def test_a_setting_in_the_environment_is_left_to_its_owner(
    tmp_path: Path, bare_url_of: UrlOf, capsys: pytest.CaptureFixture[str]
) -> None:
    url = bare_url_of(tmp_path)
    filled(tmp_path, seed=1)

    move(tmp_path, url, PARLEY_DATABASE_URL=url)
    assert not (tmp_path / ".env").exists()
    move(tmp_path, SQLITE, PARLEY_DATABASE_URL=url)
    assert "PARLEY_DATABASE_URL in the environment counts more: take PARLEY_DATABASE_URL out there." in (
        capsys.readouterr().out
    )


def test_the_old_file_is_no_store_that_could_be_started_by_mistake(tmp_path: Path, bare_url_of: UrlOf) -> None:
    filled(tmp_path, seed=1)
    before = content_of(tmp_path, None)
    move(tmp_path, bare_url_of(tmp_path))
    back(tmp_path)
    move(tmp_path / ".", bare_url_of(tmp_path / "another"))

    first, _ = sorted((tmp_path / "replaced").iterdir())
    with pytest.raises(StoreDamaged, match="missing, though it was used before"):
        check_store(tmp_path)
    restore(tmp_path, first, now=2e9)
    assert content_of(tmp_path, None)["transcript"] == before["transcript"]


async def test_the_home_belongs_to_whichever_database_the_store_is_on(tmp_path: Path, bare_url_of: UrlOf) -> None:
    filled(tmp_path, seed=1)
    for name in ("one", "other"):
        url = bare_url_of(tmp_path / name)
        move(tmp_path, url)
        async with opened(tmp_path, url) as store:
            await store.home_marker.check(tmp_path)
        back(tmp_path)


async def test_a_move_back_to_where_the_store_came_from_is_quick_if_nothing_has_changed(
    tmp_path: Path, bare_url_of: UrlOf
) -> None:
    url = bare_url_of(tmp_path)
    filled(tmp_path, seed=1)
    for _ in range(2):
        move(tmp_path, url)
        async with opened(tmp_path, url) as store:
            await store.home_marker.check(tmp_path)
        back(tmp_path)

    move(tmp_path, url)
    assert not (tmp_path / FILE).exists()


async def test_search_works_at_once(tmp_path: Path, bare_url_of: UrlOf) -> None:
    url = bare_url_of(tmp_path)
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, user("今天数据库备份完成了"))
    move(tmp_path, url)
    async with opened(tmp_path, url) as store:
        found = await store.search.find([CHAT], "备份", 5)
    assert (len(found.found), found.is_complete) == (1, True)
    back(tmp_path)
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        found = await store.search.find([CHAT], "备份", 5)
    assert (len(found.found), found.is_complete) == (1, True)
