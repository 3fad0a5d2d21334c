"""Two nodes that hold a shard each, and have missed something there: neither moves the marks of the other's chats."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from channels.discord.adapter import DiscordChannel
from channels.discord.config import Config
from gateway.permissions.roles import People
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_state import Person
from tests.channels.discord.conftest import key_of
from tests.channels.discord.test_shards import connected, divide, on_each_shard
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.cluster.test_chats_of_nodes import said_to
from tests.postgres import UrlOf, rows
from tests.process import until

SHARES = "SELECT name, node FROM leases WHERE name LIKE 'receive discord %' ORDER BY name"
MARK = "SELECT at, (gap > 0)::int FROM read_marks WHERE chat = %s"
HEARD_AT = "SELECT json_extract(payload, '$.at')::float8 FROM inbox WHERE payload LIKE '%hello%'"
STORED = "SELECT count(*) FROM inbox WHERE payload LIKE '%%' || %s || '%%'"


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    found = Nodes(tmp_path, url_of(tmp_path))
    async with found.life:
        yield found


@pytest.fixture
async def discord() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as found:
        found.pace.on = False
        divide(found, 2)
        yield found
        assert found.violations == []


async def start(nodes: Nodes, discord: DiscordEmulator, ann: Person) -> Bot:
    channel = DiscordChannel(Config(bot_token=SecretStr(discord.token), base_url=discord.api_url))
    nodes.life.push_async_callback(channel.close)
    people = People(owners=frozenset({f"discord:{ann.id}"}), allow=frozenset())
    return await nodes.start(*["Yes."] * 9, beside=[channel], people=people)


async def lose(discord: DiscordEmulator, shard: int, team: Chat, ann: Person) -> None:
    """Let a shard lose its session, and a message come before it has a new one."""
    lost = next(each for each in discord.gateway.sessions.values() if each.shard == shard and each.socket)
    assert lost.socket is not None
    lost.resumable = False
    lost.socket.close(4000)
    await discord.wait_for(lambda: lost.socket is None)
    await team.says(ann, "@parley_bot missed")
    await connected(discord, 2)


def marks(nodes: Nodes, teams: list[Chat]) -> list[tuple[float, int]]:
    """Return the mark of each team, and 1 if it has a gap."""
    return [(at, gap) for team in teams for at, gap in rows(nodes.url, MARK, str(key_of(team)))]


async def until_gaps(nodes: Nodes, teams: list[Chat], gap: int) -> None:
    """Wait until all teams have a gap, or none of them."""
    await until(lambda: {each for _, each in marks(nodes, teams)} == {gap})


async def test_what_one_holder_hears_moves_no_mark_of_what_the_other_has_missed(
    nodes: Nodes, discord: DiscordEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("catch_up", "gap_reader"):
        monkeypatch.setattr(f"gateway.app.{module}.OVERLAP", 0.0)
    ann = discord.person("Ann")
    teams = on_each_shard(discord, 2, [ann])
    first, second = [await start(nodes, discord, ann) for _ in range(2)]
    await until(lambda: len({node for _, node in rows(nodes.url, SHARES)}) == 2)
    await connected(discord, 2)
    for team in teams:
        await team.says(ann, "@parley_bot hello")
        await team.until(lambda chat: chat.screen == ["Yes."])
    await until(lambda: {*marks(nodes, teams)} == {(at, 0) for (at,) in rows(nodes.url, HEARD_AT)})
    heard_at = [at for at, _ in marks(nodes, teams)]

    may_read = discord.faults.hold("GET messages", times=None)
    for shard, team in enumerate(teams):
        await lose(discord, shard, team, ann)
        await until_gaps(nodes, teams[: shard + 1], 1)
    for team in teams:
        await team.says(ann, "@parley_bot later")
    await until(lambda: rows(nodes.url, STORED, "later") == [(2,)])
    assert marks(nodes, teams) == [(at, 1) for at in heard_at]

    await first.stop()  # before it has read what was missed on its shard
    await until(lambda: {node for _, node in rows(nodes.url, SHARES)} == {nodes.node_of(second)})
    await connected(discord, 2)
    discord.faults.clear()
    may_read.set()
    await until_gaps(nodes, teams, 0)
    nodes.bots.remove(first)
    await nodes.settled()

    assert rows(nodes.url, STORED, "missed") == [(2,)]
    heard = [" ".join(said_to(second, number)) for number in range(len(second.llm.requests))]
    assert [each for each in heard if "later" in each and "missed" not in each.partition("later")[0]] == []
    assert all(len(team.screen) > 1 for team in teams)
