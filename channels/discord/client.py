"""discord.py's client, with nothing kept and nothing parsed: its gateway protocol and its REST limits are what we use.

The SDK's own parsers build objects that we do not need, keep them, and end the connection where a payload is odd. So
dispatches go to us as they are.
"""

import logging
import re
from collections.abc import Callable
from functools import partial

import discord
from pydantic import JsonValue

from channels.discord.rights import INTENTS

Heard = Callable[[str, JsonValue], None]
"""The name of a dispatch and its data. Must not raise: what it raises ends the connection."""

DISPATCHES = (
    "READY",
    "RESUMED",
    "GUILD_CREATE",
    "GUILD_UPDATE",
    "GUILD_DELETE",
    "CHANNEL_CREATE",
    "CHANNEL_UPDATE",
    "CHANNEL_DELETE",
    "THREAD_CREATE",
    "THREAD_UPDATE",
    "THREAD_DELETE",
    "THREAD_LIST_SYNC",
    "MESSAGE_CREATE",
    "MESSAGE_UPDATE",
    "MESSAGE_DELETE",
    "MESSAGE_DELETE_BULK",
    "INTERACTION_CREATE",
)
LONGEST_WAIT = 30.0
"""Seconds that the SDK waits by itself where Discord says so; what takes longer is an error that names the time."""
_SECRET_ADDRESS = re.compile(r"(/(?:webhooks|interactions)/\d+/)[^/?\s]+")


def _without_secrets(record: logging.LogRecord) -> bool:
    """The address of an interaction lets anybody answer in our name, for 15 minutes."""
    if isinstance(record.args, tuple):
        record.args = tuple(_SECRET_ADDRESS.sub(r"\1…", arg) if isinstance(arg, str) else arg for arg in record.args)
    return True


logging.getLogger("discord.http").addFilter(_without_secrets)  # its warnings name addresses


class Client(discord.Client):
    """One login. Made anew where a login failed, as the SDK cannot try again with the same one."""

    def __init__(self, heard: Heard) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # that we have no voice is no news
        super().__init__(
            intents=discord.Intents(**dict.fromkeys(INTENTS, True)),
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_ratelimit_timeout=LONGEST_WAIT,
        )
        self._connection.parsers = {name: partial(heard, name) for name in DISPATCHES}
