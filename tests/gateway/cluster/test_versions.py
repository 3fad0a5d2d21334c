"""Nodes of an older and of a newer Parley, which has other tables."""

import asyncio
import threading
from pathlib import Path

import pytest

from agent_core.models.scripted import Waits
from channels.base import NotTakenIn
from gateway.cluster.node import Node, NodeInfo
from gateway.store.connection import Connection
from gateway.store.postgres_opening import DatabaseTooNew, opened
from gateway.store.server import PostgresServer
from gateway.store.writer import StoreUnavailable, Writer
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.cluster.stores import keep_open
from tests.gateway.cluster.versions import newer_parley
from tests.postgres import UrlOf, rows
from tests.process import until

FACTS = NodeInfo(name="a", host="here", pid=1, version="0", started=1.0)


async def test_an_older_node_writes_and_sends_nothing_more_and_a_newer_one_goes_on(
    tmp_path: Path, url_of: UrlOf
) -> None:
    nodes, late = Nodes(tmp_path, url_of(tmp_path)), asyncio.Event()
    async with nodes.life:
        older = await nodes.start(Waits(late, "Too late."))
        await older.channel.hears("hello")
        await until(lambda: len(older.llm.requests) == 1)

        with newer_parley(tmp_path):
            newer = await nodes.start("In time.", "Here I am.")
        await until(lambda: nodes.platform.screen == ["In time."])
        late.set()
        with pytest.raises(NotTakenIn):
            await older.channel.hears("are you there?")
        await asyncio.wait_for(older.made.base.peers.wait_fenced(), 30)
        await older.stop()
        await newer.hears("and you?")

        assert nodes.sent() == ["In time.", "Here I am."]
        assert rows(nodes.url, "SELECT count(*) FROM runs") == [(2,)]
        with pytest.raises(DatabaseTooNew, match="Start the newer version"):
            await older.start()


async def test_the_tables_change_after_what_an_older_node_is_writing_and_before_what_it_writes_next(
    tmp_path: Path, url_of: UrlOf
) -> None:
    url, begun, end = url_of(tmp_path), threading.Event(), threading.Event()

    def change(connection: Connection) -> None:
        connection.execute("INSERT INTO chat_settings VALUES ('a', 'x', '', 'ann', 0)")
        begun.set()
        keep_open(connection, end)

    async with Node.joined(url, FACTS) as node, opened(url, node) as (database, _):
        writer = Writer(database, fence=node)
        writing = writer.submit(change)
        await until(begun.is_set)
        with newer_parley(tmp_path):
            migrating = asyncio.create_task(PostgresServer(url).migrate())
            await until(lambda: rows(url, "SELECT count(*) FROM pg_locks WHERE NOT granted") != [(0,)])
            later = writer.submit(lambda connection: connection.execute("DELETE FROM chat_settings"))
            assert not migrating.done()
            end.set()
            await migrating

        await writing
        with pytest.raises(StoreUnavailable, match="have taken over"):
            await later
        await writer.close()
    assert rows(url, "SELECT count(*) FROM chat_settings") == [(1,)]
