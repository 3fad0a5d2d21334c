"""Discord's REST calls on channels, messages, threads and commands."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import JsonValue

from parley.testing.emulators import discord_params as params
from parley.testing.emulators import discord_shapes as shapes
from parley.testing.emulators.discord_chat import on_messages, open_thread
from parley.testing.emulators.discord_messages import CANNOT_REPLY, MISSING_PERMISSIONS, UNKNOWN_MESSAGE, Pen
from parley.testing.emulators.discord_params import DiscordError, Params, Upload, invalid
from parley.testing.emulators.discord_state import REPLY, THREAD, Action, Channel, Guild, Json, Message

OLD_SECONDS = 3600
OLD_RETRY_AFTER = 0.1
OLD_EDIT = "Maximum number of edits to messages older than 1 hour reached. Try again later."
NONCE_SECONDS = 300
MAX_REACTIONS = 20
GATEWAY_FLAGS = (1 << 15) | (1 << 19)

_P = TypeVar("_P", bound=Params)


@dataclass(frozen=True)
class Asked:
    """A parsed REST call."""

    match: dict[str, str]
    query: dict[str, str]
    body: JsonValue = None
    uploads: dict[int, Upload] = field(default_factory=dict)

    def read(self, kind: type[_P]) -> _P:
        return kind.model_validate(self.body)


@dataclass(frozen=True)
class Answer:
    """A response; `body` is None if there is only a status."""

    body: JsonValue = None
    status: int = 200


NOTHING = Answer(status=204)


class RestApi:
    """Implementation of the calls. Each method returns Discord's response or raises DiscordError."""

    def __init__(self, pen: Pen, violate: Callable[[str], None], about_gateway: Callable[[], Json]) -> None:
        self._pen = pen
        self._world = pen.world
        self._events = pen.events
        self._violate = violate
        self._about_gateway = about_gateway

    # The bot

    def me(self, _: Asked) -> Answer:
        return Answer({**shapes.user(self._world.bot), "verified": True, "mfa_enabled": False, "locale": "en-US"})

    def application(self, _: Asked) -> Answer:
        bot = self._world.bot
        owner: Json = {"id": "7", "username": "owner", "discriminator": "0", "global_name": "Owner", "avatar": None}
        return Answer(
            {
                "id": bot.id,
                "name": bot.name,
                "icon": None,
                "description": "",
                "summary": "",
                "type": None,
                "bot": shapes.user(bot),
                "bot_public": True,
                "bot_require_code_grant": False,
                "verify_key": "0" * 64,
                "flags": GATEWAY_FLAGS if self._world.content_granted else 0,
                "hook": True,
                "redirect_uris": [],
                "interactions_endpoint_url": None,
                "role_connections_verification_url": None,
                "owner": owner,
                "team": None,
                "approximate_guild_count": len(self._world.guilds),
                "approximate_user_install_count": 0,
                "integration_types_config": {"0": {}, **({"1": {}} if self._world.user_install else {})},
            }
        )

    def gateway(self, _: Asked) -> Answer:
        return Answer({"url": self._gateway_url})

    def gateway_bot(self, _: Asked) -> Answer:
        return Answer({"url": self._gateway_url, **self._about_gateway()})

    @property
    def _gateway_url(self) -> str:
        return self._world.url.replace("http://", "ws://") + "/gw"

    # Messages

    def post_message(self, asked: Asked) -> Answer:
        channel, wanted = self._channel(asked), asked.read(params.PostMessage)
        self.check_mentions("POST message", wanted.allowed_mentions)
        self._pen.check(channel, wanted, asked.uploads)
        self._pen.check_not_empty(wanted, asked.uploads)
        said = self._said_before(channel, wanted)
        if said is not None:
            return Answer({**self._shown(said), "nonce": wanted.nonce})
        self._pen.may_write(channel, wanted, asked.uploads)
        reference = self._referenced(channel, wanted.message_reference)
        message = self._pen.new(channel, wanted, asked.uploads)
        if reference is not None:
            message.reference, message.kind = reference, REPLY
            message.pings_author = wanted.allowed_mentions is not None and wanted.allowed_mentions.replied_user
        if wanted.nonce is not None:
            message.nonce = wanted.nonce
            channel.nonces[wanted.nonce] = message
        self._events.message_made(message)
        self._world.touch(channel)
        return Answer({**self._shown(message), **({} if wanted.nonce is None else {"nonce": wanted.nonce})})

    def check_mentions(self, call: str, allowed: params.AllowedMentions | None) -> None:
        """Record a violation if the mentions could notify everyone."""
        if allowed is None or allowed.pings_crowds:
            self._violate(f"{call}: its allowed_mentions would ping everyone or roles")

    def _said_before(self, channel: Channel, wanted: params.PostMessage) -> Message | None:
        said = channel.nonces.get(wanted.nonce or "") if wanted.enforce_nonce else None
        return said if said is not None and self._world.clock() - said.at < NONCE_SECONDS else None

    def _referenced(self, channel: Channel, reference: params.Reference | None) -> Message | None:
        if reference is None:
            return None
        self._pen.need(channel, "READ_MESSAGE_HISTORY", refusal=CANNOT_REPLY)
        if str(reference.channel_id or channel.id) != channel.id:
            raise invalid("message_reference", "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL", "Cannot reply elsewhere")
        found = channel.messages.get(str(reference.message_id))
        if found is not None and not found.deleted and not found.ephemeral:
            return found
        if reference.fail_if_not_exists:
            raise invalid("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return None

    def patch_message(self, asked: Asked) -> Answer:
        channel = self._channel(asked)
        message = self._pen.message(channel, asked.match["message"])
        wanted = asked.read(params.PatchMessage)
        if message.sender.id != self._world.bot.id:
            raise DiscordError(403, 50005, "Cannot edit a message authored by another user")
        if channel.archived:
            raise DiscordError(400, 50083, "Thread is archived")
        if self._world.clock() - message.at > OLD_SECONDS:
            # Discord allows an undocumented number. As the status is 429, SDKs retry before they give up.
            raise DiscordError(429, 30046, OLD_EDIT, retry_after=OLD_RETRY_AFTER)
        self._pen.change(message, wanted, asked.uploads)
        return Answer(self._shown(message))

    def delete_message(self, asked: Asked) -> Answer:
        channel = self._channel(asked)
        message = self._pen.message(channel, asked.match["message"])
        if message.sender.id != self._world.bot.id:
            if channel.guild is None:
                raise DiscordError(403, 50003, "Cannot execute action on a DM channel")
            raise MISSING_PERMISSIONS
        if channel.archived:
            raise DiscordError(400, 50083, "Thread is archived")
        self._pen.remove(message)
        return NOTHING

    def get_message(self, asked: Asked) -> Answer:
        channel = self._channel(asked)
        self._pen.need(channel, "READ_MESSAGE_HISTORY")
        return Answer(self._shown(self._pen.message(channel, asked.match["message"])))

    def get_messages(self, asked: Asked) -> Answer:
        """Return messages newest first; with `after`, those that directly follow it."""
        channel = self._channel(asked)
        self._pen.need(channel, "READ_MESSAGE_HISTORY")
        unknown = set(asked.query) - {"limit", "after", "before"}
        limit = int(asked.query.get("limit", "50"))
        if unknown or not 1 <= limit <= 100:
            raise invalid("limit", "NUMBER_TYPE_MAX", f"{unknown or limit}: int value should be between 1 and 100.")
        after, before = int(asked.query.get("after", "0")), int(asked.query.get("before", str(1 << 63)))
        found = [
            each
            for each in channel.messages.values()
            if not (each.deleted or each.ephemeral) and after < int(each.id) < before
        ]
        chosen = found[:limit] if "after" in asked.query else found[-limit:]
        return Answer([self._shown(each) for each in reversed(chosen)])

    def _shown(self, message: Message) -> Json:
        return shapes.message(self._world, message, hide=not self._world.content_granted)

    def typing(self, asked: Asked) -> Answer:
        channel = self._channel(asked)
        self._pen.need(channel, "SEND_MESSAGES_IN_THREADS" if channel.kind == THREAD else "SEND_MESSAGES")
        channel.actions.append(Action("typing", self._world.clock()))
        self._world.touch(channel)
        return NOTHING

    # Reactions

    def put_reaction(self, asked: Asked) -> Answer:
        channel = self._channel(asked)
        message, emoji, bot = self._pen.message(channel, asked.match["message"]), asked.match["emoji"], self._world.bot
        self._pen.need(channel, "READ_MESSAGE_HISTORY", "ADD_REACTIONS")
        if channel.archived:
            raise DiscordError(400, 50083, "Thread is archived")
        if not emoji or emoji.isascii():
            raise DiscordError(400, 10014, "Unknown Emoji")
        if emoji not in message.reactions and len(message.reactions) >= MAX_REACTIONS:
            raise DiscordError(400, 30010, "Maximum number of reactions reached (20)")
        people = message.reactions.setdefault(emoji, [])
        if bot not in people:
            people.append(bot)
            channel.actions.append(Action(emoji, self._world.clock()))
            self._events.reaction("MESSAGE_REACTION_ADD", message, bot, emoji)
        self._world.touch(channel)
        return NOTHING

    def delete_reaction(self, asked: Asked) -> Answer:
        channel = self._channel(asked)
        message, emoji, bot = self._pen.message(channel, asked.match["message"]), asked.match["emoji"], self._world.bot
        people = message.reactions.get(emoji, [])
        if bot not in people:
            raise DiscordError(404, 10014, "Unknown Emoji")
        people.remove(bot)
        if not people:
            del message.reactions[emoji]
        self._events.reaction("MESSAGE_REACTION_REMOVE", message, bot, emoji)
        self._world.touch(channel)
        return NOTHING

    def get_reactions(self, asked: Asked) -> Answer:
        channel = self._channel(asked)
        self._pen.need(channel, "READ_MESSAGE_HISTORY")
        message = self._pen.message(channel, asked.match["message"])
        return Answer([shapes.user(each) for each in message.reactions.get(asked.match["emoji"], [])])

    # Channels and threads

    def get_channel(self, asked: Asked) -> Answer:
        return Answer(shapes.channel(self._channel(asked)))

    def patch_channel(self, asked: Asked) -> Answer:
        channel = self._channel(asked)
        if channel.kind != THREAD:
            self._violate("PATCH channel on what is no thread")
            raise MISSING_PERMISSIONS
        wanted = asked.read(params.PatchThread)
        channel.name = wanted.name or channel.name
        channel.archived = channel.archived if wanted.archived is None else wanted.archived
        self._events.channel("UPDATE", channel, own=True)
        self._world.touch(channel)
        return Answer(shapes.channel(channel))

    def post_thread(self, asked: Asked) -> Answer:
        channel = self._channel(asked)
        wanted = asked.read(params.PostThread)
        message = channel.messages.get(asked.match["message"])
        if message is None or message.deleted or message.ephemeral:
            raise UNKNOWN_MESSAGE
        if channel.guild is None or channel.kind == THREAD:
            raise DiscordError(400, 50024, "Cannot execute action on this channel type")
        self._pen.need(channel, "CREATE_PUBLIC_THREADS")
        if message.thread is not None:
            raise DiscordError(400, 160004, "A thread has already been created for this message")
        return Answer(shapes.thread(open_thread(self._world, self._events, message, self._world.bot, wanted.name)), 201)

    def get_guild(self, asked: Asked) -> Answer:
        guild = self._guild(asked)
        if guild is None:
            raise DiscordError(404, 10004, "Unknown Guild")
        whole = shapes.guild(guild, self._world.bot, all_members=False)
        left_out = ("channels", "threads", "members", "joined_at", "member_count", "large", "unavailable")
        return Answer({key: value for key, value in whole.items() if key not in left_out})

    def get_member(self, asked: Asked) -> Answer:
        guild = self._guild(asked)
        if guild is None:
            raise DiscordError(404, 10004, "Unknown Guild")
        found = next((each for each in guild.people if each.id == asked.match.get("user")), None)
        if found is None:
            raise DiscordError(404, 10007, "Unknown Member")
        return Answer({"user": shapes.user(found), **shapes.member(guild, found.id)})

    def open_direct(self, asked: Asked) -> Answer:
        person = self._world.people.get(str(asked.read(params.OpenDirect).recipient_id))
        if person is None:
            raise DiscordError(404, 10013, "Unknown User")
        if person.is_bot:
            raise DiscordError(400, 50007, "Cannot send messages to this user")
        return Answer(shapes.channel(self._world.direct_channel(person)))

    def _channel(self, asked: Asked) -> Channel:
        return self._pen.channel(asked.match["channel"])

    # Commands

    def put_commands(self, asked: Asked) -> Answer:
        """Replace all commands, global ones or those of one server."""
        wanted = params.Commands.model_validate({"commands": asked.body}).commands
        if not self._world.user_install and any(1 in (each.integration_types or ()) for each in wanted):
            raise invalid("integration_types", "BASE_TYPE_CHOICES", "The application has no installation by users")
        names = [_key(each) for each in wanted]
        if len(set(names)) < len(names):
            raise invalid("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
        guild = self._guild(asked)
        scope = self._world.commands if guild is None else guild.commands
        before = dict(scope)
        scope.clear()
        for each in wanted:
            scope[_key(each)] = self._command(each, before.get(_key(each)), guild)
        self._world.changes.notify()
        return Answer(list(scope.values()))

    def get_commands(self, asked: Asked) -> Answer:
        guild = self._guild(asked)
        scope = self._world.commands if guild is None else guild.commands
        if asked.query.get("with_localizations") in ("1", "true", "True"):
            return Answer(list(scope.values()))
        hidden = {"name_localizations", "description_localizations"}
        return Answer([{key: value for key, value in each.items() if key not in hidden} for each in scope.values()])

    def _command(self, wanted: params.Command, before: Json | None, guild: Guild | None) -> Json:
        next_id = self._world.snowflakes.next
        about: Json = {
            "default_member_permissions": None,
            "name_localizations": None,
            "description_localizations": None,
            **wanted.model_dump(exclude_none=True),
            "id": before["id"] if before else next_id(),
            "application_id": self._world.bot.id,
            "version": next_id(),
        }
        if guild is not None:
            about["guild_id"] = guild.id
        return about

    def _guild(self, asked: Asked) -> Guild | None:
        number = asked.match.get("guild")
        if number is None:
            return None
        found = self._world.guilds.get(number)
        if found is None or found.kicked:
            raise DiscordError(403, 50001, "Missing Access")
        return found


def _key(command: params.Command) -> str:
    """Return the key of a command: a slash command and an entry in another menu may have the same name."""
    return command.name if command.type == 1 else on_messages(command.name)
