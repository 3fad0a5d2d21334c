"""Nodes on machines whose clocks are five minutes apart, or days: all go by the clock of the database."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_core.models.scripted import Turn
from agent_core.tools.tool import Tool
from gateway.cluster.clock import SharedClock
from gateway.cluster.node import SURE_WITHIN, Node, NodeInfo
from gateway.permissions.approvals import LASTS as OPEN_FOR
from gateway.store.budget import ALL, Budget
from gateway.store.nodes import MOST_APART
from gateway.store.pairing import LASTS
from gateway.store.rule import Once
from gateway.texts.amounts import Allowance, Period, Unit
from tests.clock import OffsetClock
from tests.gateway.approving import CHART, id_of, questions, recorder
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.jobs.kit import a_job
from tests.postgres import UrlOf, rows
from tests.process import until

APART = 300.0
DAY = 86_400.0
HOLDER = "SELECT node FROM leases WHERE name = 'duties'"
SUMS = "SELECT tokens, begins, ends FROM spending_sums WHERE scope = %s"
AGES = "SELECT bool_and(clock_timestamp() - beat BETWEEN '0 s' AND '30 s') FROM nodes"
FACTS = NodeInfo(name="a", host="here", pid=1, version="0", started=1.0)


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    found = Nodes(tmp_path, url_of(tmp_path))
    async with found.life:
        yield found


async def started(nodes: Nodes, ahead: float, *turns: Turn, zone: str = "UTC", tools: Sequence[Tool] = ()) -> Bot:
    clock = OffsetClock(ahead)
    return await nodes.start(*turns, clock=clock, agrees_on_time=True, look_every=0.05, zone=zone, tools=tools)


async def remind(bot: Bot, text: str, at: float) -> None:
    """Let a node plan a reminder."""
    job = a_job(text, Once(at=at), name=text, created="2026-01-01 00:00")
    assert await bot.made.base.store.jobs.add(replace(job, next_at=at))


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

    before = time.time()
    code, _ = await ahead.made.base.store.pairing.current("123456")
    same, is_new = await behind.made.base.store.pairing.current("654321")

    assert (same, is_new) == (code, False)
    assert before - MOST_APART < code.expires - LASTS < time.time() + MOST_APART
    assert rows(nodes.url, AGES) == [(True,)]
    assert rows(nodes.url, "SELECT count(*) FROM nodes WHERE NOT fenced") == [(2,)]


def zone_at_noon() -> str:
    """Return a time zone in which the day is far from over."""
    return f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"


async def test_what_all_nodes_use_counts_in_one_day_and_a_budget_of_that_day_holds_on_each(nodes: Nodes) -> None:
    zone = zone_at_noon()
    ahead = await started(nodes, DAY, "For Ann.", zone=zone)
    behind = await started(nodes, -DAY, "For Bob.", "Never said.", zone=zone)
    await ahead.made.guards.budgets.set(Budget(ALL, Allowance(Period.DAY, Unit.TOKENS, 1_000_000)), "ann")
    await until(lambda: bool(behind.made.guards.budgets.of(ALL)))
    await ahead.channel.hears("hello")
    await behind.channel.hears("hello", sender="bob")
    await nodes.settled()

    [(used, begins, ends)] = rows(nodes.url, SUMS, ALL.scope)
    assert rows(nodes.url, "SELECT count(*), sum(tokens) FROM spending") == [(2, used)]
    assert begins < time.time() < ends
    await ahead.made.guards.budgets.set(Budget(ALL, Allowance(Period.DAY, Unit.TOKENS, int(used))), "ann")
    await until(lambda: behind.made.guards.budgets.of(ALL)[0].allowance.amount == used)
    await behind.channel.hears("and now?", sender="bob")

    await until(lambda: any("has no room for the next step" in text for text in nodes.sent()))
    assert "Never said." not in nodes.sent()


async def test_a_question_stays_open_as_long_as_it_says_also_on_a_node_that_is_days_ahead(nodes: Nodes) -> None:
    run, ran = recorder()
    behind = await started(nodes, -DAY, CHART, tools=(run,))
    ahead = await started(nodes, DAY, "Here is the chart.", tools=(run,))
    await behind.channel.hears("draw it")
    await until(lambda: bool(questions(behind)))

    [(expires,)] = rows(nodes.url, "SELECT expires_at FROM approvals")
    assert abs(expires - time.time() - OPEN_FOR) < 30
    await behind.stop()
    await until(lambda: nodes.owner(nodes.platform.chat()) == nodes.node_of(ahead))
    await ahead.channel.presses(f"/approve {id_of(questions(ahead)[0])}")
    await until(lambda: bool(nodes.platform.screen) and nodes.platform.screen[-1].endswith("Here is the chart."))

    assert ran == [["python3", "chart.py"]]


async def test_a_question_that_ran_out_did_so_also_on_a_node_that_is_days_behind(nodes: Nodes) -> None:
    run, ran = recorder()
    ahead = await started(nodes, DAY, CHART, tools=(run,))
    behind = await started(nodes, -DAY, "Nobody answered.", tools=(run,))
    await ahead.channel.hears("draw it")
    await until(lambda: bool(questions(ahead)))

    rows(nodes.url, "UPDATE approvals SET expires_at = EXTRACT(EPOCH FROM clock_timestamp())")
    await ahead.stop()
    await until(lambda: bool(nodes.platform.screen) and nodes.platform.screen[-1].endswith("Nobody answered."))

    assert len(behind.llm.requests) == 1
    assert ran == []


async def test_a_node_knows_the_time_although_the_database_took_long_to_let_it_join(
    tmp_path: Path, url_of: UrlOf
) -> None:
    url = url_of(tmp_path)
    slow = "BEGIN PERFORM pg_sleep(1.5); RETURN NEW; END"
    rows(url, f"CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS '{slow}'")
    rows(url, "CREATE TRIGGER slow BEFORE INSERT ON nodes FOR EACH ROW EXECUTE FUNCTION slow()")

    async with Node.joined(url, FACTS) as node:
        before, told, after = time.time(), node.database_time, time.time()

    assert before - SURE_WITHIN < told < after + SURE_WITHIN


async def test_a_clock_that_agrees_with_the_database_is_left_as_it_is(tmp_path: Path, url_of: UrlOf) -> None:
    own = OffsetClock(DAY)
    url = url_of(tmp_path)
    async with Node.joined(url, FACTS) as node:
        shared = SharedClock(own, node)

        assert abs(shared.time() - time.time()) < MOST_APART
        own.ahead = 1.0
        before = own.time()
        assert before <= shared.time() <= own.time()
        own.ahead = 60.0
        assert abs(shared.time() - time.time()) < MOST_APART
        assert abs(shared.monotonic() - own.monotonic()) < 1.0
