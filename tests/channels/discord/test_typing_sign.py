"""Typing signs in many chats at once, by the real SDK against an emulated Discord."""

import asyncio

from agent_core.clock import SystemClock
from channels.base import OutboundMessage
from channels.discord.adapter import DiscordChannel
from channels.discord.client import OPTIONAL_CALLS
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
    signs = [call.at for call in discord.calls_of("POST typing")]
    await channel.send(answered, OutboundMessage(markdown="x"), "k")

    assert 0 < len(signs) <= OPTIONAL_CALLS * (signs[-1] - signs[0] + 1)


class NotingClock(SystemClock):
    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await super().sleep(seconds)


async def test_a_sign_that_found_no_room_is_tried_again_long_before_it_would_be_renewed(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    *busy, last = [discord.private(discord.person(f"Person {number}")) for number in range(60)]
    clock = NotingClock()
    signs = asyncio.gather(*(channel.typing(key_of(chat)) for chat in busy))
    masked, limiter = MaskedChannel(channel, Secrets()), ChatLimiter(channel, clock)
    sign = asyncio.create_task(show_typing(masked, key_of(last), limiter, clock))
    try:
        await discord.wait_for(lambda: bool(last.actions))
        shown = await signs
    finally:
        sign.cancel()

    assert True in shown
    assert False in shown
    assert clock.slept[0] == AGAIN_SECONDS
