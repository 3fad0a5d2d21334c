"""The emulated Discord's rate limits, and how the real SDK keeps to them."""

import asyncio
import logging

import discord as sdk
import pytest
from aiohttp import ClientSession, ServerDisconnectedError

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_sdk import listening


async def post(session: ClientSession, discord: DiscordEmulator, chat: Chat, content: str) -> tuple[int, float]:
    """Post a message; return the HTTP status and the seconds until the limit resets."""
    url = f"{discord.api_url}/channels/{chat.id}/messages"
    body = {"content": content, "allowed_mentions": {"parse": []}}
    async with session.post(url, json=body, headers={"Authorization": f"Bot {discord.token}"}) as answer:
        await answer.read()
        return answer.status, float(answer.headers.get("X-RateLimit-Reset-After", "0"))


async def test_a_channel_takes_five_messages_and_a_call_that_did_not_wait_is_counted() -> None:
    now = 50.0
    async with DiscordEmulator(clock=lambda: now) as discord, ClientSession() as session:
        chat = discord.group("Team")
        answers = [await post(session, discord, chat, f"{number}") for number in range(6)]
        assert [status for status, _ in answers] == [200] * 5 + [429]
        assert answers[4][1] == 5
        assert discord.calls_in_window == 0
        assert (await post(session, discord, chat, "pushy"))[0] == 429
        assert (discord.calls_in_window, discord.invalid_requests) == (1, 2)
        assert (await post(session, discord, discord.group("Other"), "elsewhere"))[0] == 200
        now += 5
        assert (await post(session, discord, chat, "patient"))[0] == 200


async def test_fifty_calls_a_second_are_all() -> None:
    now = 50.0
    async with DiscordEmulator(clock=lambda: now) as discord, ClientSession() as session:
        chats = [discord.group(f"Team {number}") for number in range(51)]
        answers = await asyncio.gather(*(post(session, discord, each, "hi") for each in chats))
        assert sorted(status for status, _ in answers) == [200] * 50 + [429]


async def test_without_pace_nothing_is_limited() -> None:
    async with DiscordEmulator(pace=False) as discord, ClientSession() as session:
        chat = discord.group("Team")
        assert {(await post(session, discord, chat, "hi"))[0] for _ in range(60)} == {200}


async def test_the_sdk_waits_as_it_is_told(discord: DiscordEmulator, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    ann = discord.person("Ann")
    chat = discord.private(ann)
    async with listening(discord) as ear:
        place = ear.get_partial_messageable(int(chat.id))
        discord.faults.rate_limit("POST message", retry_after=0.2)
        await place.send("one")
        discord.limit_all(0.1, "POST message")
        await place.send("two")
        discord.limit_shared("POST message", 0.1)
        await place.send("three")
    assert chat.screen == ["one", "two", "three"]
    assert (discord.calls_in_window, discord.invalid_requests) == (0, 2)


async def test_the_page_of_cloudflare_is_an_error_at_once(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    async with listening(discord) as ear:
        discord.cloudflare()
        with pytest.raises(sdk.HTTPException, match="429"):
            await ear.get_partial_messageable(int(chat.id)).send("hello?")
    assert chat.screen == []


async def test_a_lost_answer_and_a_nonce_make_one_message(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    async with listening(discord) as ear:
        place = ear.get_partial_messageable(int(chat.id))
        discord.faults.lose_answer("POST message")
        with pytest.raises(ServerDisconnectedError):
            await place.send("once", nonce="n1")
        await place.send("once", nonce="n1")
    assert chat.screen == ["once"]
