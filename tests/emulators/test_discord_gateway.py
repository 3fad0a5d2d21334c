"""The emulated gateway through the real SDK: sessions, broken connections, wrong frames."""

import asyncio
import json

import discord as sdk
import pytest
from aiohttp import ClientSession, WSMsgType

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_sdk import Ear, listening, point_at
from parley.testing.emulators.discord_session import Intent
from parley.testing.emulators.discord_state import Json


def words(ear: Ear) -> list[str]:
    return [each.content for each in ear.messages]


async def test_a_killed_connection_is_resumed_with_what_was_missed(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    async with listening(discord) as ear:
        discord.kill_connections()
        await discord.wait_for(lambda: not discord.connected)
        await chat.says(ann, "are you there?")
        await ear.until(lambda: words(ear) == ["are you there?"])
        assert discord.gateway.resumes == 1
        assert discord.identifies_left == 999
        assert len(discord.calls_of("gateway")) == 2


async def test_a_client_that_is_asked_to_reconnect_resumes(discord: DiscordEmulator) -> None:
    async with listening(discord) as ear:
        discord.reconnect()
        await ear.until(lambda: bool(ear.of("resumed")))


@pytest.mark.parametrize("code", [4000, 4008])
async def test_a_closed_session_is_resumed_after_some_codes(discord: DiscordEmulator, code: int) -> None:
    async with listening(discord) as ear:
        discord.close(code)
        await ear.until(lambda: bool(ear.of("resumed")))


async def test_an_invalid_session_that_may_be_resumed_is(discord: DiscordEmulator) -> None:
    async with listening(discord) as ear:
        discord.invalidate(resumable=True)
        await ear.until(lambda: bool(ear.of("resumed")))


async def test_what_happened_in_a_forgotten_session_is_lost() -> None:
    async with DiscordEmulator() as discord, listening(discord) as ear:
        ann = discord.person("Ann")
        chat = discord.private(ann)
        discord.forget_sessions()
        discord.kill_connections()
        await discord.wait_for(lambda: not discord.connected)
        await chat.says(ann, "lost")
        # The SDK waits 5 s before it identifies again.
        await discord.changes.until(lambda: discord.connected)
        await chat.says(ann, "heard")
        await ear.until(lambda: words(ear) == ["heard"])
        assert discord.identifies_left == 998


async def test_events_are_confirmed_by_heartbeats(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    async with listening(discord):
        await chat.says(ann, "one")
        assert discord.unheard > 0
        await discord.solicit()
        await discord.wait_for(lambda: discord.unheard == 0)


async def test_events_come_twice_in_disorder_and_again(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    async with listening(discord) as ear:
        discord.faults.duplicate()
        await chat.says(ann, "twice")
        discord.faults.reorder(2)
        await chat.says(ann, "later")
        await chat.says(ann, "sooner")
        discord.redeliver()
        await ear.until(lambda: words(ear) == ["twice", "twice", "sooner", "later", "later"])


async def test_an_event_that_cannot_be_read_ends_the_connection_of_the_sdk(discord: DiscordEmulator) -> None:
    point_at(discord)
    async with Ear(sdk.Intents(dm_messages=True)) as ear:
        await ear.login(discord.token)
        connection = asyncio.create_task(ear.connect())
        await discord.wait_for(lambda: discord.connected)
        await discord.push({"t": "MESSAGE_CREATE", "d": {"id": "no message"}})
        with pytest.raises(KeyError, match="channel_id"):
            await asyncio.wait_for(connection, 30)


async def test_a_wrong_token_and_intents_not_granted_end_it() -> None:
    async with DiscordEmulator(intents_granted=Intent.NONE) as discord:
        with pytest.raises(sdk.PrivilegedIntentsRequired):
            await _connect(discord)
        discord.revoke()
        with pytest.raises(sdk.LoginFailure):
            await _connect(discord)
        assert discord.invalid_requests == 1


async def _connect(discord: DiscordEmulator) -> None:
    point_at(discord)
    async with Ear(sdk.Intents(message_content=True)) as ear:
        await ear.start(discord.token)


async def test_a_revoked_token_closes_the_socket_for_good(discord: DiscordEmulator) -> None:
    point_at(discord)
    async with Ear(sdk.Intents.none()) as ear:
        await ear.login(discord.token)
        connection = asyncio.create_task(ear.connect())
        await discord.wait_for(lambda: discord.connected)
        discord.revoke()
        with pytest.raises(sdk.ConnectionClosed) as closed:
            await asyncio.wait_for(connection, 30)
        assert closed.value.code == 4004


async def test_identifying_too_often_costs_the_token(discord: DiscordEmulator) -> None:
    discord.identifies_left = 0
    point_at(discord)
    async with Ear(sdk.Intents.none()) as ear:
        await ear.login(discord.token)
        with pytest.raises(sdk.ConnectionClosed) as closed:
            await ear.connect()
    assert closed.value.code == 4004


@pytest.mark.parametrize(
    ("asked", "code"),
    [({"intents": 1 << 30}, 4013), ({"intents": 0, "shard": [2, 2]}, 4010), ({"intents": 0, "shard": [0, 2]}, 4011)],
)
async def test_a_client_that_uses_no_compression_gets_text_and_errors_by_code(
    discord: DiscordEmulator, asked: Json, code: int
) -> None:
    discord.gateway.least_shards = 3
    async with ClientSession() as session, session.ws_connect(f"{discord.gateway_url}?v=10&encoding=json") as socket:
        hello = await socket.receive_json()
        assert hello["op"] == 10
        await socket.send_str(json.dumps({"op": 2, "d": {"token": discord.token, **asked}}))
        assert (await socket.receive()).type is WSMsgType.CLOSE
        assert socket.close_code == code


async def test_a_line_that_drops_before_the_greeting_leaves_no_session(discord: DiscordEmulator) -> None:
    discord.faults.drop("gateway")
    point_at(discord)
    async with Ear(sdk.Intents.none()) as ear:
        await ear.login(discord.token)
        # A bug of the SDK: it reads the sequence number of a socket that was never opened.
        with pytest.raises(AttributeError, match="sequence"):
            await asyncio.wait_for(ear.connect(), 30)
    assert discord.faults.pending == 0


async def test_acknowledgements_can_be_withheld(discord: DiscordEmulator) -> None:
    async with listening(discord) as ear:
        discord.gateway.withhold_acks = True
        latency = ear.latency
        await discord.solicit()
        await asyncio.sleep(0)
        assert ear.latency == latency
