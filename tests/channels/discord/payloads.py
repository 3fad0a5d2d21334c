"""Discord payloads for tests, and their conversion."""

from pydantic import JsonValue, SecretStr

from channels.base import CommandInvoked, InboundEvent, Menu, MessageReceived
from channels.discord.cache import Servers
from channels.discord.config import Config
from channels.discord.normalise import Identity, View, edited, from_interaction, past_message, received
from channels.discord.wire import Interaction, Message
from channels.values import parse

Json = dict[str, JsonValue]

TOKEN = "MTIwNDI0MjAwMDAwMDAwMDAwMQ.Gtests.not-a-token-of-anybody-at-all"  # noqa: S105
ME = Identity("42", "parley_bot", "4242")
GUILD, GENERAL, THREAD, DM = "900", "901", "902", "700"
ANN: Json = {"id": "7", "username": "ann", "global_name": "Ann Lee", "discriminator": "0", "avatar": None}
BEN: Json = {"id": "8", "username": "ben", "global_name": None}
BOT: Json = {"id": "42", "username": "parley_bot", "global_name": None, "bot": True}
OTHER_BOT: Json = {"id": "43", "username": "other", "global_name": None, "bot": True}
FILE: Json = {
    "id": "5001",
    "filename": "notes.txt",
    "content_type": "text/plain; charset=utf-8",
    "size": 12,
    "url": "https://cdn.discordapp.com/attachments/901/5001/notes.txt?ex=1&is=2&hm=3",
    "proxy_url": "https://media.discordapp.net/attachments/901/5001/notes.txt",
}
SERVER: Json = {
    "id": GUILD,
    "name": "Team",
    "premium_tier": 2,
    "channels": [{"id": GENERAL, "type": 0, "name": "general"}, {"id": "odd", "type": "?"}, "what"],
    "threads": [{"id": THREAD, "type": 11, "name": "Plans", "parent_id": GENERAL, "guild_id": GUILD}],
    "roles": [
        {"id": GUILD, "name": "@everyone"},
        {"id": "66", "name": "Parley", "tags": {"bot_id": "42"}},
        {"id": "67", "name": "Cooks", "tags": {}},
        {"id": None},
    ],
}


def view(thread_channels: str = "") -> View:
    servers = Servers()
    servers.update("GUILD_CREATE", SERVER)
    return View(ME, servers, Config(bot_token=SecretStr(TOKEN), thread_channels=thread_channels), Menu())


def message(channel: str = GENERAL, /, author: JsonValue = ANN, **content: JsonValue) -> Json:
    """Return a message payload, in a server unless `channel` is DM."""
    where: Json = {} if channel == DM else {"guild_id": GUILD, "member": {"nick": None, "roles": []}}
    return {
        "id": "1000",
        "channel_id": channel,
        "author": author,
        "content": "",
        "timestamp": "2026-11-22T01:00:00.250000+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "pinned": False,
        "type": 0,
        "flags": 0,
        **where,
        **content,
    }


def spoken(raw: Json, thread_channels: str = "") -> InboundEvent | None:
    known = parse(Message, raw)
    return received(known, view(thread_channels), known.guild_id) if known else None


def heard(channel: str = GENERAL, /, **content: JsonValue) -> MessageReceived:
    event = spoken(message(channel, **content))
    assert isinstance(event, MessageReceived)
    return event


def typed(channel: str = GENERAL, /, **content: JsonValue) -> CommandInvoked:
    event = spoken(message(channel, **content))
    assert isinstance(event, CommandInvoked)
    return event


def from_history(raw: Json) -> InboundEvent | None:
    """Convert a message from REST, which does not include the server."""
    known = parse(Message, {key: value for key, value in raw.items() if key not in ("guild_id", "member")})
    return past_message(known, view(), GUILD) if known else None


def changed(raw: Json) -> InboundEvent | None:
    known = parse(Message, raw)
    return edited(known, view(), known.guild_id) if known else None


def interaction(channel: str = GENERAL, /, **content: JsonValue) -> Json:
    who: Json = {"user": ANN} if channel == DM else {"guild_id": GUILD, "member": {"user": ANN, "nick": "Annie"}}
    return {
        "id": "1303000000000000000",
        "application_id": "4242",
        "type": 2,
        "token": "aW50ZXJhY3Rpb246",
        "channel_id": channel,
        "locale": "zh-CN",
        "data": {"id": "1", "name": "help", "type": 1},
        **who,
        **content,
    }


def acted(raw: Json) -> InboundEvent | None:
    known = parse(Interaction, raw)
    return from_interaction(known, view()) if known else None
