"""A store from before the menus were a plugin keeps what it knows of them."""

import sqlite3
from contextlib import closing
from pathlib import Path

from channels.base import ChatKey
from gateway.app.plugins import tables_of
from gateway.plugins.menus.plugin import MenusPlugin
from gateway.plugins.menus.table import MenuPlace, Menus
from gateway.store.opening import FILE, migrations
from gateway.store.store import Extras, Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.postgres import execute

LAST = 51
"""The number of migrations that such a store has."""
CHAT = ChatKey(platform="telegram", account="42", chat="7")
SET = "INSERT INTO menus VALUES ('telegram:42:7', 'digest'), ('telegram:42:7 9', 'other')"
EXTRAS = Extras(plugins=tables_of([MenusPlugin]))


async def test_menus_that_are_set_are_known_after_an_upgrade(tmp_path: Path, database: str | None) -> None:
    if database is None:
        with closing(sqlite3.connect(tmp_path / FILE)) as file:
            steps = "\n".join(each.read_text() for each in migrations()[:LAST])
            file.executescript(f"{steps}\nPRAGMA user_version = {LAST};")
    execute(tmp_path, database, SET)

    for _ in range(2):
        async with Store.open(tmp_path, FakeClock(), numbered(), url=database, extras=EXTRAS) as store:
            menus = store.table(Menus)
            assert await menus.all() == {MenuPlace(CHAT): "digest", MenuPlace(CHAT, "9"): "other"}
    assert execute(tmp_path, database, "SELECT number FROM plugin_migrations WHERE plugin = 'menus'") == [(1,)]


async def test_a_new_store_has_no_menus_and_keeps_those_that_are_set(tmp_path: Path, database: str | None) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered(), url=database, extras=EXTRAS) as store:
        menus = store.table(Menus)
        assert await menus.all() == {}
        await menus.save(MenuPlace(CHAT), "digest")
        await menus.save(MenuPlace(CHAT, "9"), "digest")
        await menus.save(MenuPlace(CHAT), None)
        assert await menus.all() == {MenuPlace(CHAT, "9"): "digest"}
