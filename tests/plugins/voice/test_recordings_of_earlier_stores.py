"""A store from before the transcripts were tables of the plugin keeps them, with who said them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.app.plugins import tables_of
from gateway.plugins.voice.plugin import Voice
from gateway.plugins.voice.table import START, Recordings
from gateway.store.opening import FILE, migrations
from gateway.store.store import Extras, Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.test_owed_of_earlier_stores import made_before
from tests.plugins.both_databases import OnBoth
from tests.postgres import execute

MOVED = 56
"""The number of the migration that moves them."""
ROWS = (
    """
INSERT INTO inbox (seq, event_id, chat, payload, state, at) VALUES
  (1, 'a', 'memory:here:ann', '{"sender": {"id": "ann"}}', 'done', 5),
  (2, 'b', 'memory:here:#birds', '{"sender": {"id": "bob"}}', 'done', 6),
  (3, 'c', 'memory:here:#birds', 'damaged', 'done', 7)
""",
    """
INSERT INTO recordings (seq, place, words, seconds, model, at) VALUES
  (1, 0, 'one', 2.5, 'whisper-1', 5), (2, 1, 'two', NULL, 'whisper-1', 6),
  (3, 0, 'three', 1, 'whisper-1', 7), (9, 0, 'of nobody', 1, 'whisper-1', 8)
""",
    "INSERT INTO voice_notices VALUES ('memory:here:ann', 1)",
)
KEPT = [
    (1, 0, "memory:here:ann", "ann", "one", 2.5, "whisper-1", 5.0),
    (2, 1, "memory:here:#birds", "bob", "two", None, "whisper-1", 6.0),
    (3, 0, "memory:here:#birds", "", "three", 1.0, "whisper-1", 7.0),
    (9, 0, "", "", "of nobody", 1.0, "whisper-1", 8.0),
]


async def made_earlier(home: Path, database: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the tables of the version before."""
    if database is not None:
        return await made_before(MOVED, database, monkeypatch)
    with closing(sqlite3.connect(home / FILE)) as file:
        steps = "\n".join(each.read_text() for each in migrations()[: MOVED - 1])
        file.executescript(f"{steps}\nPRAGMA user_version = {MOVED - 1};")
    return None


class TestEarlierStores:
    database = OnBoth.database

    async def test_what_was_said_is_known_after_an_upgrade(
        self, tmp_path: Path, database: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await made_earlier(tmp_path, database, monkeypatch)
        for statement in ROWS:
            execute(tmp_path, database, statement)

        for _ in range(2):
            extras = Extras(plugins=tables_of([Voice]))
            async with Store.open(tmp_path, FakeClock(), numbered(), url=database, extras=extras) as store:
                table = store.table(Recordings)
                assert [await table.find(seq, place) for seq, place in ((1, 0), (2, 1), (4, 0))] == ["one", "two", None]
                assert not await table.is_first_notice("memory:here:ann", 2)

        assert execute(tmp_path, database, "SELECT * FROM voice_recordings ORDER BY seq") == KEPT
        assert execute(tmp_path, database, "SELECT * FROM plugin_migrations") == [("voice", 1, START)]

    @pytest.mark.parametrize("has_rows", [True, False])
    async def test_while_the_plugin_is_off_it_counts_as_one_with_tables_if_there_are_rows(
        self, tmp_path: Path, database: str | None, monkeypatch: pytest.MonkeyPatch, *, has_rows: bool
    ) -> None:
        await made_earlier(tmp_path, database, monkeypatch)
        for statement in ROWS if has_rows else ():
            execute(tmp_path, database, statement)

        async with Store.open(tmp_path, FakeClock(), numbered(), url=database) as store:
            assert await store.erasures.with_tables() == (["voice"] if has_rows else [])
