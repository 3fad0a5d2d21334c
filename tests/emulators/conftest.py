"""Emulated platforms that must end without violations, each with a real SDK connected to it."""

import os
from collections.abc import AsyncIterator

import pytest
from telegram import Bot

from parley.testing.emulated import discord, slack, telegram
from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.sdk import telegram_bot

__all__ = ["bot", "discord", "slack", "telegram"]

# Without it the SDK warns about every retry delay, and warnings are errors here.
os.environ["PTB_TIMEDELTA"] = "1"


@pytest.fixture
async def bot(telegram: TelegramEmulator) -> AsyncIterator[Bot]:
    async with telegram_bot(telegram) as connected:
        yield connected
