"""Sessions of Discord's gateway: what they ask for, the shard that they are for, and the events that they receive."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntFlag

from parley.testing.emulators.discord_socket import Socket
from parley.testing.emulators.discord_state import Json


class Intent(IntFlag):
    """Intents of a bot, by Discord's names."""

    NONE = 0
    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_MODERATION = 1 << 2
    GUILD_EXPRESSIONS = 1 << 3
    GUILD_INTEGRATIONS = 1 << 4
    GUILD_WEBHOOKS = 1 << 5
    GUILD_INVITES = 1 << 6
    GUILD_VOICE_STATES = 1 << 7
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_REACTIONS = 1 << 10
    GUILD_MESSAGE_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    DIRECT_MESSAGE_REACTIONS = 1 << 13
    DIRECT_MESSAGE_TYPING = 1 << 14
    MESSAGE_CONTENT = 1 << 15
    GUILD_SCHEDULED_EVENTS = 1 << 16
    AUTO_MODERATION_CONFIGURATION = 1 << 20
    AUTO_MODERATION_EXECUTION = 1 << 21
    GUILD_MESSAGE_POLLS = 1 << 24
    DIRECT_MESSAGE_POLLS = 1 << 25


PRIVILEGED = Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT


@dataclass(frozen=True)
class Event:
    """An event. `build` creates its JSON for a session with the given intents."""

    name: str
    needs: Intent
    build: Callable[[Intent], Json]
    content: bool = False
    """True if part of it is visible only with the MESSAGE_CONTENT intent."""
    own: bool = False
    """True if the bot caused it."""
    guild: str | None = None
    """The server in which it happened; None for a private chat."""


@dataclass(frozen=True)
class Frame:
    seq: int
    text: str
    own: bool


@dataclass
class Session:
    """A session begun by an IDENTIFY. It outlives its socket, so that the client can resume it."""

    id: str
    intents: Intent
    shard: int = 0
    shards: int = 1
    """The number of shards that the bot has, as it says."""
    seq: int = 0
    confirmed: int = 0
    """Highest sequence number that a heartbeat has confirmed."""
    frames: list[Frame] = field(default_factory=list)
    socket: Socket | None = None
    resumable: bool = True

    def receives(self, guild: str | None) -> bool:
        """Return True if events of a server, or of private chats, belong to the session's shard."""
        return (0 if guild is None else (int(guild) >> 22) % self.shards) == self.shard


def shard_of(data: Json) -> tuple[int, int] | None:
    """Return the shard of an IDENTIFY and the number of shards, or None if they are invalid."""
    match data.get("shard", [0, 1]):
        case [int(shard), int(shards)] if 0 <= shard < shards:
            return shard, shards
        case _:
            return None
