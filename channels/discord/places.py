"""What of Discord's servers has to be known: which thread is whose, names of channels, sizes of files, our roles."""

from collections.abc import Callable, Iterable

from pydantic import JsonValue

from channels.discord.wire import THREADS, Channel, Guild, Role, read

MIB = 1024 * 1024
_LIMITS = {2: 50 * MIB, 3: 100 * MIB}
"""By a server's boost tier; below, and in direct messages, `FILE_LIMIT`."""
FILE_LIMIT, LARGEST_LIMIT = 10 * MIB, 100 * MIB
MOST_CHANNELS = 20_000
"""Then the threads of which nothing was told for longest are forgotten, and asked for where somebody speaks again."""


class Places:
    """Filled by the gateway's own events, which tell everything anew after each start of a session."""

    def __init__(self) -> None:
        self._channels: dict[str, Channel] = {}
        self._guild_of: dict[str, str] = {}
        self._limits: dict[str, int] = {}
        self._roles: dict[str, str] = {}
        self._role_owners: dict[str, str] = {}

    def hear(self, event: str, raw: JsonValue) -> None:
        """One dispatch; of no use and harmless where it is none of servers, channels or threads, or malformed."""
        heard: dict[str, Callable[[JsonValue], None]] = {
            "GUILD_CREATE": self._guild,
            "GUILD_UPDATE": self._guild,
            "GUILD_DELETE": self._forget_guild,
            "THREAD_LIST_SYNC": self._threads,
            "CHANNEL_DELETE": self._forget,
            "THREAD_DELETE": self._forget,
        }
        if event in heard:
            heard[event](raw)
        elif event in ("CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE"):
            self.learn(raw)

    def learn(self, raw: JsonValue, guild: str = "") -> None:
        """A channel or thread."""
        channel = read(Channel, raw)
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
        """The channel that a thread belongs to; None where this is no thread, or not known."""
        known = self._channels.get(channel)
        return known.parent_id if known is not None and known.type in THREADS else None

    def name(self, channel: str) -> str | None:
        known = self._channels.get(channel)
        return known.name if known else None

    def role(self, role: str) -> str | None:
        """Its name."""
        return self._roles.get(role)

    def is_role_of(self, role: str, bot: str) -> bool:
        """Whether it is the role that came with the bot, which people easily take for the bot itself."""
        return self._role_owners.get(role) == bot

    def file_limit(self, guild: str) -> int:
        """Bytes that one file may have."""
        return self._limits.get(guild, FILE_LIMIT)

    def _guild(self, raw: JsonValue) -> None:
        guild = read(Guild, raw)
        if guild is None:
            return
        if isinstance(raw, dict) and "premium_tier" in raw:
            self._limits[guild.id] = _LIMITS.get(guild.premium_tier, FILE_LIMIT)
        for each in (*guild.channels, *guild.threads):
            self.learn(each, guild.id)
        self._learn_roles(guild.roles)

    def _threads(self, raw: JsonValue) -> None:
        """Of a channel that we may see from now on."""
        if isinstance(raw, dict):
            self._guild({"id": raw.get("guild_id"), "threads": raw.get("threads")})

    def _learn_roles(self, raw: Iterable[JsonValue]) -> None:
        for each in raw:
            role = read(Role, each)
            if role is None:
                continue
            self._roles[role.id] = role.name
            owner = role.tags.get("bot_id")
            if isinstance(owner, str):
                self._role_owners[role.id] = owner

    def _forget_guild(self, raw: JsonValue) -> None:
        """An outage tells the same with `unavailable`; then everything comes again."""
        guild = read(Guild, raw)
        if guild is None or (isinstance(raw, dict) and raw.get("unavailable")):
            return
        for channel in [each for each, home in self._guild_of.items() if home == guild.id]:
            del self._channels[channel], self._guild_of[channel]
        self._limits.pop(guild.id, None)

    def _forget(self, raw: JsonValue) -> None:
        channel = read(Channel, raw)
        if channel is None:
            return
        self._channels.pop(channel.id, None)
        self._guild_of.pop(channel.id, None)
        for thread in [each.id for each in self._channels.values() if each.parent_id == channel.id]:
            self._channels.pop(thread, None)
            self._guild_of.pop(thread, None)
