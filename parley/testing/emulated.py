"""Telegram, Slack and Discord on loopback: fixtures for tests of plugins, named `telegram`, `slack` and `discord`.

`-p parley.testing.emulated` beside `-p parley.testing` gives them to tests. A test fails if Parley has broken a rule of
the platform. Importing this imports the libraries of all three, which takes a second.

    ann = telegram.person("Ann")
    people = owned_by("telegram", ann.id)
    bot = await start_bot("Hello.", plugins=(Dice,), beside=(channel_of(telegram),), people=people)
    chat = telegram.private(ann)
    await chat.says(ann, "/roll")
    await chat.until(lambda c: "You rolled" in c.screen[-1])
"""

import time
from collections.abc import AsyncIterator

import pytest

from channels.base import Channel
from channels.discovery import configs, open_channel
from gateway.permissions.roles import People
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram import TelegramEmulator

Emulator = TelegramEmulator | SlackEmulator | DiscordEmulator
"""A platform on loopback."""


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    """Telegram, on which no rule was broken at the end."""
    async with TelegramEmulator() as emulator:
        yield emulator
    assert emulator.violations == []


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    """Slack, on which no rule was broken at the end."""
    async with SlackEmulator() as emulator:
        yield emulator
    assert emulator.violations == []


@pytest.fixture
async def discord() -> AsyncIterator[DiscordEmulator]:
    """Discord, on which no rule was broken at the end."""
    async with DiscordEmulator() as emulator:
        yield emulator
    assert emulator.violations == []


def channel_of(emulator: Emulator) -> Channel:
    """Return Parley's own channel, connected to the emulator. A bot closes it when it stops."""
    name, settings = _account(emulator)
    return open_channel(name, configs()[name].model_validate(settings), time.time)


def owned_by(platform: str, person: int | str) -> People:
    """Return people of whom this one is an owner, for a bot."""
    return People(owners=frozenset({f"{platform}:{person}"}), allow=frozenset())


def _account(emulator: Emulator) -> tuple[str, dict[str, object]]:
    """Return the name of the channel, and its settings."""
    match emulator:
        case TelegramEmulator():
            return "telegram", {"bot_token": emulator.token, "base_url": emulator.url}
        case SlackEmulator():
            tokens = {"bot_token": emulator.bot_token, "app_token": emulator.app_token}
            return "slack", {**tokens, "base_url": emulator.api_url}
        case DiscordEmulator():
            return "discord", {"bot_token": emulator.token, "base_url": emulator.api_url}
