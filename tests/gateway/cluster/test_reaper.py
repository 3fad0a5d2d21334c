"""Nodes that are dead or frozen are fenced, and no others."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from gateway.cluster import reaper
from gateway.cluster.node import Node, NodeInfo, boot_time
from gateway.cluster.reaper import reap
from gateway.store.connection import Connection
from gateway.store.server import PostgresServer
from tests.gateway.cluster.stores import keep_open
from tests.postgres import rows
from tests.process import until


def facts(name: str) -> NodeInfo:
    return NodeInfo(name=name, host="here", pid=1, version="0", started=1.0)


@pytest.fixture
async def looking(url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Node]:
    """A node that is connected for long enough to judge others."""
    monkeypatch.setattr(reaper, "CONNECTED_FOR", 0.4)
    async with Node.joined(url, facts("looking")) as node:
        await until(lambda: node.connected_for >= reaper.CONNECTED_FOR)
        await node.wait_fresh()
        yield node


async def reaped(node: Node) -> list[str]:
    """Let a node look for dead ones while it is sure to live itself. Returns their ids."""
    await node.wait_fresh()
    return await reap(node)


def connected_at(node: Node) -> float:
    return boot_time() - node.connected_for


def silent(url: str, seconds: float) -> str:
    """Add a node whose process is gone, and that has not beaten for so long."""
    columns = "id, name, host, pid, version, started, beat"
    values = f"'gone', 'gone', 'there', 1, '0', 1, clock_timestamp() - interval '{seconds} s'"
    rows(url, f"INSERT INTO nodes ({columns}) VALUES ({values})")  # noqa: S608
    rows(url, "INSERT INTO chat_owners VALUES ('memory:here:ann', 'gone', 7, now())")
    rows(url, "INSERT INTO leases VALUES ('duties', 'gone', 3, now())")
    return "gone"


async def test_the_chats_and_leases_of_a_dead_node_are_free(url: str, looking: Node) -> None:
    gone = silent(url, 1.6)

    assert await reaped(looking) == [gone]

    assert rows(url, "SELECT node, number FROM chat_owners") == [(None, 7)]
    assert rows(url, "SELECT node FROM leases") == [(None,)]
    assert rows(url, "SELECT fenced FROM nodes WHERE id = 'gone'") == [(True,)]
    assert await reaped(looking) == []


async def test_many_chats_are_freed_in_small_transactions_which_any_node_goes_on_with(
    url: str, looking: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper, "MOST_FREED", 2)
    silent(url, 1.6)
    rows(url, "INSERT INTO chat_owners SELECT 'memory:here:' || i, 'gone', 1, now() FROM generate_series(1, 4) i")

    assert await reaped(looking) == ["gone"]

    assert rows(url, "SELECT count(*) FROM chat_owners WHERE node IS NULL") == [(5,)]
    assert rows(url, "SELECT count(DISTINCT xmin::text) FROM chat_owners") == [(3,)]
    rows(url, "UPDATE chat_owners SET node = 'gone'")  # as if the other node had died before it had freed them
    assert await reaped(looking) == []
    assert rows(url, "SELECT count(*) FROM chat_owners WHERE node IS NULL") == [(5,)]


async def test_a_node_that_has_just_missed_a_beat_is_left_alone(
    url: str, looking: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper, "DEAD_AFTER", 60.0)
    silent(url, 0.5)

    assert await reaped(looking) == []


async def test_a_node_whose_connection_stands_is_dead_only_after_half_a_minute(url: str, looking: Node) -> None:
    async with Node.joined(url, facts("slow")) as slow:
        rows(url, "UPDATE nodes SET beat = clock_timestamp() - interval '10 s' WHERE name = 'slow'")
        assert await reaped(looking) == []
        found: list[str] = []
        while not found:  # it may beat in between
            rows(url, "UPDATE nodes SET beat = clock_timestamp() - interval '31 s' WHERE name = 'slow'")
            found = await reaped(looking)

        assert found == [slow.id]
        await asyncio.wait_for(slow.fenced.wait(), 30)


async def test_a_node_that_has_just_connected_judges_nobody(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    silent(url, 60)
    monkeypatch.setattr(reaper, "CONNECTED_FOR", 600.0)
    async with Node.joined(url, facts("new")) as new:
        assert await reaped(new) == []

        monkeypatch.setattr(reaper, "CONNECTED_FOR", 0.4)
        await until(lambda: new.connected_for >= reaper.CONNECTED_FOR)
        assert await reaped(new) == ["gone"]


async def test_a_restart_of_the_database_costs_no_node_its_life(url: str, looking: Node) -> None:
    async with Node.joined(url, facts("other")) as other:
        before = {node: connected_at(node) for node in (looking, other)}
        rows(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'")
        await until(lambda: all(connected_at(node) > at + 0.1 for node, at in before.items()))

        await until(lambda: all(node.connected_for >= reaper.CONNECTED_FOR for node in before))

        assert await reaped(looking) == []
        assert await reaped(other) == []


async def test_a_node_is_not_fenced_in_the_middle_of_its_transaction(url: str, looking: Node) -> None:
    gone, begun, looked = silent(url, 60), threading.Event(), threading.Event()

    def change(connection: Connection) -> None:
        connection.execute("SELECT 1 FROM nodes WHERE id = ? FOR KEY SHARE", (gone,))
        begun.set()
        keep_open(connection, looked)

    async with PostgresServer(url).opened() as (writer, _):
        writing = writer.submit(change)
        await until(begun.is_set)
        assert await reaped(looking) == []
        looked.set()
        await writing
        await writer.close()

    assert await reaped(looking) == [gone]
