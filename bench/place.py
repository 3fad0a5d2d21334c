"""Platform knowledge of the benches, in addition to that of the end-to-end tests."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat as DiscordChat
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_chat import Chat as SlackChat
from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import Chat as TelegramChat
from tests.end_to_end.platforms.catalogue import KINDS
from tests.end_to_end.platforms.platform import Platform


@dataclass(frozen=True)
class Place:
    platform: str
    listens: str
    """Name of the event that shows that a bot has begun to listen."""
    opening: str
    """Call with which a bot begins to listen after each start."""
    keeps: bool = True
    """True if the platform keeps messages while nothing is listening and delivers them later."""
    hurries: bool = True
    """True if rate limits can be lifted for a bot; otherwise all bots are measured within them."""
    hurried: Mapping[str, str] = field(default_factory=dict)
    """Settings for the highest call rate of Parley, if the platform has such settings."""

    @property
    def bare(self) -> tuple[str, ...]:
        """Command that starts the bare bot."""
        return sys.executable, "-P", "-m", f"bench.bare_{self.platform}"

    def build(self) -> Platform:
        """Create the emulated platform."""
        return KINDS[self.platform]()


def lift_limits(emulator: object) -> None:
    """Switch off the rate limits of an emulated platform."""
    match emulator:
        case TelegramEmulator():
            emulator.flood.on = False
        case SlackEmulator() | DiscordEmulator():
            emulator.pace.on = False
        case _:
            raise TypeError(f"what are the limits of {emulator}?")


def is_listening(emulator: object) -> bool:
    """Return True if a bot is listening to this emulated platform."""
    match emulator:
        case TelegramEmulator():
            return emulator.polling
        case SlackEmulator() | DiscordEmulator():
            return emulator.connected
        case _:
            raise TypeError(f"who listens to {emulator}?")


async def confirmed(emulator: object, within: float = 20.0) -> None:
    """Wait until all events of an emulated platform are confirmed."""
    match emulator:
        case TelegramEmulator():
            await emulator.wait_for(lambda: emulator.updates.unconfirmed == 0, within)
        case SlackEmulator():
            await emulator.wait_for(lambda: emulator.unheard == 0, within)
        case DiscordEmulator():
            await emulator.solicit()
            await emulator.wait_for(lambda: emulator.unheard == 0, within)
        case _:
            raise TypeError(f"what was said on {emulator}?")


def seen(chat: object, person: object) -> list[tuple[float, str]]:
    """Return the times and texts of all that a person was ever shown in a chat: messages, their edits, and previews."""
    if not isinstance(chat, TelegramChat | SlackChat | DiscordChat):
        raise TypeError(f"what was to be seen in {chat}?")
    shown: list[tuple[float, str]] = []
    for message in (each for each in chat.everything if each.sender != person):
        moments = [message.at, *(edit.at for edit in message.edits)]
        shown += zip(moments, message.history, strict=True)
    return shown + [(each.at, each.text) for each in (chat.drafts if isinstance(chat, TelegramChat) else ())]


PLACES = {
    "telegram": Place("telegram", "first poll", "getUpdates", hurried={"TELEGRAM_CALLS_PER_SECOND": "1000"}),
    "slack": Place("slack", "first socket", "apps.connections.open"),
    "discord": Place("discord", "READY", "gateway", keeps=False, hurries=False),
}
