"""Emulated platforms as somebody knows them who connects Parley with one for the first time."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import cast

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_session import Intent
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_state import TEAM
from parley.testing.emulators.telegram import TelegramEmulator
from tests.end_to_end.platforms.platform import Emulator


@dataclass
class Platform:
    """An emulated platform."""

    name: str
    title: str
    emulator: Emulator
    address: str
    link: str
    """The beginning of the address that the guide opens first."""
    tokens: Mapping[str, str]
    """By variable, in the order in which they are asked for."""
    workspace: str = ""
    """The part of principals before the id."""

    def principal(self, person_id: object) -> str:
        return f"{self.name}:{self.workspace}{person_id}"

    @property
    def environ(self) -> dict[str, str]:
        """The variables that make Parley talk to the emulator."""
        return {f"{self.name.upper()}_BASE_URL": self.address}


@asynccontextmanager
async def telegram(*, privacy: bool = False) -> AsyncIterator[Platform]:
    async with TelegramEmulator(privacy=privacy) as emulator:
        tokens = {"TELEGRAM_BOT_TOKEN": emulator.token}
        yield Platform(
            name="telegram",
            title="Telegram",
            emulator=cast("Emulator", emulator),
            address=emulator.url,
            link="https://t.me/BotFather?text=/newbot",
            tokens=tokens,
        )


@asynccontextmanager
async def slack() -> AsyncIterator[Platform]:
    async with SlackEmulator() as emulator:
        tokens = {"SLACK_BOT_TOKEN": emulator.bot_token, "SLACK_APP_TOKEN": emulator.app_token}
        yield Platform(
            name="slack",
            title="Slack",
            emulator=cast("Emulator", emulator),
            address=emulator.api_url,
            link="https://api.slack.com/apps?new_app=1&manifest_json=%7B%22",
            tokens=tokens,
            workspace=f"{TEAM}:",
        )


@asynccontextmanager
async def discord(*, content: bool = True) -> AsyncIterator[Platform]:
    """`content` is False while the Message Content Intent is off."""
    granted = Intent.MESSAGE_CONTENT if content else Intent.NONE
    async with DiscordEmulator(intents_granted=granted) as emulator:
        tokens = {"DISCORD_BOT_TOKEN": emulator.token}
        yield Platform(
            name="discord",
            title="Discord",
            emulator=cast("Emulator", emulator),
            address=emulator.api_url,
            link="https://discord.com/developers/applications",
            tokens=tokens,
        )


Opened = Callable[[], AbstractAsyncContextManager[Platform]]
PLATFORMS: Mapping[str, Opened] = {
    "telegram": telegram,
    "slack": slack,
    "discord": discord,
}
