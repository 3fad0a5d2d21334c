"""The shards of a bot, which nodes share: how they are spread, and how each passes on without a moment unheard."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from channels.sharing import Ready, Sharing, Unshared
from gateway.cluster.database_leases import DatabaseLeases
from gateway.cluster.node import Node, NodeInfo
from gateway.cluster.shared_leases import READY
from gateway.cluster.signals import NodeSignals
from gateway.store.leases import SHARE, LeaseRows, Sharers
from gateway.store.signals import StoreNode
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.postgres import rows
from tests.process import until
from tests.tunnel import Tunnel

GROUP = "receive discord"


class TooFew(Exception):
    """The bot needs more shards."""


@dataclass
class Bot:
    """Who receives which shard, and how often each was without anybody."""

    shards: int = 4
    can_connect: asyncio.Event = field(default_factory=asyncio.Event)
    receivers: dict[int, list[str]] = field(default_factory=dict)
    unheard: int = 0
    full: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the bot needs more shards, as it then tells the node b."""

    def of(self, name: str) -> list[int]:
        """Return the shards that a node receives alone."""
        return sorted(shard for shard, names in self.receivers.items() if names == [name])

    async def receive(self, name: str, shard: int, ready: Ready) -> None:
        await self.can_connect.wait()
        names = self.receivers.setdefault(shard, [])
        names.append(name)
        ready()
        try:
            if name == "b":
                await self.full.wait()
                self.full.clear()
                raise TooFew
            await asyncio.Event().wait()
        finally:
            names.remove(name)
            self.unheard += not names


@dataclass
class One:
    """A node that shares the shards."""

    rows: LeaseRows
    leases: DatabaseLeases
    signals: NodeSignals
    counts: list[int] = field(default_factory=list)
    """The numbers of shards that it has used."""
    life: list[str] = field(default_factory=list)

    def sharing(self, group: str) -> Sharing:
        note = self.life.append
        return self.leases.shared(group, on_start=lambda: note("begins"), on_stop=lambda: note("ends"))

    async def run(self, name: str, bot: Bot) -> None:
        sharing = self.sharing(GROUP)
        refused = 0
        while True:
            self.counts.append(await sharing.agreed(bot.shards, refused))
            try:
                await sharing.each(self.counts[-1], partial(bot.receive, name))
            except TooFew:
                refused = self.counts[-1]


@pytest.fixture
def bot() -> Bot:
    made = Bot()
    made.can_connect.set()
    return made


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let old holders wait for the next one as long as it takes."""
    monkeypatch.setattr("gateway.cluster.shared_leases.LINGER", 1_000.0)


@asynccontextmanager
async def sharing(name: str, bot: Bot, home: Path, url: str) -> AsyncIterator[One]:
    facts = NodeInfo(name=name, host="here", pid=1, version="0", started=1.0)
    async with AsyncExitStack() as life:
        node = await life.enter_async_context(Node.joined(url, facts))
        store = await life.enter_async_context(Store.open(home, FakeClock(), numbered(), url=url, node=StoreNode(node)))
        signals = await life.enter_async_context(NodeSignals.opened(url, node.id))
        one = One(store.leases, DatabaseLeases(store.leases, node, signals), signals)
        await asyncio.wait_for(signals.listening.wait(), 30)
        task = asyncio.create_task(one.run(name, bot))
        try:
            yield one
        finally:
            task.cancel()
            await asyncio.wait([task])


async def test_one_node_receives_all_and_two_receive_half_each_without_a_moment_unheard(
    tmp_path: Path, url: str, bot: Bot
) -> None:
    async with sharing("a", bot, tmp_path, url) as a:
        await until(lambda: bot.of("a") == [0, 1, 2, 3])
        async with sharing("b", bot, tmp_path, url) as b:
            await until(lambda: len(bot.of("a")) == len(bot.of("b")) == 2)
            assert (a.leases.holds(GROUP), b.leases.holds(GROUP)) == (True, True)
            assert bot.unheard == 0

            await a.leases.release_all()
            assert not a.leases.holds(GROUP)
            await a.leases.wait_handed_over()

            assert bot.of("b") == [0, 1, 2, 3]
            assert bot.unheard == 0
            assert a.life == ["ends", "begins", "ends"]


async def test_the_shards_of_a_node_that_was_fenced_go_to_the_others(tmp_path: Path, url: str, bot: Bot) -> None:
    bot.shards = 1
    async with sharing("a", bot, tmp_path, url):
        await until(lambda: bot.of("a") == [0])
        async with sharing("b", bot, tmp_path, url):
            rows(url, "UPDATE nodes SET fenced = TRUE WHERE name = 'a'")

            await until(lambda: "b" in bot.receivers[0])
            holder = "SELECT leases.name, nodes.name FROM leases JOIN nodes ON nodes.id = node WHERE NOT fenced"
            assert (GROUP, "b") in rows(url, holder)


async def test_a_shard_that_was_just_freed_is_left_to_a_node_with_fewer_and_taken_if_that_does_not(
    tmp_path: Path, url: str, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cluster.shared_leases.FREE_FOR", 1_000.0)
    looks, sharers = list[str](), LeaseRows.sharers

    async def counted(table: LeaseRows, group: str) -> Sharers:
        looks.append(group)
        return await sharers(table, group)

    freed = (
        f"INSERT INTO leases SELECT '{GROUP} ' || n || '/4', NULL, 1, clock_timestamp() FROM generate_series(0, 3) n"  # noqa: S608
    )
    rows(url, freed)
    async with Node.joined(url, NodeInfo(name="slow", host="here", pid=1, version="0", started=1.0)) as slow:
        rows(url, "INSERT INTO leases VALUES (%s, %s, 1, now())", f"{SHARE}{GROUP}/4 {slow.id}", slow.id)
        monkeypatch.setattr(LeaseRows, "sharers", counted)
        async with sharing("a", bot, tmp_path, url):
            await until(lambda: len(bot.of("a")) == 1)
            before = len(looks)
            await until(lambda: len(looks) > before + 2)
            assert len(bot.of("a")) == 1

            rows(url, "UPDATE leases SET since = since - interval '1001 seconds' WHERE node IS NULL")
            await until(lambda: bot.of("a") == [0, 1, 2, 3])


async def test_a_node_that_is_alone_ends_at_once(tmp_path: Path, url: str, bot: Bot) -> None:
    async with sharing("a", bot, tmp_path, url) as a:
        await until(lambda: bot.of("a") == [0, 1, 2, 3])

        await a.leases.release_all()

        await asyncio.wait_for(a.leases.wait_handed_over(), 30)
        assert bot.of("a") == []


async def test_a_node_that_is_cut_off_from_the_database_goes_on(tmp_path: Path, url: str, bot: Bot) -> None:
    async with Tunnel.to(url) as tunnel, sharing("a", bot, tmp_path, tunnel.url) as a:
        await until(lambda: bot.of("a") == [0, 1, 2, 3])

        tunnel.cut()
        await until(lambda: not a.leases.is_fresh)
        tunnel.mend()
        await until(lambda: a.leases.is_fresh)

        assert bot.of("a") == [0, 1, 2, 3]
        assert bot.unheard == 0


async def test_a_node_goes_on_until_the_next_one_is_connected(tmp_path: Path, url: str, bot: Bot) -> None:
    bot.shards = 1
    async with sharing("a", bot, tmp_path, url) as a, sharing("b", bot, tmp_path, url) as b:
        await until(lambda: len(bot.receivers.get(0, [])) == 1)
        await until(lambda: rows(url, "SELECT count(*) FROM leases WHERE name LIKE 'share %'") == [(2,)])
        one, other, name = (a, b, "b") if bot.of("a") else (b, a, "a")
        bot.can_connect.clear()

        await one.leases.release_all()
        await until(lambda: other.leases.holds(GROUP))
        assert bot.of(name) == []
        assert bot.unheard == 0
        bot.can_connect.set()
        await one.leases.wait_handed_over()

        assert bot.of(name) == [0]
        assert bot.unheard == 0


async def test_a_node_waits_for_one_that_has_joined_after_its_last_look(
    tmp_path: Path, url: str, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot.shards, is_looking, may_go_on, sharers = 1, asyncio.Event(), asyncio.Event(), LeaseRows.sharers
    async with sharing("a", bot, tmp_path, url) as a:
        await until(lambda: bot.of("a") == [0])

        async def held_up(table: LeaseRows, group: str) -> Sharers:
            seen = await sharers(table, group)
            if table is a.rows and not is_looking.is_set():
                is_looking.set()
                await may_go_on.wait()
            return seen

        monkeypatch.setattr(LeaseRows, "sharers", held_up)
        await is_looking.wait()
        async with sharing("b", bot, tmp_path, url) as b:
            await until(lambda: rows(url, "SELECT count(*) FROM leases WHERE name LIKE 'share %'") == [(2,)])
            bot.can_connect.clear()

            releasing = asyncio.create_task(a.leases.release_all())
            may_go_on.set()
            await releasing
            await until(lambda: b.leases.holds(GROUP))
            bot.can_connect.set()
            await a.leases.wait_handed_over()

            assert bot.of("b") == [0]
            assert bot.unheard == 0


async def test_a_node_that_takes_a_shard_back_which_it_still_receives_is_not_waited_for(
    tmp_path: Path, url: str, bot: Bot
) -> None:
    async with sharing("a", bot, tmp_path, url):
        await until(lambda: bot.of("a") == [0, 1, 2, 3])
        bot.can_connect.clear()
        async with sharing("b", bot, tmp_path, url) as b:
            await until(lambda: b.leases.holds(GROUP))

            await b.leases.release_all()
            await asyncio.wait_for(b.leases.wait_handed_over(), 30)

        assert bot.of("a") == [0, 1, 2, 3]
        assert bot.unheard == 0


async def test_a_node_that_was_connected_before_it_has_passed_a_shard_on_is_not_taken_for_the_next_one(
    tmp_path: Path, url: str, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cluster.shared_leases.GRACE", 0.0)
    bot.shards, heard = 1, asyncio.Event()
    async with sharing("a", bot, tmp_path, url) as a:
        await until(lambda: bot.of("a") == [0])

        async def note(key: str) -> None:
            if key:
                heard.set()

        a.signals.subscribe(READY, note)
        rows(url, f"""SELECT pg_notify('parley', '["c", "{READY}", "{GROUP}"]')""")  # has passed the shard to a
        await heard.wait()
        bot.can_connect.clear()
        async with sharing("b", bot, tmp_path, url) as b:
            await until(lambda: rows(url, "SELECT count(*) FROM leases WHERE name LIKE 'share %'") == [(2,)])

            await a.leases.release_all()
            await until(lambda: b.leases.holds(GROUP))
            bot.can_connect.set()
            await a.leases.wait_handed_over()

            assert bot.of("b") == [0]
            assert bot.unheard == 0


async def test_all_use_the_number_of_shards_of_the_others_until_one_is_told_that_it_is_too_low(
    tmp_path: Path, url: str, bot: Bot
) -> None:
    async with sharing("a", bot, tmp_path, url) as a:
        await until(lambda: bot.of("a") == [0, 1, 2, 3])
        bot.shards = 5
        async with sharing("b", bot, tmp_path, url) as b:
            await until(lambda: len(bot.of("b")) == 2)

            bot.full.set()

            await until(lambda: (a.counts, b.counts) == ([4, 5], [4, 5]))
            await until(lambda: len(bot.of("a")) + len(bot.of("b")) == 5)


async def test_a_node_that_was_cut_off_when_the_number_of_shards_changed_tells_the_new_one(
    tmp_path: Path, url: str, bot: Bot
) -> None:
    async with Tunnel.to(url) as tunnel, sharing("b", bot, tmp_path, tunnel.url) as b:
        await until(lambda: bot.of("b") == [0, 1, 2, 3])
        tunnel.cut()
        await until(lambda: not b.leases.is_fresh)
        bot.shards = 5
        bot.full.set()
        await until(lambda: bot.of("b") == [])
        tunnel.mend()

        await until(lambda: bot.of("b") == [0, 1, 2, 3, 4])
        assert rows(url, "SELECT substr(name, 1, 24) FROM leases WHERE name LIKE 'share %'") == [(f"share {GROUP}/5 ",)]


async def test_a_node_gives_up_what_it_could_not_release_when_it_ended_without_the_database(
    tmp_path: Path, url: str, bot: Bot
) -> None:
    async with Tunnel.to(url) as tunnel, sharing("b", bot, tmp_path, tunnel.url) as b:
        await until(lambda: bot.of("b") == [0, 1, 2, 3])
        tunnel.cut()
        await until(lambda: not b.leases.is_fresh)
        bot.full.set()
        await until(lambda: bot.of("b") == [])
        b.leases.avoid({GROUP})
        async with sharing("c", bot, tmp_path, url):
            tunnel.mend()

            await until(lambda: bot.of("c") == [0, 1, 2, 3])


async def test_all_nodes_together_have_turns_no_faster_than_allowed(tmp_path: Path, url: str, bot: Bot) -> None:
    now = asyncio.get_running_loop().time
    async with sharing("a", bot, tmp_path, url) as a, sharing("b", bot, tmp_path, url) as b:
        one, two = a.sharing("x"), b.sharing("x")
        began = now()
        await asyncio.gather(one.turn(0.3), two.turn(0.3), one.turn(0.3))
        assert now() - began > 0.55

        alone = Unshared()
        began = now()
        await asyncio.gather(*(alone.turn(0.1) for _ in range(3)))
        assert now() - began > 0.19
