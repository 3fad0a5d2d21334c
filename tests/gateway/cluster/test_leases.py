"""Work that one node at a time may do: who does it, and how it passes to another one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gateway.cluster.database_leases import DatabaseLeases
from gateway.cluster.leases import LocalLeases
from gateway.cluster.node import Node, NodeInfo
from gateway.cluster.signals import NodeSignals
from gateway.store.leases import LeaseRows
from gateway.store.signals import StoreNode
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.cluster.stores import opened_node
from tests.postgres import rows
from tests.process import until
from tests.tunnel import Tunnel

LEASE = "receive telegram"


@dataclass
class Doing:
    """The work of a lease, which any node can do, and at most one should."""

    now: list[str] = field(default_factory=list)
    ever: list[str] = field(default_factory=list)
    most: int = 0

    async def by(self, name: str) -> None:
        self.now.append(name)
        self.ever.append(name)
        self.most = max(self.most, len(self.now))
        try:
            await asyncio.Event().wait()
        finally:
            self.now.remove(name)


@dataclass
class One:
    """A node that wants the lease."""

    node: Node
    leases: DatabaseLeases
    task: "asyncio.Task[None]"


@asynccontextmanager
async def wanting(name: str, doing: Doing, home: Path, url: str, *, takes_chats: bool = True) -> AsyncIterator[One]:
    facts = NodeInfo(name=name, host="here", pid=1, version="0", started=1.0, takes_chats=takes_chats)
    async with AsyncExitStack() as life:
        node = await life.enter_async_context(Node.joined(url, facts))
        store = await life.enter_async_context(Store.open(home, FakeClock(), numbered(), url=url, node=StoreNode(node)))
        signals = await life.enter_async_context(NodeSignals.opened(url, node.id))
        leases = DatabaseLeases(store.leases, node, signals, is_standby=not takes_chats)
        task = asyncio.create_task(leases.while_held(LEASE, lambda: doing.by(name)))
        try:
            yield One(node, leases, task)
        finally:
            task.cancel()
            await asyncio.wait([task])


@pytest.fixture
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no node stop its work for a moment because a busy machine stands still."""
    monkeypatch.setattr("gateway.cluster.node.FRESH_FOR", 60.0)


@pytest.mark.usefixtures("always_fresh")
async def test_one_node_does_the_work_and_another_one_once_it_is_given_up(tmp_path: Path, url: str) -> None:
    doing = Doing()
    async with wanting("a", doing, tmp_path, url) as a:
        await until(lambda: doing.now == ["a"])
        async with wanting("b", doing, tmp_path, url) as b:
            assert a.leases.holds(LEASE)
            assert not b.leases.holds(LEASE)

            await a.leases.release_all()

            assert doing.now != ["a"]
            await until(lambda: doing.now == ["b"])
            assert doing.ever == ["a", "b"]
            assert doing.most == 1
            assert rows(url, "SELECT number FROM leases") == [(2,)]


@pytest.mark.usefixtures("always_fresh")
async def test_the_work_of_a_node_that_was_fenced_passes_to_another_one(tmp_path: Path, url: str) -> None:
    doing = Doing()
    async with wanting("a", doing, tmp_path, url):
        await until(lambda: doing.now == ["a"])
        async with wanting("b", doing, tmp_path, url):
            rows(url, "UPDATE nodes SET fenced = TRUE WHERE name = 'a'")

            await until(lambda: doing.now == ["b"])
            assert doing.ever == ["a", "b"]


async def test_work_stops_while_its_node_is_cut_off_from_the_database_and_goes_on_afterwards(
    tmp_path: Path, url: str
) -> None:
    doing = Doing()
    async with Tunnel.to(url) as tunnel, wanting("a", doing, tmp_path, tunnel.url):
        await until(lambda: doing.now == ["a"])

        tunnel.cut()
        await until(lambda: doing.now == [])
        tunnel.mend()

        await until(lambda: doing.now == ["a"])
        assert doing.ever == ["a", "a"]


async def test_work_that_ends_gives_its_lease_back(tmp_path: Path, url: str) -> None:
    doing = Doing()

    async def done() -> None:
        doing.ever.append("done")

    async with wanting("a", doing, tmp_path, url) as a:
        await a.leases.while_held("duties", done)

    assert "done" in doing.ever
    assert rows(url, "SELECT node FROM leases WHERE name = 'duties'") == [(None,)]


async def test_work_that_fails_gives_its_lease_back_and_tells(tmp_path: Path, url: str) -> None:
    async def fails() -> None:
        raise ValueError("a fault")

    async with wanting("a", Doing(), tmp_path, url) as a:
        with pytest.raises(ValueError, match="a fault"):
            await a.leases.while_held("duties", fails)

    assert rows(url, "SELECT node FROM leases WHERE name = 'duties'") == [(None,)]


async def test_a_node_with_nothing_but_a_terminal_leaves_its_work_to_any_other_one(tmp_path: Path, url: str) -> None:
    doing = Doing()
    async with wanting("terminal", doing, tmp_path, url, takes_chats=False):
        await until(lambda: doing.now == ["terminal"])

        async with wanting("a", doing, tmp_path, url):
            await until(lambda: doing.now == ["a"])
            assert doing.most == 1
        await until(lambda: doing.now == ["terminal"])


async def test_a_node_with_nothing_but_a_terminal_stops_when_it_is_cut_off_and_leaves_its_work_to_one_that_has_come(
    tmp_path: Path, url: str
) -> None:
    doing = Doing()
    async with (
        Tunnel.to(url) as tunnel,
        wanting("terminal", doing, tmp_path, tunnel.url, takes_chats=False) as terminal,
    ):
        await until(lambda: doing.now == ["terminal"])

        tunnel.cut()
        await until(lambda: not terminal.node.is_fresh)
        await until(lambda: doing.now == [])
        async with wanting("a", doing, tmp_path, url):
            tunnel.mend()

            await until(lambda: doing.now == ["a"])


async def test_a_lease_that_could_not_be_released_is_released_once_the_database_is_back(
    tmp_path: Path, url: str
) -> None:
    doing = Doing()
    async with Tunnel.to(url) as tunnel, wanting("a", doing, tmp_path, tunnel.url) as a:
        await until(lambda: doing.now == ["a"])
        async with wanting("b", doing, tmp_path, url):
            tunnel.cut()
            await until(lambda: doing.now == [])
            a.leases.avoid({LEASE})
            tunnel.mend()

            await until(lambda: doing.now == ["b"])


class SlowRows(LeaseRows):
    """Leases of which one is looked at slowly."""

    slow = "another"
    looked = False

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.goes_on = asyncio.Event()

    async def take(self, name: str, node: str) -> bool:
        taken = await super().take(name, node)
        if name == self.slow and not taken:
            self.looked = True
            await self.goes_on.wait()
        return taken


async def test_the_news_of_a_release_reach_each_of_those_who_wait(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    doing = Doing()
    monkeypatch.setattr("gateway.cluster.database_leases.LOOK_EVERY", 60.0)
    async with wanting("a", doing, tmp_path, url) as a, opened_node(tmp_path, url) as other:
        another = asyncio.create_task(a.leases.while_held(SlowRows.slow, lambda: doing.by("a")))
        await until(lambda: doing.now == ["a", "a"])
        slow = other.store.table(SlowRows)
        leases = DatabaseLeases(slow, other.node, other.signals)
        waiting = [
            asyncio.create_task(leases.while_held(name, lambda: doing.by("b"))) for name in (LEASE, SlowRows.slow)
        ]
        await until(lambda: slow.looked)

        another.cancel()
        a.task.cancel()
        await until(lambda: doing.now == ["b"])
        slow.goes_on.set()

        await until(lambda: doing.now == ["b", "b"])
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)


async def test_a_lease_is_kept_by_a_node_that_lives_once_it_has_begun(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    doing, locks = Doing(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
    async with (
        Tunnel.to(url) as tunnel,
        wanting("a", doing, tmp_path, tunnel.url),
        opened_node(tmp_path, url) as other,
    ):
        leases = DatabaseLeases(other.store.leases, other.node, other.signals)
        await until(lambda: doing.now == ["a"])
        monkeypatch.setattr("gateway.cluster.database_leases.BEGUN_WITHIN", 600.0)
        assert not await leases.has_holder(LEASE)
        monkeypatch.setattr("gateway.cluster.database_leases.BEGUN_WITHIN", 0.0)
        async with asyncio.timeout(30):
            while not await leases.has_holder(LEASE):  # noqa: ASYNC110 - it counts only while it has just beaten
                await asyncio.sleep(0.01)
        assert not await leases.has_holder("another")

        tunnel.cut()
        await until(lambda: rows(url, locks) == [(1,)])

        assert not await leases.has_holder(LEASE)


async def test_a_process_that_is_alone_holds_every_lease() -> None:
    doing, alone = Doing(), LocalLeases()
    working = asyncio.create_task(alone.while_held(LEASE, lambda: doing.by("it")))
    await until(lambda: doing.now)

    assert await alone.has_holder(LEASE)
    await alone.release_all()

    assert alone.holds(LEASE)
    assert doing.now == ["it"]
    working.cancel()
