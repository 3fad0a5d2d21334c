"""Events for the bot: each kind with the intents it needs and its JSON."""

from dataclasses import dataclass

from pydantic import JsonValue

from parley.testing.emulators import discord_shapes as shapes
from parley.testing.emulators.discord_gateway import GATEWAY_PATHS, Gateway
from parley.testing.emulators.discord_session import Event, Intent, Session
from parley.testing.emulators.discord_state import THREAD, Channel, Guild, Interaction, Json, Message, Person, World


@dataclass
class Events:
    """Turns changes of the world into gateway events."""

    world: World
    gateway: Gateway

    def __post_init__(self) -> None:
        self.gateway.host = self

    def message_made(self, message: Message) -> None:
        self._message("MESSAGE_CREATE", message)

    def message_changed(self, message: Message) -> None:
        self._message("MESSAGE_UPDATE", message)

    def message_gone(self, message: Message) -> None:
        where = message.channel
        if where.unseen:
            return
        data: Json = {"id": message.id, "channel_id": where.id, **_guild_of(where)}
        needs = Intent.DIRECT_MESSAGES if where.guild is None else Intent.GUILD_MESSAGES
        self._tell("MESSAGE_DELETE", needs, data, own=message.sender.id == self.world.bot.id, guild=where.guild)

    def reaction(self, name: str, message: Message, person: Person, emoji: str) -> None:
        where = message.channel
        if where.unseen:
            return
        data: Json = {
            "user_id": person.id,
            "message_id": message.id,
            "channel_id": where.id,
            "emoji": {"id": None, "name": emoji},
            "burst": False,
            "type": 0,
            **_guild_of(where),
        }
        if name == "MESSAGE_REACTION_ADD":
            data["message_author_id"] = message.sender.id
            if where.guild is not None:
                data["member"] = {"user": shapes.user(person), **shapes.member(where.guild, person.id)}
        needs = Intent.DIRECT_MESSAGE_REACTIONS if where.guild is None else Intent.GUILD_MESSAGE_REACTIONS
        self._tell(name, needs, data, own=person.id == self.world.bot.id, guild=where.guild)

    def interaction(self, interaction: Interaction, data: Json) -> None:
        about = shapes.interaction(self.world, interaction, data)
        self._tell("INTERACTION_CREATE", Intent.NONE, about, guild=interaction.channel.guild)

    def channel(self, name: str, channel: Channel, *, own: bool = False) -> None:
        """Announce a channel or thread; `name` is CREATE, UPDATE or DELETE."""
        if channel.kind == THREAD:
            data = shapes.gone_thread(channel) if name == "DELETE" else shapes.thread(channel)
            if name == "CREATE":
                data["newly_created"] = True
            self._tell(f"THREAD_{name}", Intent.GUILDS, data, own=own, guild=channel.guild)
        else:
            self._tell(f"CHANNEL_{name}", Intent.GUILDS, shapes.channel(channel), own=own, guild=channel.guild)

    def guild_made(self, guild: Guild) -> None:
        self.gateway.dispatch(self.guild_event(guild))

    def guild_event(self, guild: Guild) -> Event:
        return Event(
            "GUILD_CREATE",
            Intent.GUILDS,
            lambda intents: shapes.guild(guild, self.world.bot, all_members=bool(intents & Intent.GUILD_MEMBERS)),
            guild=guild.id,
        )

    def role_made(self, guild: Guild, role: str) -> None:
        about = next(each for each in shapes.roles(guild) if isinstance(each, dict) and each["id"] == role)
        self._tell("GUILD_ROLE_CREATE", Intent.GUILDS, {"guild_id": guild.id, "role": about}, guild=guild)

    def guild_gone(self, guild: Guild) -> None:
        self._tell("GUILD_DELETE", Intent.GUILDS, {"id": guild.id}, guild=guild)

    def greet(self, session: Session) -> tuple[Json, list[Event]]:
        """Return the data of READY, and the servers that follow it."""
        guilds = [each for each in self.world.guilds.values() if session.receives(each.id)]
        ready: Json = {
            "v": 10,
            "user_settings": {},
            "user": {**shapes.user(self.world.bot), "verified": True, "mfa_enabled": False, "email": None},
            "session_type": "normal",
            "session_id": session.id,
            "resume_gateway_url": self.world.url.replace("http://", "ws://") + GATEWAY_PATHS[1],
            "relationships": [],
            "private_channels": [],
            "presences": [],
            "guilds": [{"id": each.id, "unavailable": True} for each in guilds],
            "shard": [session.shard, session.shards],
            "guild_join_requests": [],
            "geo_ordered_rtc_regions": [],
            "application": {"id": self.world.bot.id, "flags": 1 << 19 if self.world.content_granted else 0},
            "_trace": ["emulated"],
        }
        return ready, [self.guild_event(each) for each in guilds]

    def members(self, asked: Json) -> Json:
        """Return the response to a request for a server's members."""
        guild = self.world.guilds.get(str(asked.get("guild_id")))
        people = [] if guild is None else [self.world.bot, *guild.people]
        wanted = asked.get("user_ids")
        if isinstance(wanted, list):
            ids = {str(each) for each in wanted}
            people = [each for each in people if each.id in ids]
        found: list[JsonValue] = [
            {"user": shapes.user(each), **shapes.member(guild, each.id)} for each in people if guild
        ]
        about: Json = {"guild_id": asked.get("guild_id"), "members": found, "chunk_index": 0, "chunk_count": 1}
        return {**about, "nonce": asked["nonce"]} if "nonce" in asked else about

    def _message(self, name: str, message: Message) -> None:
        if message.channel.unseen:
            return
        # Discord reports ephemeral messages as if they were private.
        direct = message.channel.guild is None or message.ephemeral
        needs = Intent.DIRECT_MESSAGES if direct else Intent.GUILD_MESSAGES
        self.gateway.dispatch(
            Event(
                name,
                needs,
                lambda intents: shapes.event_message(self.world, message, hide=not intents & Intent.MESSAGE_CONTENT),
                content=shapes.needs_content_intent(self.world, message),
                own=message.sender.id == self.world.bot.id,
                guild=_id_of(message.channel.guild),
            )
        )

    def _tell(self, name: str, needs: Intent, data: Json, *, own: bool = False, guild: Guild | None) -> None:
        self.gateway.dispatch(Event(name, needs, lambda _: data, own=own, guild=_id_of(guild)))


def _id_of(guild: Guild | None) -> str | None:
    return None if guild is None else guild.id


def _guild_of(channel: Channel) -> Json:
    return {} if channel.guild is None else {"guild_id": channel.guild.id}
