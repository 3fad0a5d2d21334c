"""Knowledge about Discord: servers, channels, threads, the bot's roles, and recently received messages."""

from collections.abc import Callable, Iterable

from pydantic import JsonValue

from channels.base import InboundEvent, MessageDeleted, MessageReceived
from channels.discord.wire import THREADS, Channel, Guild, Role
from channels.files import MIB
from channels.values import parse

_LIMITS = {2: 50 * MIB, 3: 100 * MIB}
"""File size limits by boost tier; `FILE_LIMIT` applies below these tiers and in private chats."""
FILE_LIMIT, LARGEST_LIMIT = 10 * MIB, 100 * MIB
MOST_CHANNELS = 20_000
"""Number above which the threads without news for longest are forgotten; they are looked up when needed again."""


class Servers:
    """Filled from gateway dispatches, which describe everything anew after each session start."""

    def __init__(self) -> None:
        self._channels: dict[str, Channel] = {}
        self._guild_of: dict[str, str] = {}
        self._names: dict[str, str] = {}
        """Names of servers."""
        self._limits: dict[str, int] = {}
        self._roles: dict[str, str] = {}
        self._roles_of: dict[str, dict[str, str]] = {}
        """Names of roles by id, by server."""
        self._role_owners: dict[str, str] = {}

    def update(self, event: str, raw: JsonValue) -> None:
        """Take one dispatch; others than those about servers, channels or threads and malformed ones are ignored."""
        handlers: dict[str, Callable[[JsonValue], None]] = {
            "GUILD_CREATE": self._guild,
            "GUILD_UPDATE": self._guild,
            "GUILD_DELETE": self._forget_guild,
            "GUILD_ROLE_CREATE": self._role,
            "GUILD_ROLE_UPDATE": self._role,
            "GUILD_ROLE_DELETE": self._forget_role,
            "THREAD_LIST_SYNC": self._threads,
            "CHANNEL_DELETE": self._forget,
            "THREAD_DELETE": self._forget,
        }
        if event in handlers:
            handlers[event](raw)
        elif event in ("CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE"):
            self.learn(raw)

    def learn(self, raw: JsonValue, guild: str = "") -> None:
        """Store a channel or thread."""
        channel = parse(Channel, raw)
        if channel is None:
            return
        self._channels.pop(channel.id, None)
        self._channels[channel.id] = channel
        self._guild_of[channel.id] = channel.guild_id or guild
        if len(self._channels) > MOST_CHANNELS:
            quiet = next((each.id for each in self._channels.values() if each.type in THREADS), channel.id)
            del self._channels[quiet], self._guild_of[quiet]

    def knows(self, channel: str) -> bool:
        return channel in self._channels

    def parent(self, channel: str) -> str | None:
        """Return the channel of a thread, or None if it is no thread or not known."""
        known = self._channels.get(channel)
        return known.parent_id if known is not None and known.type in THREADS else None

    def name(self, channel: str) -> str | None:
        known = self._channels.get(channel)
        return known.name if known else None

    def title(self, guild: str | None, channel: str) -> str:
        """Return the names of a server and of its channel, or of the channel of a thread; "" elsewhere."""
        name = self.name(self.parent(channel) or channel) if guild else None
        return f"{self._names.get(guild or '', '')} #{name}".strip() if name else ""

    def role(self, role: str) -> str | None:
        """Return the name of a role."""
        return self._roles.get(role)

    def roles(self, guild: str) -> dict[str, str]:
        """Return the names of a server's roles by id."""
        return dict(self._roles_of.get(guild, {}))

    def is_role_of(self, role: str, bot: str) -> bool:
        """Return True for the role that Discord created with the bot; users often mention it instead of the bot."""
        return self._role_owners.get(role) == bot

    def file_limit(self, guild: str) -> int:
        """Return the largest file size in bytes."""
        return self._limits.get(guild, FILE_LIMIT)

    def _guild(self, raw: JsonValue) -> None:
        guild = parse(Guild, raw)
        if guild is None:
            return
        if isinstance(raw, dict) and "premium_tier" in raw:
            self._limits[guild.id] = _LIMITS.get(guild.premium_tier, FILE_LIMIT)
        if guild.name:
            self._names[guild.id] = guild.name
        for each in (*guild.channels, *guild.threads):
            self.learn(each, guild.id)
        self._learn_roles(guild.id, guild.roles)

    def _threads(self, raw: JsonValue) -> None:
        """Store the threads of a channel that has become visible."""
        if isinstance(raw, dict):
            self._guild({"id": raw.get("guild_id"), "threads": raw.get("threads")})

    def _role(self, raw: JsonValue) -> None:
        if isinstance(raw, dict):
            self._learn_roles(str(raw.get("guild_id")), [raw.get("role")])

    def _forget_role(self, raw: JsonValue) -> None:
        if isinstance(raw, dict):
            self._roles_of.get(str(raw.get("guild_id")), {}).pop(str(raw.get("role_id")), None)

    def _learn_roles(self, guild: str, raw: Iterable[JsonValue]) -> None:
        for each in raw:
            role = parse(Role, each)
            if role is None:
                continue
            self._roles[role.id] = self._roles_of.setdefault(guild, {})[role.id] = role.name
            owner = role.tags.get("bot_id")
            if isinstance(owner, str):
                self._role_owners[role.id] = owner

    def _forget_guild(self, raw: JsonValue) -> None:
        """Forget a server that the bot left. With `unavailable` it is only an outage, after which everything is sent
        again."""
        guild = parse(Guild, raw)
        if guild is None or (isinstance(raw, dict) and raw.get("unavailable")):
            return
        for channel in [each for each, home in self._guild_of.items() if home == guild.id]:
            del self._channels[channel], self._guild_of[channel]
        self._limits.pop(guild.id, None)
        self._names.pop(guild.id, None)
        self._roles_of.pop(guild.id, None)

    def _forget(self, raw: JsonValue) -> None:
        channel = parse(Channel, raw)
        if channel is None:
            return
        self._channels.pop(channel.id, None)
        self._guild_of.pop(channel.id, None)
        for thread in [each.id for each in self._channels.values() if each.parent_id == channel.id]:
            self._channels.pop(thread, None)
            self._guild_of.pop(thread, None)


class RecentMessages:
    """The last messages that became events."""

    most = 5_000

    def __init__(self) -> None:
        self._messages: dict[str, MessageReceived] = {}

    def keep(self, event: InboundEvent) -> None:
        if isinstance(event, MessageReceived):
            self._messages[event.message_id] = event
            if len(self._messages) > self.most:
                del self._messages[next(iter(self._messages))]

    def find(self, message: str) -> MessageReceived | None:
        return self._messages.get(message)

    def deleted(self, message: str, now: float) -> MessageDeleted | None:
        """Return the deletion of a message, or None if it was not received or too long ago."""
        gone = self._messages.pop(message, None)
        if gone is None:
            return None
        return MessageDeleted(
            event_id=f"{gone.event_id}:deleted",
            chat=gone.chat,
            sender=gone.sender,
            at=now,
            addressed=gone.addressed,
            message_id=message,
        )
