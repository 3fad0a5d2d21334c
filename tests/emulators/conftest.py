"""Emulated platforms that must end without violations, each with a real SDK connected to it."""

import os
from collections.abc import AsyncIterator

import pytest
from telegram import Bot

from parley.testing import emulated
from parley.testing.emulated import telegram
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.patience import PATIENCE, patient
from tests.emulators.sdk import telegram_bot

__all__ = ["bot", "discord", "hasty_discord", "hasty_slack", "patient", "slack", "telegram"]

hasty_discord, hasty_slack = emulated.discord, emulated.slack
"""The platforms that wait three seconds for an answer, in which a busy machine may not get to it."""

# Without it the SDK warns about every retry delay, and warnings are errors here.
os.environ["PTB_TIMEDELTA"] = "1"


@pytest.fixture
def discord(hasty_discord: DiscordEmulator, patient: None) -> DiscordEmulator:
    return hasty_discord


@pytest.fixture
def slack(hasty_slack: SlackEmulator, patient: None) -> SlackEmulator:
    hasty_slack.ack_timeout = PATIENCE
    return hasty_slack


@pytest.fixture
async def bot(telegram: TelegramEmulator) -> AsyncIterator[Bot]:
    async with telegram_bot(telegram) as connected:
        yield connected
