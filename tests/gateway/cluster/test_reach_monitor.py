"""Nodes on real channels, whose ways to the platform can be cut one by one: who does the work there then."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from agent_core.models.scripted import Turn, Waits, calls
from agent_core.tools.tool import tool
from channels import reach
from channels.base import Channel, ChatKey
from channels.capabilities import KnowsReach
from channels.discord.adapter import DiscordChannel
from channels.discord.config import Config as DiscordConfig
from channels.slack.adapter import SlackChannel
from channels.slack.config import Config as SlackConfig
from channels.telegram.adapter import TelegramChannel
from channels.telegram.config import Config as TelegramConfig
from gateway.cluster import node, reach_monitor
from gateway.permissions.roles import People
from gateway.records.metric import Metric
from gateway.store.nodes import NodeStatus
from tests.end_to_end.platforms.discord import Discord
from tests.end_to_end.platforms.emulated import Emulated
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.platforms.slack import Slack
from tests.end_to_end.platforms.telegram import Telegram
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.postgres import UrlOf, rows
from tests.process import lasting_port, until
from tests.tunnel import Tunnel

LOOK = calls(("look", {}))
WORK = "SELECT name, number, node FROM leases WHERE name NOT LIKE 'share %' AND name NOT LIKE 'start %' ORDER BY name"
"""The leases of work, without what nodes note about sharing it."""
BEATS = "SELECT id, extract(epoch FROM beat)::float8 FROM nodes"


async def more_beats(away: "Away") -> None:
    """Wait until each node has beaten for more than a second, in which it would have given away what it does."""
    beats = dict(rows(away.nodes.url, BEATS))
    await until(lambda: all(at > beats[node] + 1 for node, at in rows(away.nodes.url, BEATS)))


@tool(idempotent=True)
async def look() -> str:
    """Look."""
    return "clouds"


def telegram_at(platform: Telegram, url: str) -> Channel:
    return TelegramChannel(TelegramConfig(bot_token=SecretStr(platform.telegram.token), base_url=url, poll_seconds=5))


def discord_at(platform: Discord, url: str) -> Channel:
    base = f"{url}{urlsplit(platform.discord.api_url).path}"
    return DiscordChannel(DiscordConfig(bot_token=SecretStr(platform.discord.token), base_url=base))


def slack_at(platform: Slack, url: str) -> Channel:
    slack = platform.slack
    base = f"{url}{urlsplit(slack.api_url).path}"
    tokens = {"bot_token": SecretStr(slack.bot_token), "app_token": SecretStr(slack.app_token)}
    return SlackChannel(SlackConfig(**tokens, base_url=base))


class Way(Tunnel):
    """A way to a platform; while it is cut, nobody accepts connections."""

    async def close(self) -> None:
        self.cut()
        self._server.close()
        await self._server.wait_closed()

    async def open(self) -> None:
        self.mend()
        self._server = await asyncio.start_server(self._link, "127.0.0.1", urlsplit(self.url).port)


@dataclass
class Away:
    """Nodes on one platform, each with a way there of its own."""

    nodes: Nodes
    platform: Emulated
    channel_at: Callable[[str], Channel]
    person: Person
    chat: Chat
    ways: list[Way] = field(default_factory=list)

    async def start(self, *turns: Turn) -> Bot:
        tunnel = await self.nodes.life.enter_async_context(Way.to(self.platform.emulator.url, lasting_port()))
        self.ways.append(tunnel)
        channel = self.channel_at(f"http://127.0.0.1:{urlsplit(tunnel.url).port}")
        self.nodes.life.push_async_callback(channel.close)
        people = People(owners=frozenset({f"{channel.name}:{self.person.id}"}), allow=frozenset())
        return await self.nodes.start(*turns, beside=[channel], people=people, tools=(look,))

    async def cut(self, bot: Bot) -> None:
        await self.ways[self.nodes.bots.index(bot)].close()

    async def mend(self, bot: Bot) -> None:
        await self.ways[self.nodes.bots.index(bot)].open()

    async def calls(self, bot: Bot) -> None:
        """Let a node call the platform, as it does to show that it types."""
        channel = bot.made.base.channels.on(self.platform.facts.name)
        assert isinstance(channel, KnowsReach)
        await channel.try_reach()

    @property
    def key(self) -> ChatKey:
        """The chat, which some node works on."""
        [(chat,)] = rows(self.nodes.url, "SELECT chat FROM chat_owners")
        return ChatKey.parse(str(chat))

    async def says(self, text: str) -> None:
        await self.chat.says(self.person, text)

    async def seen(self) -> list[NodeStatus]:
        found = await self.nodes.bots[0].made.base.store.nodes.seen()
        return sorted(found, key=lambda node: node.started)

    async def until_seen(self, condition: Callable[[list[NodeStatus]], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition(await self.seen()):  # noqa: ASYNC110 - no node announces it
                await asyncio.sleep(0.02)

    async def until_ready(self, bot: Bot) -> None:
        """Wait until nothing of a node is unready: it tells the others that it reaches the platform a moment before."""
        async with asyncio.timeout(30):
            while await bot.made.serving.readiness.unready():  # noqa: ASYNC110 - no node announces it
                await asyncio.sleep(0.02)

    async def until_receiver(self, bot: Bot) -> None:
        """Wait until a node receives; on Slack each node does at any time."""
        lease, number = f"receive {self.platform.facts.name}", self.nodes.bots.index(bot)
        if self.platform.facts.name != "slack":
            await self.until_seen(lambda nodes: lease in nodes[number].leases)
            await self.platform.listening()


KINDS: dict[str, tuple[Callable[[], Emulated], Callable[..., Channel]]] = {
    "telegram": (Telegram, telegram_at),
    "discord": (Discord, discord_at),
    "slack": (Slack, slack_at),
}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a platform count as out of reach after a moment."""
    monkeypatch.setattr(reach, "CUT_OFF_AFTER", 0.3)
    monkeypatch.setattr(reach_monitor, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(reach_monitor, "TRY_EVERY", 0.1)
    monkeypatch.setattr(node, "FRESH_FOR", 30.0)  # the database is never away, but a busy machine may stand still


@pytest.fixture(params=[*KINDS])
async def away(request: pytest.FixtureRequest, tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Away]:
    kind, channel_at = KINDS[request.param]
    async with AsyncExitStack() as life:
        platform = await life.enter_async_context(kind())
        platform.lift_limits()
        person = platform.person("Ann")
        nodes = Nodes(tmp_path, url_of(tmp_path))
        await life.enter_async_context(nodes.life)

        def at(url: str) -> Channel:
            return channel_at(platform, url)

        yield Away(nodes, platform, at, person, platform.private(person))
        await nodes.life.aclose()
        assert platform.emulator.violations == []


async def told_unreachable(bot: Bot) -> list[str]:
    """Return the platforms that the metrics of a node call out of its reach."""
    found = [each for each in await bot.made.serving.metrics.read() if each.name == "parley_channel_unreachable"]
    return [str(platform) for each in found if isinstance(each, Metric) for (platform,), away in each.samples if away]


async def test_a_node_that_alone_cannot_reach_the_platform_passes_its_work_there_to_another_one(away: Away) -> None:
    writing = asyncio.Event()
    one = await away.start(Waits(writing, LOOK))
    await away.platform.listening()
    other = await away.start("There are clouds.", "It is dry.")
    await away.says("how is the weather?")
    await until(lambda: len(one.llm.requests) == 1)

    await away.cut(one)
    await away.calls(one)
    await until(lambda: one.made.base.drain.holds(away.key))
    writing.set()  # the run goes on elsewhere from its next safe point
    await away.chat.until(lambda chat: chat.screen == ["There are clouds."])
    assert [node.unreachable for node in await away.seen()] == [away.platform.facts.name, ""]
    assert await one.made.serving.readiness.unready() == {
        away.platform.facts.name: "cannot be reached from here, but from other nodes"
    }
    assert (await told_unreachable(one), await told_unreachable(other)) == ([away.platform.facts.name], [])
    await away.until_receiver(other)
    await away.says("and tomorrow?")
    await away.chat.until(lambda chat: chat.screen == ["There are clouds.", "It is dry."])
    assert len(one.llm.requests) == 1

    await away.mend(one)
    await away.until_seen(lambda nodes: not any(node.unreachable for node in nodes))
    await away.until_receiver(other)
    await away.until_ready(one)
    assert await told_unreachable(one) == []
    assert away.chat.screen == ["There are clouds.", "It is dry."]


async def test_if_no_node_can_reach_the_platform_the_work_stays_with_one_which_answers_when_it_is_back(
    away: Away,
) -> None:
    writing = asyncio.Event()
    one, other = await away.start(Waits(writing, "Hello.")), await away.start("Hello again.")
    await away.platform.listening()
    await away.says("hello")
    await until(lambda: any(bot.llm.requests for bot in (one, other)))

    for bot in (one, other):
        await away.cut(bot)
    writing.set()
    await away.until_seen(lambda nodes: all(node.unreachable for node in nodes))
    await more_beats(away)  # what the first gave away while it thought that the other can reach it
    owners = rows(away.nodes.url, "SELECT chat, number FROM chat_owners")
    await until(lambda: all(node for _, _, node in rows(away.nodes.url, WORK)))
    leases = rows(away.nodes.url, WORK)
    await more_beats(away)
    assert rows(away.nodes.url, "SELECT chat, number FROM chat_owners") == owners
    assert rows(away.nodes.url, WORK) == leases
    assert max(int(str(number)) for _, number, *_ in [*owners, *leases]) <= len(away.nodes.bots) + 1

    for bot in (one, other):
        await away.mend(bot)
    await away.chat.until(lambda chat: len(chat.screen) == 1)
    await away.until_seen(lambda nodes: not any(node.unreachable for node in nodes))
