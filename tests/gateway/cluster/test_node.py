"""Processes on one database: each is a node, and one that was taken for dead writes no more."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from agent_core import supervise
from gateway.cluster import node as node_module
from gateway.cluster import signals as signals_module
from gateway.cluster.node import Node, NodeInfo, fence
from gateway.cluster.signals import NodeSignals
from gateway.security.secrets import Secrets
from gateway.store.connection import Connection
from gateway.store.postgres import PostgresError
from gateway.store.postgres_opening import opened
from gateway.store.server import PostgresServer
from gateway.store.signals import StoreNode
from gateway.store.store import Store
from gateway.store.writer import StoreUnavailable, Writer
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.cluster.stores import keep_open
from tests.gateway.test_store import message
from tests.postgres import rows
from tests.process import until
from tests.tunnel import Tunnel

FACTS = NodeInfo(name="a", host="here", pid=1, version="0", started=1.0)


@asynccontextmanager
async def node_with_store(home: Path, url: str) -> AsyncIterator[tuple[Node, Store]]:
    async with (
        Node.joined(url, FACTS) as node,
        Store.open(home, FakeClock(), numbered(), Secrets(), url=url, node=StoreNode(node)) as store,
    ):
        yield node, store


async def test_two_nodes_write_to_one_database(tmp_path: Path, url: str) -> None:
    async with node_with_store(tmp_path, url) as (_, one), node_with_store(tmp_path, url) as (_, other):
        assert await one.inbox.accept(message(1))
        assert await other.inbox.accept(message(1)) is None
        assert await other.inbox.accept(message(2))

        assert len(await one.inbox.waiting()) == 2
        assert rows(url, "SELECT count(*) FROM nodes WHERE NOT fenced") == [(2,)]
    assert rows(url, "SELECT count(*) FROM nodes WHERE NOT fenced") == [(0,)]


async def test_a_node_goes_on_beating_after_a_mistake(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "FIRST_PAUSE", 0.01)
    beat, mistakes = Node._beat, [TypeError("a mistake")]  # noqa: SLF001 - a mistake of ours cannot be had otherwise

    async def beats(node: Node) -> bool:
        if mistakes:
            raise mistakes.pop()
        return await beat(node)

    async with Node.joined(url, FACTS):
        monkeypatch.setattr(Node, "_beat", beats)
        joined = rows(url, "SELECT beat FROM nodes")

        await until(lambda: rows(url, "SELECT beat FROM nodes") > joined)

    assert mistakes == []


async def test_news_that_nobody_can_read_does_not_keep_a_node_from_hearing_others(url: str) -> None:
    heard = asyncio.Event()

    async def react(key: str) -> None:
        if key == "c":
            heard.set()

    async with NodeSignals.opened(url, "a") as signals:
        signals.subscribe("topic", react)
        await signals.listening.wait()
        for news in ("[" * 7000, "{", "1", '["b"]', '["b", "topic", "c"]'):
            rows(url, f"SELECT pg_notify('parley', '{news}')")

        await asyncio.wait_for(heard.wait(), 30)


async def test_the_rows_of_nodes_that_ended_long_ago_are_deleted(url: str) -> None:
    for _ in range(2):
        async with Node.joined(url, FACTS):
            pass
    rows(url, "UPDATE nodes SET beat = beat - interval '2 days' WHERE id = (SELECT min(id) FROM nodes)")

    async with Node.joined(url, FACTS):
        assert rows(url, "SELECT fenced FROM nodes ORDER BY fenced") == [(False,), (True,)]


async def test_a_fenced_node_writes_nothing_any_more_and_learns_of_it(tmp_path: Path, url: str) -> None:
    async with node_with_store(tmp_path, url) as (node, store):
        assert await store.inbox.accept(message(1))
        rows(url, "UPDATE nodes SET fenced = TRUE")
        written = [
            asyncio.ensure_future(store.inbox.settle([1])),
            asyncio.ensure_future(store.inbox.accept(message(2))),
        ]

        for each in written:
            with pytest.raises(StoreUnavailable, match="have taken over"):
                await each
        assert node.fenced.is_set()
        assert not node.is_fresh
        with pytest.raises(StoreUnavailable):
            await store.check_writable()
    assert rows(url, "SELECT state FROM inbox") == [("new",)]


async def test_a_node_learns_from_its_beat_that_it_was_fenced(url: str) -> None:
    async with Node.joined(url, FACTS) as node:
        rows(url, "UPDATE nodes SET fenced = TRUE")

        await asyncio.wait_for(node.fenced.wait(), 30)


async def test_a_node_whose_database_is_away_sends_nothing_until_it_is_back(url: str) -> None:
    async with Tunnel.to(url) as tunnel, Node.joined(tunnel.url, FACTS) as node:
        await asyncio.wait_for(node.wait_fresh(), 30)
        tunnel.cut()
        await until(lambda: not node.is_fresh)
        waiting = asyncio.create_task(node.wait_fresh())
        assert node.connected_for == 0
        assert not waiting.done()
        tunnel.mend()

        await asyncio.wait_for(waiting, 30)
        assert not node.fenced.is_set()
        [(locks,)] = rows(url, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
        assert locks == 1


async def test_a_node_beats_during_its_transaction_and_is_given_up_only_after_that(url: str) -> None:
    begun, end = threading.Event(), threading.Event()

    def change(connection: Connection) -> None:
        connection.execute("INSERT INTO chat_settings VALUES ('a', 'x', '', 'ann', 0)")
        begun.set()
        keep_open(connection, end)

    async def given_up() -> None:
        async with await psycopg.AsyncConnection.connect(url) as raw:
            await fence(raw, node.id)

    async with Node.joined(url, FACTS) as node, opened(url, node) as (database, _):
        writer = Writer(database, fence=node)
        writing = writer.submit(change)
        await until(begun.is_set)
        [(before,)] = rows(url, "SELECT beat FROM nodes")
        await until(lambda: rows(url, "SELECT beat FROM nodes") != [(before,)])
        giving_up = asyncio.create_task(given_up())
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        await until(lambda: rows(url, waiting) == [(1,)])
        assert rows(url, "SELECT fenced FROM nodes") == [(False,)]
        end.set()

        await writing
        await giving_up
        with pytest.raises(StoreUnavailable, match="have taken over"):
            await writer.submit(lambda _: None)
        await writer.close()
    assert rows(url, "SELECT count(*) FROM chat_settings") == [(1,)]


async def test_what_was_written_while_the_address_led_to_a_standby_is_written_to_the_next_primary(url: str) -> None:
    name = urlsplit(url).path[1:]
    async with PostgresServer(url).opened() as (writer, reader):
        rows(url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")  # of each new session
        writing = writer.submit(lambda connection: connection.execute("DELETE FROM chat_settings").rowcount)
        reading = asyncio.create_task(reader.run(lambda connection: connection.execute("SELECT 1").fetchone()))
        with pytest.raises(StoreUnavailable):
            await asyncio.wait_for(_written_until_refused(writer), 30)
        assert not writing.done()
        assert not reading.done()
        with closing(psycopg.connect(url, autocommit=True)) as raw:
            raw.execute("SET default_transaction_read_only = off")
            raw.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only".encode())

        assert await asyncio.wait_for(writing, 30) == 0
        assert await asyncio.wait_for(reading, 30) == (1,)
        await writer.close()


async def _written_until_refused(writer: Writer) -> None:
    while True:
        await writer.submit(lambda _: None, patient=False)


async def test_two_nodes_in_each_others_way_both_write_and_nothing_is_refused(tmp_path: Path, url: str) -> None:
    both = threading.Event()
    meeting = threading.Barrier(2, action=both.set)
    tries: list[str] = []

    def crossing(*names: str) -> Callable[[Connection], None]:
        def change(connection: Connection) -> None:
            first, second = names
            tries.append(first)
            connection.execute("UPDATE chat_settings SET value = value || ? WHERE place = ?", (first, first))
            with suppress(threading.BrokenBarrierError):
                meeting.wait(30)
            connection.execute("UPDATE chat_settings SET value = value || ? WHERE place = ?", (first, second))

        return change

    async with PostgresServer(url).opened() as (one, _), PostgresServer(url).opened() as (other, _):
        rows(url, "INSERT INTO chat_settings VALUES ('a', 'x', '', 'ann', 0), ('b', 'x', '', 'ann', 0)")
        writes = asyncio.gather(one.submit(crossing("a", "b")), other.submit(crossing("b", "a")))
        await until(both.is_set)
        meeting.abort()  # whoever tries again meets nobody
        await writes
        assert await one.submit(lambda _: True, patient=False)
        await one.close()
        await other.close()

    assert len(tries) > 2
    assert {value for (value,) in rows(url, "SELECT value FROM chat_settings")} <= {"ab", "ba"}


# Signals


async def test_news_that_nobody_can_read_stop_no_others(url: str, listen: Callable[..., object]) -> None:
    _, heard = await listen("one")  # type: ignore[misc]
    for payload in ("", "5", "[1]", '["other", ["roles"], "ann"]', '["other", "roles", "ann"]'):
        rows(url, f"SELECT pg_notify('parley', '{payload}')")

    await until(lambda: heard == ["", "ann"])


async def test_news_to_which_a_reaction_fails_for_the_database_is_reacted_to_again(
    url: str, listen: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals_module, "AGAIN_AFTER", 0.01)
    signals, heard = await listen("one")  # type: ignore[misc]
    read: list[str] = []

    async def reads(key: str) -> None:
        heard.append(key)
        if heard.count(key) == 1:
            raise PostgresError("the database is away", sqlite3.SQLITE_BUSY)
        read.append(key)

    signals.subscribe("rules", reads)
    for key in ("ann", "bob"):
        rows(url, f"""SELECT pg_notify('parley', '["other", "rules", "{key}"]')""")

    await until(lambda: read == ["", "ann", "bob"])


@pytest.fixture
async def listen(url: str) -> AsyncIterator[Callable[..., object]]:
    async with AsyncExitStack() as stack:

        async def listening(name: str, at: str = url) -> tuple[NodeSignals, list[str]]:
            signals = await stack.enter_async_context(NodeSignals.opened(at, name))
            heard: list[str] = []

            async def hear(key: str) -> None:
                heard.append(key)

            signals.subscribe("roles", hear)
            await until(lambda: heard == [""])
            return signals, heard

        yield listening


async def test_a_change_is_told_to_the_other_nodes_once_it_is_committed(
    tmp_path: Path, url: str, listen: Callable[..., object]
) -> None:
    one, heard_by_one = await listen("one")  # type: ignore[misc]
    _, heard_by_other = await listen("other")  # type: ignore[misc]
    async with PostgresServer(url).opened() as (writer, _):

        def change(connection: Connection) -> None:
            one.publish(connection, "roles", "ann")
            one.publish(connection, "rules", "none listens")
            one.notify(connection, "other", "roles", "bob")

        await writer.submit(change)
        await until(lambda: heard_by_other == ["", "ann", "bob"])
        await writer.close()
    assert heard_by_one == [""]


async def test_a_lost_connection_is_made_again_and_everything_may_have_changed(
    url: str, listen: Callable[..., object]
) -> None:
    async with Tunnel.to(url) as tunnel:
        signals, heard = await listen("one", tunnel.url)  # type: ignore[misc]
        tunnel.cut()
        await until(lambda: not signals.listening.is_set())
        tunnel.mend()

        await until(lambda: heard == ["", ""])


async def test_connections_on_which_nothing_passes_any_more_are_made_again(
    url: str, listen: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals_module, "TRY_EVERY", 0.1)
    for module in (node_module, signals_module):
        monkeypatch.setattr(module, "ANSWER_WITHIN", 2.0)
    async with Tunnel.to(url) as tunnel, Node.joined(tunnel.url, FACTS) as node:
        _, heard = await listen(node.id, tunnel.url)  # type: ignore[misc]
        tunnel.stall()
        await until(lambda: not node.is_fresh)

        await asyncio.wait_for(node.wait_fresh(), 30)
        assert not node.fenced.is_set()
        await until(lambda: heard == ["", ""])
        rows(url, """SELECT pg_notify('parley', '["other", "roles", "ann"]')""")
        await until(lambda: heard == ["", "", "ann"])
