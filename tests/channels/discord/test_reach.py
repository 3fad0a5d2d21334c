"""Noticing that Discord is in reach again, by calls and by the gateway."""

import pytest

from channels.base import AccountRefused
from channels.discord.adapter import DiscordChannel
from channels.discord.connection import GATEWAY
from parley.testing.emulators.discord import DiscordEmulator


async def test_the_gateway_is_in_reach_once_it_greets_a_socket_and_no_session_is_started_for_that(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    channel.reach.failed(GATEWAY)
    discord.faults.drop("gateway", times=None)

    await channel.try_reach()
    assert channel.reach.is_failing()  # although calls are answered
    discord.faults.clear()
    await channel.try_reach()

    assert not channel.reach.is_failing()
    assert discord.gateway.identified_at == []


async def test_a_refusal_is_an_answer(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    channel.reach.failed()
    discord.revoke()

    with pytest.raises(AccountRefused):
        await channel.private_chat("1")

    assert not channel.reach.is_failing()
