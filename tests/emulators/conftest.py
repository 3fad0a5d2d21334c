"""Emulated platforms that must end without violations, each with a real SDK connected to it."""

import os
from collections.abc import AsyncIterator

import pytest
from telegram import Bot

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.sdk import telegram_bot

# Without it the SDK warns about every retry delay, and warnings are errors here.
os.environ["PTB_TIMEDELTA"] = "1"


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        yield emulator
    assert emulator.violations == []


@pytest.fixture
async def bot(telegram: TelegramEmulator) -> AsyncIterator[Bot]:
    async with telegram_bot(telegram) as connected:
        yield connected


@pytest.fixture
async def discord() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator
    assert emulator.violations == []


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        yield emulator
    assert emulator.violations == []
