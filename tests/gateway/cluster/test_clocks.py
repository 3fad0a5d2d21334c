"""Nodes on machines whose clocks are five minutes apart: all go by the clock of the database."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.cluster.clock import SharedClock
from gateway.cluster.node import Facts, Node
from gateway.store.nodes import MOST_APART
from gateway.store.on_server import Server
from gateway.store.pairing import LASTS
from gateway.store.rule import Once
from tests.clock import FakeClock, OffsetClock
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.jobs.kit import a_job
from tests.postgres import UrlOf, rows
from tests.process import until

APART = 300.0
HOLDER = "SELECT node FROM leases WHERE name = 'duties'"
AGES = "SELECT bool_and(clock_timestamp() - beat BETWEEN '0 s' AND '30 s') FROM nodes"
FACTS = Facts(name="a", host="here", pid=1, version="0", started=1.0)


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    found = Nodes(tmp_path, url_of(tmp_path))
    async with found.life:
        yield found


async def started(nodes: Nodes, ahead: float) -> Bot:
    return await nodes.start(clock=OffsetClock(ahead), agrees_on_time=True, look_every=0.05)


async def remind(bot: Bot, text: str, at: float) -> None:
    """Let a node plan a reminder."""
    job = a_job(text, Once(at=at), name=text, created="2026-01-01 00:00")
    assert await bot.made.store.jobs.add(replace(job, next_at=at))


async def test_what_is_due_comes_at_its_time_and_once_whichever_node_does_the_duties(nodes: Nodes) -> None:
    ahead = await started(nodes, APART)
    await until(lambda: rows(nodes.url, HOLDER) != [])
    behind = await started(nodes, -APART)
    [(holder,)] = rows(nodes.url, HOLDER)

    due = time.time() + 0.5
    await remind(behind, "tea", due)
    await until(lambda: nodes.platform.screen == ["⏰ tea"])
    assert time.time() >= due
    await ahead.stop()
    await until(lambda: rows(nodes.url, HOLDER) not in ([], [(None,)], [(holder,)]))
    await remind(behind, "cake", time.time())
    await until(lambda: len(nodes.platform.screen) == 2)

    assert nodes.sent() == ["⏰ tea", "⏰ cake"]
    assert rows(nodes.url, "SELECT count(*) FROM firings") == [(2,)]


async def test_no_node_is_taken_for_dead_and_what_one_lets_expire_is_so_for_the_other(nodes: Nodes) -> None:
    ahead, behind = await started(nodes, APART), await started(nodes, -APART)

    code, _ = await ahead.made.store.pairing.current("123456")
    same, is_new = await behind.made.store.pairing.current("654321")

    assert (same, is_new) == (code, False)
    assert abs(code.expires - time.time() - LASTS) < MOST_APART
    assert rows(nodes.url, AGES) == [(True,)]
    assert rows(nodes.url, "SELECT count(*) FROM nodes WHERE NOT fenced") == [(2,)]


async def test_a_clock_that_agrees_with_the_database_is_left_as_it_is(tmp_path: Path, url_of: UrlOf) -> None:
    own = FakeClock()
    url = url_of(tmp_path)
    await Server(url).migrate()
    async with Node.joined(url, FACTS) as node:
        shared = SharedClock(own, node)

        assert abs(shared.time() - time.time()) < MOST_APART
        own.now = time.time() + 1.0
        assert shared.time() == own.now
        own.now += 60.0
        assert abs(shared.time() - time.time()) < MOST_APART
        assert shared.monotonic() == own.now
