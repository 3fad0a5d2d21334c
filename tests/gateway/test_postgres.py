"""The store on PostgreSQL: what is its own, beside the contract that both databases fulfil."""

import asyncio
import sqlite3
from argparse import Namespace
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from agent_core.messages import UserMessage, text_of
from gateway.errors import ParleyError
from gateway.security.secrets import Secrets
from gateway.settings.settings import load_settings
from gateway.store import opening, postgres, postgres_opening
from gateway.store.archive import Archive, SaidRow
from gateway.store.connection import Connection
from gateway.store.opening import FILE, migrate
from gateway.store.postgres import PostgresError, PostgresWriter, translated
from gateway.store.postgres_opening import DatabaseTooNew, DatabaseUnusable
from gateway.store.server import PostgresServer
from gateway.store.store import Store
from gateway.store.writer import StoreUnavailable
from gateway.upkeep.backup_command import NotAFile, backup, bring_back
from gateway.upkeep.doctor.database import look_at_database
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.test_store import CHAT, RUN, message
from tests.messages import user
from tests.postgres import UrlOf, rows
from tests.process import until
from tests.tunnel import Loss, Tunnel


@asynccontextmanager
async def opened(home: Path, url: str) -> AsyncIterator[Store]:
    async with Store.open(home, FakeClock(), numbered(), Secrets(), url=url) as store:
        yield store


# The schema


def of_sqlite(home: Path) -> dict[str, list[str]]:
    query = (
        "SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns"
        " WHERE tables.type = 'table' ORDER BY columns.cid"
    )
    found = defaultdict[str, list[str]](list)
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as connection:
        migrate(connection, home / FILE)
        for table, column in connection.execute(query):
            if not table.startswith(("said", "sqlite_")):
                found[table].append(column)
    return found


def indexes_of_sqlite(home: Path) -> set[str]:
    with closing(sqlite3.connect(home / FILE)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        return {name for (name,) in found}


async def test_both_databases_have_the_same_tables_columns_and_indexes(tmp_path: Path, bare_url_of: UrlOf) -> None:
    url = bare_url_of(tmp_path)
    async with opened(tmp_path, url):
        pass
    columns = rows(
        url,
        "SELECT table_name, array_agg(column_name::text ORDER BY ordinal_position) FROM information_schema.columns"
        " WHERE table_schema = 'public' GROUP BY 1",
    )
    indexes = {name for (name,) in rows(url, "SELECT indexname FROM pg_indexes WHERE schemaname = 'public'")}

    ours = {str(name): names for name, names in columns if name not in {"said", "schema_version"}}
    assert ours == of_sqlite(tmp_path)
    assert indexes_of_sqlite(tmp_path) <= indexes


def test_each_migration_of_one_database_has_its_number_on_the_other() -> None:
    first, *later = map(postgres_opening.number_of, postgres_opening.migrations())

    assert [first, *later] == list(range(first, len(opening.migrations()) + 1))


# Opening


async def test_processes_that_start_at_once_migrate_one_after_the_other(tmp_path: Path, bare_url_of: UrlOf) -> None:
    url = bare_url_of(tmp_path)

    await asyncio.gather(*(postgres_opening.migrated(url) for _ in range(4)))

    assert rows(url, "SELECT number FROM schema_version") == [(len(opening.migrations()),)]


async def test_a_database_of_a_later_version_is_left_alone(tmp_path: Path, url_of: UrlOf) -> None:
    url = url_of(tmp_path)
    async with opened(tmp_path, url):
        pass
    rows(url, "UPDATE schema_version SET number = 999")

    with pytest.raises(DatabaseTooNew, match="schema 999"):
        async with opened(tmp_path, url):
            pass
    assert rows(url, "SELECT number FROM schema_version") == [(999,)]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://ann:sesame@127.0.0.1:1/parley", "Connection refused"),
        ("postgresql://ann:sesame@no.such.host.invalid/parley", "resolve host|not known"),
    ],
)
async def test_a_database_that_is_not_there_is_told_with_the_fix_and_without_the_password(
    tmp_path: Path, url: str, reason: str
) -> None:
    with pytest.raises(DatabaseUnusable, match=reason) as refused:
        async with opened(tmp_path, url):
            pass

    assert "See that PostgreSQL runs there" in refused.value.sentence
    assert "sesame" not in refused.value.sentence


async def test_an_address_that_cannot_be_read_is_told_without_quoting_it(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="it looks like postgresql://") as refused:
        async with opened(tmp_path, "postgresql://ann:sesame@host/x?nonsense=1"):
            pass
    assert "sesame" not in refused.value.sentence


async def test_a_database_of_another_program_is_left_alone(tmp_path: Path, bare_url_of: UrlOf) -> None:
    url = bare_url_of(tmp_path)
    rows(url, "CREATE TABLE inbox (words text)")

    with pytest.raises(ParleyError, match="already exists"):
        async with opened(tmp_path, url):
            pass
    assert rows(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [("inbox",)]


# Values


def test_placeholders_are_translated_and_texts_are_not() -> None:
    query = "SELECT a::text FROM t WHERE b = ? AND c LIKE ':x%?' AND d = :name_2 AND e = 'it''s ?'"

    assert (
        translated(query)
        == b"SELECT a::text FROM t WHERE b = %s AND c LIKE ':x%%?' AND d = %(name_2)s AND e = 'it''s ?'"
    )


async def test_a_text_with_a_nul_character_is_stored_and_can_be_searched_by_its_fields(
    tmp_path: Path, url_of: UrlOf
) -> None:
    async with opened(tmp_path, url_of(tmp_path)) as store:
        odd = message(1).model_copy(update={"text": "a\0b"})
        seq = await store.inbox.accept(odd)
        await store.transcript.append(RUN, 1, user("c\0d"))
        await store.sessions.rename(CHAT, RUN.session, "e\0f")

        assert [item.event for item in await store.inbox.waiting()] == [odd]
        found = await store.inbox.find(CHAT, odd.message_id)
        assert found is not None
        assert found.seq == seq
        history = await store.transcript.history(RUN.session)
        assert [text_of(said.content) for said in history if isinstance(said, UserMessage)] == ["c\0d"]
        assert await store.sessions.title(RUN.session) == "e␀f"


# A database that goes away


@asynccontextmanager
async def through_a_tunnel(home: Path, url: str) -> AsyncIterator[tuple[Store, Tunnel]]:
    async with Tunnel.to(url) as tunnel, opened(home, tunnel.url) as store:
        yield store, tunnel


async def test_nothing_is_lost_while_the_database_is_away(tmp_path: Path, url_of: UrlOf) -> None:
    async with through_a_tunnel(tmp_path, url_of(tmp_path)) as (store, tunnel):
        await store.inbox.accept(message(1))
        tunnel.cut()
        patient = asyncio.ensure_future(store.inbox.settle([1]))
        read = asyncio.ensure_future(store.inbox.waiting())
        with pytest.raises(StoreUnavailable):
            await store.inbox.accept(message(2))
        with pytest.raises(StoreUnavailable):
            await store.check_writable()
        assert not patient.done()
        assert not read.done()

        tunnel.mend()
        await asyncio.wait_for(patient, 30)
        assert len(await asyncio.wait_for(read, 30)) <= 1
        assert await store.inbox.accept(message(2))
        assert [item.event.event_id for item in await store.inbox.waiting()] == ["e2"]


@pytest.mark.parametrize("loss", Loss)
async def test_a_commit_whose_connection_breaks_is_made_exactly_once(tmp_path: Path, url_of: UrlOf, loss: Loss) -> None:
    url = url_of(tmp_path)
    async with through_a_tunnel(tmp_path, url) as (store, tunnel):
        await store.runs.begin(RUN)
        tunnel.lose = loss
        accepted = asyncio.ensure_future(store.inbox.accept(message(1)))
        said = store.transcript.append(RUN, 1, user("hello"))
        await until(lambda: tunnel.losses)
        tunnel.mend()

        await asyncio.wait_for(said, 30)
        outcome = (await asyncio.gather(accepted, return_exceptions=True))[0]
        assert await store.inbox.accept(message(2))
        waiting = [item.event.event_id for item in await store.inbox.waiting()]

    assert waiting in (["e1", "e2"], ["e2"])
    assert isinstance(outcome, int) is ("e1" in waiting), (
        "an event that was not accepted was kept, or the other way round"
    )
    assert rows(url, "SELECT count(*) FROM transcript") == [(1,)]


async def test_a_transaction_that_a_failover_has_lost_was_not_made(url_of: UrlOf, tmp_path: Path) -> None:
    async with PostgresWriter.open(url_of(tmp_path)) as database:
        [(made,)] = rows(url_of(tmp_path), "SELECT pg_current_xact_id()::text")

        assert await database.run(lambda connection: postgres.was_made(connection, str(made)))
        assert not await database.run(lambda connection: postgres.was_made(connection, str(10**15)))


async def test_a_server_that_ends_all_sessions_is_connected_to_again(tmp_path: Path, url_of: UrlOf) -> None:
    url = url_of(tmp_path)
    async with opened(tmp_path, url) as store:
        await store.inbox.accept(message(1))
        rows(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'")

        assert len(await store.inbox.waiting()) == 1
        await store.inbox.settle([1])
        assert await store.inbox.waiting() == []


async def test_a_connection_on_which_nothing_passes_any_more_is_given_up(
    tmp_path: Path, url_of: UrlOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "LOOK_EVERY", 0.1)
    async with through_a_tunnel(tmp_path, url_of(tmp_path)) as (store, tunnel):
        await store.inbox.accept(message(1))
        await store.inbox.waiting()
        tunnel.stall()
        settled = asyncio.ensure_future(store.inbox.settle([1]))
        read = asyncio.ensure_future(store.runs.unfinished())

        await asyncio.wait_for(settled, 30)
        assert list(await asyncio.wait_for(read, 30)) == []
        assert await store.inbox.waiting() == []


async def test_a_long_statement_is_left_alone(tmp_path: Path, url_of: UrlOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "LOOK_EVERY", 0.02)
    async with PostgresServer(url_of(tmp_path)).opened() as (writer, reader):
        slept = "SELECT pg_sleep(0.5), 'done'"
        assert (await writer.submit(lambda connection: connection.execute(slept).fetchone()))[1] == "done"
        assert (await reader.run(lambda connection: connection.execute(slept).fetchone()))[1] == "done"
        await writer.close()


async def test_a_wrong_statement_is_no_reason_to_wait(tmp_path: Path, url_of: UrlOf) -> None:
    async with PostgresWriter.open(url_of(tmp_path)) as database:
        with pytest.raises(PostgresError, match="nothing") as failed:
            await database.run(lambda connection: connection.execute("SELECT * FROM nothing"))

    assert failed.value.sqlite_errorcode == sqlite3.SQLITE_ERROR


async def test_a_read_is_repeated_after_trouble_that_may_pass(
    tmp_path: Path, url_of: UrlOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "TRY_AGAIN_EVERY", 0.01)
    tries: list[str] = []

    def read(connection: Connection) -> object:
        tries.append("once more")
        lacks = "RAISE EXCEPTION USING ERRCODE = 'out_of_memory', MESSAGE = 'out of memory'"
        if len(tries) == 1:
            connection.execute(f"DO $$ BEGIN {lacks}; END $$")
        return connection.execute("SELECT 1").fetchone()

    async with postgres.PostgresReader.open(url_of(tmp_path)) as reader:
        assert await reader.run(read) == (1,)


async def test_many_changes_at_once_are_few_transactions(tmp_path: Path, url_of: UrlOf) -> None:
    url = url_of(tmp_path)
    async with opened(tmp_path, url) as store:
        await asyncio.gather(*(store.inbox.accept(message(number)) for number in range(500)))

    assert rows(url, "SELECT count(DISTINCT xmin::text) <= 10 FROM inbox") == [(True,)]


# What works on the file of SQLite


async def test_runs_are_read_by_another_process_while_parley_runs(tmp_path: Path, url_of: UrlOf) -> None:
    url = url_of(tmp_path)
    async with opened(tmp_path, url) as store:
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, user("hello"))
        with Archive.open(tmp_path, url) as archive:
            assert [row.run for row in archive.find_runs(RUN.id[:5])] == [RUN.id]
            assert archive.chats() == [str(CHAT)]
            [said] = archive.said_in(RUN.id)

    assert isinstance(said, SaidRow)


def test_a_database_that_parley_never_used_is_not_read(tmp_path: Path, bare_url_of: UrlOf) -> None:
    with pytest.raises(DatabaseUnusable, match="Start this one once"), Archive.open(tmp_path, bare_url_of(tmp_path)):
        pass


async def test_the_doctor_names_the_server_or_what_is_wrong_with_it(tmp_path: Path, url_of: UrlOf) -> None:
    url = url_of(tmp_path)
    async with opened(tmp_path, url):
        pass

    well, *_ = look_at_database(url, tmp_path)
    [ill] = look_at_database("postgresql://ann:sesame@127.0.0.1:1/parley", tmp_path)

    assert "can be read: version" in well.what
    assert "Connection refused" in ill.what
    assert ill.fix.startswith("see that PostgreSQL runs there")
    assert "sesame" not in f"{ill}"


@pytest.mark.parametrize(
    ("command", "instead"), [(("backup", "all.zip"), "pg_dump"), (("restore", "all.zip"), "pg_restore")]
)
def test_commands_for_the_file_name_the_tool_for_the_server(
    tmp_path: Path, command: tuple[str, ...], instead: str
) -> None:
    environ = {"PARLEY_HOME": str(tmp_path), "PARLEY_DATABASE_URL": "postgresql://ann:sesame@127.0.0.1:1/parley"}
    given = Namespace(file=command[1], files=False, secrets=False)

    with pytest.raises(NotAFile, match=instead):
        (backup if command[0] == "backup" else bring_back)(environ, tmp_path, given)


def test_the_list_of_backups_says_that_the_server_keeps_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"PARLEY_HOME": str(tmp_path), "PARLEY_DATABASE_URL": "postgresql://ann:sesame@127.0.0.1:1/parley"}

    assert bring_back(environ, tmp_path, Namespace(file=None)) == 0
    (only,) = capsys.readouterr().out.splitlines()
    assert "pg_dump makes its backups" in only

    (tmp_path / "replaced" / "2026-11-26").mkdir(parents=True)
    assert bring_back(environ, tmp_path, Namespace(file=None)) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1] == "What follows is from before it was there."
    assert said[2].startswith(f"{tmp_path / 'replaced' / '2026-11-26'}  ")


def test_the_password_of_the_address_is_a_secret(tmp_path: Path) -> None:
    environ = {"PARLEY_HOME": str(tmp_path), "PARLEY_DATABASE_URL": "postgresql://ann:open%20sesame@db/parley"}
    secrets = load_settings(environ, tmp_path).secrets

    assert "sesame" not in secrets.mask("failed: open sesame, open%20sesame, postgresql://ann:open%20sesame@db/parley")
