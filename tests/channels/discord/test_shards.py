"""A bot in so many servers that Discord divides them into shards, received by one process."""

import asyncio

from channels.base import Menu, OutboundMessage
from channels.discord.adapter import DiscordChannel
from channels.discord.connection import IDENTIFY_EVERY
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_state import Person
from tests.channels.discord.conftest import Inbox, key_of, listening


def on_each_shard(discord: DiscordEmulator, count: int, people: list[Person]) -> list[Chat]:
    """Make servers until each shard has one, and return one of each."""
    found: dict[int, Chat] = {}
    while len(found) < count:
        chat = discord.group(f"Team {len(found)}", people)
        guild = chat.channel.guild
        assert guild is not None
        found.setdefault((int(guild.id) >> 22) % count, chat)
    return [found[shard] for shard in range(count)]


def shards_of(discord: DiscordEmulator) -> list[tuple[int, int]]:
    return sorted((each.shard, each.shards) for each in discord.gateway.sessions.values() if each.socket)


def divide(discord: DiscordEmulator, count: int) -> None:
    """Let Discord want so many shards, which may be started at the same time."""
    discord.gateway.shards = discord.gateway.least_shards = count
    discord.gateway.max_concurrency = 100


async def connected(discord: DiscordEmulator, count: int) -> None:
    await discord.wait_for(lambda: shards_of(discord) == [(shard, count) for shard in range(count)])


async def test_one_process_receives_all_shards_and_reads_what_was_missed_on_each(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    divide(discord, 4)
    ann = discord.person("Ann")
    teams = on_each_shard(discord, 4, [ann])
    async with listening(discord, channel) as inbox:
        await connected(discord, 4)
        for chat in [*teams, discord.private(ann)]:
            await chat.says(ann, "@parley hello")

        await inbox.until(lambda events: len(events) == 5)
        await channel.send(key_of(teams[3]), OutboundMessage(markdown="Hello"), "a")
        assert await channel.roles(key_of(teams[2]))
        assert discord.calls_of("GET guild") == [], "the gateway has told of the servers"
        assert inbox.duplicates == 0
        gap = await channel.gap()
        assert gap.private
        assert all(gap.concerns(key_of(chat)) for chat in teams)

        lost = next(each for each in discord.gateway.sessions.values() if each.shard == 2)
        lost.resumable = False
        assert lost.socket is not None
        lost.socket.close(4000)
        gap = await asyncio.wait_for(channel.gap(), 30)
        assert not gap.private
        assert [gap.concerns(key_of(chat)) for chat in teams] == [False, False, True, False]


async def test_sessions_are_started_no_faster_than_discord_allows(
    discord: DiscordEmulator, started: list[float], channel: DiscordChannel
) -> None:
    divide(discord, 3)
    discord.gateway.max_concurrency = 4
    async with listening(discord, channel):
        await connected(discord, 3)

    first, second, third = started
    assert min(second - first, third - second) > 0.9 * IDENTIFY_EVERY / 4


async def test_more_shards_are_begun_once_discord_wants_them(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    discord.gateway.max_concurrency = 100
    ann = discord.person("Ann")
    async with listening(discord, channel) as inbox:
        await connected(discord, 1)
        divide(discord, 2)
        teams = on_each_shard(discord, 2, [ann])
        discord.close(4011)
        await connected(discord, 2)
        for chat in teams:
            await chat.says(ann, "@parley hello")
        await inbox.until(lambda events: len(events) == 2)


async def test_a_number_that_discord_refuses_is_asked_for_again(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    divide(discord, 2)
    discord.gateway.shards = 1  # it names a new number later than it needs it
    running = asyncio.create_task(channel.run(Inbox(discord), Menu()))
    await discord.wait_for(lambda: len(discord.calls_of("gateway")) > 1)
    discord.gateway.shards = 2
    await connected(discord, 2)
    running.cancel()
    await asyncio.wait([running])


async def test_a_process_that_gets_a_shard_back_looks_for_gaps_though_it_resumes_its_old_session(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    async with listening(discord, channel):
        await channel.gap()
        may_connect = discord.faults.hold("gateway", times=None)
        discord.close(4000)
        await discord.wait_for(lambda: len(discord.calls_of("gateway")) == 2)

    discord.faults.clear()
    may_connect.set()
    async with listening(discord, channel):
        await asyncio.wait_for(channel.gap(), 30)
        assert discord.gateway.resumes == 1
