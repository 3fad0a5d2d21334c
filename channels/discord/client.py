"""discord.py's client without its cache and parsers: Parley uses only its gateway protocol and REST rate limits.

The SDK's parsers build and cache objects that are not needed, and end the connection at an unexpected payload.
Dispatches are passed on unparsed instead.
"""

import logging
import re
from collections.abc import Callable
from functools import partial

import discord
from pydantic import JsonValue

from channels.discord.rights import INTENTS

Heard = Callable[[str, JsonValue], None]
"""Receives the name of a dispatch and its data. Must not raise, as that would end the connection."""

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
"""Longest wait for a rate limit in seconds that the SDK handles itself; longer ones raise an error with the time."""
_SECRET_ADDRESS = re.compile(r"(/(?:webhooks|interactions)/\d+/)[^/?\s]+")


def _without_secrets(record: logging.LogRecord) -> bool:
    """Mask interaction addresses: for 15 minutes, whoever has one can answer in the bot's name."""
    if isinstance(record.args, tuple):
        record.args = tuple(_SECRET_ADDRESS.sub(r"\1…", arg) if isinstance(arg, str) else arg for arg in record.args)
    return True


logging.getLogger("discord.http").addFilter(_without_secrets)  # its warnings contain addresses


class Client(discord.Client):
    """One login. The SDK cannot retry a failed login with the same client, so a new one is created."""

    def __init__(self, heard: Heard) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # voice is never used
        super().__init__(
            intents=discord.Intents(**dict.fromkeys(INTENTS, True)),
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_ratelimit_timeout=LONGEST_WAIT,
        )
        self._connection.parsers = {name: partial(heard, name) for name in DISPATCHES}
