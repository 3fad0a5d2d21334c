"""Work that is due at a start or in the night is done by one node, also after another one has failed at it."""

import asyncio
import json
import sqlite3
from zoneinfo import ZoneInfo

import pytest

from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.tools.memory import Memory
from agent_core.workspace.keeper import Author
from gateway.cluster import node
from gateway.permissions.workspaces import Versions, folder_name
from gateway.store.erasures import Erasures
from gateway.store.retention import RUNS, Retention
from gateway.upkeep import upkeep
from gateway.upkeep.forgetting import FILE
from tests.clock import OffsetClock
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.test_retention import DAY, report
from tests.postgres import rows
from tests.process import until

MORE = 2 * RUNS
COPY = (
    "INSERT INTO runs (run, chat, session, person, state, started, ended)"
    " SELECT run || n, chat, session, person, state, started, ended FROM runs, generate_series(1, %s) AS n"
)


@pytest.mark.parametrize("fails", [False, True])
async def test_nodes_that_start_together_carry_out_an_erasure_once(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    first = await nodes.start("Noted.")
    await first.channel.hears("the secret is 42", sender="bob")
    await nodes.settled()
    await first.stop()
    nodes.bots.clear()
    (nodes.home / FILE).write_text(f"{json.dumps({'who': 'memory:bob', 'at': 1.0, 'by': 'memory:ann'})}\n")
    scrubbed: list[bool] = []
    scrub = Erasures.scrub

    async def noted(erasures: Erasures) -> None:
        scrubbed.append(True)
        if fails and len(scrubbed) == 1:
            raise sqlite3.OperationalError("the disk is full")
        await scrub(erasures)

    monkeypatch.setattr(Erasures, "scrub", noted)
    await asyncio.gather(*(nodes.start() for _ in range(3)))

    assert len(scrubbed) == 1 + fails
    assert rows(nodes.url, "SELECT who FROM erasures") == [("memory:bob",)]
    assert rows(nodes.url, "SELECT count(*) FROM transcript") == [(0,)]


async def with_ended_conversations(nodes: Nodes, clock: OffsetClock) -> Bot:
    """Start a node with one long result in a conversation that is over, and `MORE` other runs."""
    asks = calls(("report", {"about": "x" * 700}))
    bot = await nodes.start(asks, "Done.", tools=(report,), clock=clock, nightly=True)
    await bot.channel.hears("report")
    await nodes.settled()
    await bot.channel.hears("/new")
    await nodes.settled()
    rows(nodes.url, COPY, MORE)
    return bot


def looks_of(monkeypatch: pytest.MonkeyPatch) -> list[upkeep.Upkeep]:
    """Return a list that gets each upkeep when it has done what was due: after a start, the work of last night."""
    looks, look = list[upkeep.Upkeep](), upkeep.Upkeep.look
    monkeypatch.setattr(upkeep, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(node, "FRESH_FOR", 60.0)  # a busy machine that stands still passes no duties on

    async def noted(work: upkeep.Upkeep) -> None:
        await look(work)
        looks.append(work)

    monkeypatch.setattr(upkeep.Upkeep, "look", noted)
    return looks


async def test_a_night_whose_node_dies_in_the_middle_is_ended_by_another_one(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = looks_of(monkeypatch)
    clock, shortened, pruned = OffsetClock(), list[tuple[Retention, int]](), list[Versions]()
    is_dying, shorten, prune = asyncio.Event(), Retention.shorten, Versions.prune
    one = await with_ended_conversations(nodes, clock)
    other = await nodes.start(clock=clock, nightly=True)
    await until(lambda: bool(looks))

    async def noted(retention: Retention, before: float) -> int:
        if retention is one.made.base.store.retention and shortened:
            is_dying.set()
            await asyncio.Event().wait()
        done = await shorten(retention, before)
        shortened.extend([(retention, done)] * bool(done))
        return done

    def noted_too(versions: Versions) -> None:
        prune(versions)
        pruned.append(versions)

    monkeypatch.setattr(Retention, "shorten", noted)
    monkeypatch.setattr(Versions, "prune", noted_too)
    clock.ahead += 31 * DAY
    await asyncio.wait_for(is_dying.wait(), 30)
    rows(nodes.url, f"UPDATE nodes SET fenced = TRUE WHERE id = '{nodes.node_of(one)}'")  # noqa: S608

    await until(lambda: bool(pruned))
    assert pruned == [other.made.files.versions]
    assert [done for by, done in shortened if by is one.made.base.store.retention] == [RUNS]
    assert sum(done for _, done in shortened) == MORE + 1
    assert rows(nodes.url, "SELECT count(*) FROM runs WHERE shortened = 1") == [(MORE + 1,)]
    assert rows(nodes.url, "SELECT count(*) FROM transcript WHERE message LIKE '%… [shortened: %'") == [(1,)]


async def test_former_versions_of_memories_are_deleted_once_by_the_node_with_the_duties(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, prune = looks_of(monkeypatch), Versions.prune
    clock, pruned = OffsetClock(), list[Versions]()
    one = await nodes.start(clock=clock, nightly=True)
    await until(lambda: bool(looks))
    other = await nodes.start(clock=clock, nightly=True)
    for sender in ("ann", "bob"):
        chat = other.channel.chat(sender)
        folder = other.home / "memory" / folder_name(chat)
        changing = other.made.files.versions.changing(chat, folder, Author("memory", "call", sender))
        memory = Memory(folder, other.clock, ZoneInfo("Europe/Paris"), changing)
        await memory.remember("likes tea", sender, CLEAN)
        await memory.forget(1)
    kept = list(nodes.home.glob("versions/*/groups/*.json"))
    assert len(kept) == 4

    def noted(versions: Versions) -> None:
        prune(versions)
        pruned.append(versions)

    monkeypatch.setattr(Versions, "prune", noted)
    clock.ahead += 31 * DAY
    await until(lambda: bool(pruned))
    del looks[:]
    await until(lambda: len(looks) > 3)

    assert pruned == [one.made.files.versions]
    assert set(looks) == {one.made.serving.upkeep}
    assert not any(file.exists() for file in kept)
    assert rows(nodes.url, "SELECT count(*) FROM leases WHERE name = 'duties' AND node IS NOT NULL") == [(1,)]


async def test_old_copies_are_deleted_while_a_node_that_has_lost_its_lease_still_deletes_them(nodes: Nodes) -> None:
    clock = OffsetClock()
    both = [await nodes.start(clock=clock, nightly=True) for _ in range(2)]
    folder = nodes.home / "outgoing"
    for number in range(300):
        (folder / f"{number}").mkdir(parents=True)
        (folder / f"{number}" / "chart.png").write_text("a chart")

    clock.ahead += 31 * DAY
    await asyncio.gather(*(bot.made.serving.upkeep.look() for bot in both))

    assert list(folder.iterdir()) == []
