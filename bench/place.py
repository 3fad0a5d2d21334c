"""What a bench has to know of a platform besides what its conversation tests know."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.emulators.discord import DiscordEmulator
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.end_to_end.platforms.catalogue import KINDS
from tests.end_to_end.platforms.platform import Platform


@dataclass(frozen=True)
class Place:
    platform: str
    listens: str
    """What shows that a bot has begun to listen."""
    opening: str
    """The call by which a bot begins to listen, in each of its lives."""
    keeps: bool = True
    """Whether it keeps what was said while nobody listened, and delivers it to whoever comes."""
    hurries: bool = True
    """Whether a bot may be allowed to write faster than others; if not, all are measured within the limits."""
    hurried: Mapping[str, str] = field(default_factory=dict)
    """The settings with which Parley makes as many calls a second as it can, where it has such settings."""

    @property
    def bare(self) -> tuple[str, ...]:
        """The command that starts the bare bot."""
        return sys.executable, "-P", "-m", f"bench.bare_{self.platform}"

    def build(self) -> Platform:
        """The platform, emulated."""
        return KINDS[self.platform]()


def lift_limits(emulator: object) -> None:
    """Let an emulated platform refuse no call for coming too soon."""
    match emulator:
        case TelegramEmulator():
            emulator.flood.on = False
        case SlackEmulator() | DiscordEmulator():
            emulator.pace.on = False
        case _:
            raise TypeError(f"what are the limits of {emulator}?")


def is_listening(emulator: object) -> bool:
    """Whether a bot listens to this emulated platform now."""
    match emulator:
        case TelegramEmulator():
            return emulator.polling
        case SlackEmulator() | DiscordEmulator():
            return emulator.connected
        case _:
            raise TypeError(f"who listens to {emulator}?")


async def confirmed(emulator: object, within: float = 20.0) -> None:
    """Until an emulated platform was told that all of its events arrived."""
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


PLACES = {
    "telegram": Place("telegram", "first poll", "getUpdates", hurried={"TELEGRAM_CALLS_PER_SECOND": "1000"}),
    "slack": Place("slack", "first socket", "apps.connections.open"),
    "discord": Place("discord", "READY", "gateway", keeps=False, hurries=False),
}
