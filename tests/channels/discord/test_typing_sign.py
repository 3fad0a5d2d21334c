"""Typing signs in many chats at once, by the real SDK against an emulated Discord."""

import asyncio

import pytest

from agent_core.clock import SystemClock
from channels.base import OutboundMessage
from channels.discord.adapter import DiscordChannel
from channels.discord.client import OPTIONAL_CALLS, RateLimit
from gateway.delivery.limiter import ChatLimiter
from gateway.delivery.typing_sign import AGAIN_SECONDS, show_typing
from gateway.security.masked_channel import MaskedChannel
from gateway.security.secrets import Secrets
from parley.testing.emulators.discord import DiscordEmulator
from tests.channels.discord.conftest import key_of


async def test_typing_signs_of_a_crowd_take_no_place_of_an_answer(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    crowd = [key_of(discord.private(discord.person(f"Person {number}"))) for number in range(181)]
    *busy, answered = crowd
    await asyncio.gather(*(channel.typing(chat) for chat in busy))
    await channel.send(answered, OutboundMessage(markdown="x"), "k")

    assert OPTIONAL_CALLS <= len(discord.calls_of("POST typing")) < len(busy) / 2


class NotingClock(SystemClock):
    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await super().sleep(seconds)


async def test_a_sign_that_found_no_room_is_tried_again_long_before_it_would_be_renewed(
    discord: DiscordEmulator, channel: DiscordChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, clock, room, take = discord.private(discord.person("Ann")), NotingClock(), iter([False]), RateLimit.take
    monkeypatch.setattr(RateLimit, "take", lambda pace: next(room, True) and take(pace))
    masked, limiter = MaskedChannel(channel, Secrets()), ChatLimiter(channel, clock)
    sign = asyncio.create_task(show_typing(masked, key_of(chat), limiter, clock))
    try:
        await discord.wait_for(lambda: bool(chat.actions))
    finally:
        sign.cancel()

    assert clock.slept[0] == AGAIN_SECONDS
