"""Our own channels pass the tests that `parley.testing` has for those of others."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial

import pytest

from channels.base import Channel
from channels.memory import MemoryChannel
from parley.testing.channels import ChannelTests, Stage
from parley.testing.emulated import Emulator, channel_of, discord, slack, telegram
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram import TelegramEmulator

__all__ = ["discord", "slack", "telegram"]


class MemoryStage:
    """The platform in memory."""

    def __init__(self, channel: MemoryChannel) -> None:
        self.channel: Channel = channel
        self._platform = channel

    async def ready(self) -> None:
        """It waits by itself when somebody says something."""

    async def says(self, text: str) -> None:
        await self._platform.hears(text)

    def screen(self) -> list[str]:
        return self._platform.screen


class EmulatedStage:
    """A platform on loopback."""

    def __init__(self, emulator: Emulator) -> None:
        self.channel = channel_of(emulator)
        self._emulator = emulator
        self._says, self._screen = private_chat(emulator)

    async def ready(self) -> None:
        emulator = self._emulator
        await emulator.wait_for(
            lambda: emulator.polling if isinstance(emulator, TelegramEmulator) else emulator.connected
        )

    async def says(self, text: str) -> None:
        await self._says(text)

    def screen(self) -> list[str]:
        return list(self._screen())


def private_chat(emulator: Emulator) -> tuple[Callable[[str], Awaitable[object]], Callable[[], Sequence[str]]]:
    """Return how Ann says something in her chat with the bot, and what she sees of the bot there."""
    match emulator:
        case TelegramEmulator():
            in_telegram = emulator.private(telegram_ann := emulator.person("Ann"))
            return partial(in_telegram.says, telegram_ann), lambda: in_telegram.screen
        case SlackEmulator():
            in_slack = emulator.private(slack_ann := emulator.person("Ann"))
            return partial(in_slack.says, slack_ann), lambda: in_slack.screen
        case DiscordEmulator():
            in_discord = emulator.private(discord_ann := emulator.person("Ann"))
            return partial(in_discord.says, discord_ann), lambda: in_discord.screen


class TestMemory(ChannelTests):
    @pytest.fixture(params=[True, False], ids=["keeps keys", "does not"])
    def stage(self, request: pytest.FixtureRequest) -> Stage:
        return MemoryStage(MemoryChannel(keeps_keys=request.param))


class TestTelegram(ChannelTests):
    @pytest.fixture
    async def stage(self, telegram: TelegramEmulator) -> AsyncIterator[Stage]:
        stage = EmulatedStage(telegram)
        yield stage
        await stage.channel.close()


class TestSlack(ChannelTests):
    @pytest.fixture
    async def stage(self, slack: SlackEmulator) -> AsyncIterator[Stage]:
        stage = EmulatedStage(slack)
        yield stage
        await stage.channel.close()


class TestDiscord(ChannelTests):
    @pytest.fixture
    async def stage(self, discord: DiscordEmulator) -> AsyncIterator[Stage]:
        stage = EmulatedStage(discord)
        yield stage
        await stage.channel.close()
