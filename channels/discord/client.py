"""discord.py's client without its cache and parsers: Parley uses only its gateway protocol and REST rate limits.

The SDK's parsers build and cache objects that are not needed, and end the connection at an unexpected payload.
Dispatches are passed on unparsed instead.
"""

import asyncio
import io
import json
import logging
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple

import aiohttp
import discord
from discord.http import Route
from pydantic import JsonValue

from channels.backoff import Cooldowns
from channels.base import ChannelError
from channels.discord.config import INTENTS, Config
from channels.discord.errors import Blocked, Refused, Revoked, translate
from channels.discord.normalise import Identity
from channels.discord.voice import VOICE_MESSAGE
from channels.reach import Reach

log = logging.getLogger(__name__)

FORBIDDEN_SECONDS = 600.0
MOST_FORBIDDEN = 10_000
LOGIN_SECONDS = 10.0
CALL_SECONDS = 30.0
"""Time limit of one try; the SDK makes up to five during outages, with up to 16 s between them."""
_TROUBLE = (discord.DiscordException, aiohttp.ClientError, OSError)
_UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError)
"""Exceptions of the SDK for responses that do not come from Discord."""
OnDispatch = Callable[[str, JsonValue], None]
"""Receives the name of a dispatch and its data. Must not raise, as that would end the connection."""
DISPATCHES = (
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
    "MESSAGE_REACTION_ADD",
    "MESSAGE_REACTION_REMOVE",
    "INTERACTION_CREATE",
)
LONGEST_WAIT = 30.0
"""Longest wait for a rate limit in seconds that the SDK handles itself; longer ones raise an error with the time."""
_SECRET_ADDRESS = re.compile(r"(/(?:webhooks|interactions)/\d+/)[^/?\s]+")
CALLS, SECONDS = 45, 1.0
"""Discord allows 50 calls per second, interaction responses excluded; the rest is for typing indicators and the SDK's
own retries."""
OPTIONAL_CALLS = 3
"""Optional calls per second within these 50, with places of their own so that answers do not wait for them."""


class Endpoint(NamedTuple):
    """Target of a call: `path` with placeholders for `ids`. The SDK's rate limits depend on both."""

    method: str
    path: str
    ids: Mapping[str, str] = MappingProxyType({})


class Call(NamedTuple):
    """One call with its content and the permissions it needs."""

    endpoint: Endpoint
    json: JsonValue = None
    query: Mapping[str, str] | None = None
    files: Sequence[discord.File] = ()
    needs: str = ""
    """Names of the permissions that the call needs."""

    @property
    def place(self) -> str:
        """Id of the channel that the call concerns, or ""."""
        return self.endpoint.ids.get("channel_id", "")

    @property
    def counts(self) -> bool:
        """True if the call counts towards Discord's global rate limit."""
        return "webhook_token" not in self.endpoint.ids

    @property
    def kind(self) -> str:
        """Key shared by calls that need the same permissions."""
        fields = self.json if isinstance(self.json, dict) else {}
        is_voice = isinstance(flags := fields.get("flags"), int) and bool(flags & VOICE_MESSAGE)
        extra = [" with files"] * bool(self.files) + [" as a reply"] * ("message_reference" in fields)
        extra += [" as a voice message"] * is_voice
        return f"{self.endpoint.method} {self.endpoint.path}{''.join(extra)}"


def _without_secrets(record: logging.LogRecord) -> bool:
    """Mask interaction addresses: for 15 minutes, whoever has one can answer in the bot's name."""
    if isinstance(record.args, tuple):
        record.args = tuple(_SECRET_ADDRESS.sub(r"\1…", arg) if isinstance(arg, str) else arg for arg in record.args)
    return True


logging.getLogger("discord.http").addFilter(_without_secrets)  # its warnings contain addresses


class Client(discord.Client):
    """One login. The SDK cannot retry a failed login with the same client, so a new one is created."""

    def __init__(self, heard: OnDispatch) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # voice is never used
        super().__init__(
            intents=discord.Intents(**dict.fromkeys(INTENTS, True)),
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_ratelimit_timeout=LONGEST_WAIT,
        )
        self._connection.parsers = {name: partial(heard, name) for name in DISPATCHES}

    def divide(self, shards: int) -> None:
        """Let sessions from now on be those of one of so many shards. One alone is not named to Discord."""
        self._connection.shard_count = shards if shards > 1 else None


class RateLimit:
    """Grants calls in order, at most `CALLS` in any period of `SECONDS`."""

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._made: deque[float] = deque(maxlen=CALLS)
        self._optional: deque[float] = deque(maxlen=OPTIONAL_CALLS)
        self._line = asyncio.Lock()

    def take(self) -> bool:
        """Take an optional call if neither it nor another call has to wait; return True if so."""
        now = self._now()
        if self._line.locked() or _wait(self._made, now) > 0 or _wait(self._optional, now) > 0:
            return False
        self._optional.append(now)
        return True

    async def wait(self) -> None:
        """Wait until a call may be made, and count it."""
        async with self._line:
            if (left := _wait(self._made, self._now())) > 0:
                await self._sleep(left)
            self._made.append(self._now())


def _wait(made: deque[float], now: float) -> float:
    """Return the seconds until another call is allowed."""
    return made[0] + SECONDS - now if len(made) == made.maxlen else 0.0


class Rest:
    """REST client of one bot. Logs in with the first call."""

    def __init__(self, config: Config, heard: OnDispatch) -> None:
        self._token = config.bot_token.get_secret_value()
        self._route = _routes(config.base_url.rstrip("/"))
        self._heard = heard
        self.reach = Reach()
        """Notes each call, and each socket of the connection; a refusal is an answer."""
        self._client: Client | None = None
        self._me: Identity | None = None
        self._opening = asyncio.Lock()
        self._forbidden: dict[str, dict[str, tuple[float, Refused]]] = {}
        """End of the block and the refusal, by channel and kind of call."""
        self._waiting: set[asyncio.Timeout] = set()
        """Calls in progress, including those that wait for a rate limit in the SDK."""
        self._blocked_until = 0.0
        self._rate_limit = RateLimit()
        self._cooldowns = Cooldowns()
        """Rate limits that are longer than the SDK waits for."""
        self._revoked = asyncio.Event()
        self._closed = False

    async def client(self) -> Client:
        """Return the client, logged in. Raises ChannelError."""
        async with self._opening:
            self._check_all()
            if self._client is None:
                self._client = await self._log_in()
            return self._client

    async def me(self) -> Identity:
        """Return the bot's identity. Raises ChannelError."""
        await self.client()
        if self._me is None:
            raise ChannelError("Discord's response does not name the bot")
        return self._me

    async def revoked(self) -> None:
        """Wait until Discord rejects the token, then raise Revoked."""
        await self._revoked.wait()
        raise Revoked

    def revoke(self) -> None:
        """Refuse all calls from now on, including those that wait for a rate limit."""
        self._revoked.set()
        for call in self._waiting:
            call.reschedule(0.0)
        self._waiting.clear()

    def allow(self, channel: str) -> None:
        """Allow forbidden calls in a channel again, after something was received from it."""
        self._forbidden.pop(channel, None)

    async def offer(self, call: Call) -> bool:
        """Make an optional call; return False if it would have to wait or delay others.

        Raises ChannelError.
        """
        client = await self.client()
        self._check(call)
        if not self._rate_limit.take():
            return False
        await self._make(client, call)
        return True

    async def call(self, call: Call) -> JsonValue:
        """Make a call, waiting for the rate limit. Raises ChannelError."""
        client = await self.client()
        self._check(call)
        if call.counts:
            await self._rate_limit.wait()
            self._check(call)
        return await self._make(client, call)

    async def _make(self, client: Client, call: Call) -> JsonValue:
        with self._cooldowns.call(f"{call.kind} {call.place}"):
            route, given = self._request(call)
            try:
                answer = await self._until_revoked(client, route, given)
            except (*_TROUBLE, *_UNREADABLE) as error:
                raise self._error_for(call, error) from error
            except RuntimeError as error:  # of the session, after `close`
                if not self._closed:
                    raise
                raise ChannelError("the channel is closed", ambiguous=True) from error
            self.reach.answered()
            if isinstance(answer, str) and answer:
                raise ChannelError("the response did not come from Discord", ambiguous=True)
            return answer

    async def _until_revoked(self, client: Client, route: Route, given: Mapping[str, Any]) -> JsonValue:
        async with asyncio.timeout(None) as limit:
            self._waiting.add(limit)
            try:
                answer: JsonValue = await client.http.request(route, **given)
                return answer
            finally:
                self._waiting.discard(limit)

    def _request(self, call: Call) -> tuple[Route, dict[str, Any]]:
        """Build the SDK's arguments for a call."""
        route = self._route(call.endpoint.method, call.endpoint.path, **call.endpoint.ids)
        given: dict[str, Any] = {"params": call.query, "timeout": aiohttp.ClientTimeout(total=CALL_SECONDS)}
        if call.files:
            form: list[dict[str, str | io.BufferedIOBase]] = [{"name": "payload_json", "value": json.dumps(call.json)}]
            form += [
                {
                    "name": f"files[{number}]",
                    "value": file.fp,
                    "filename": file.filename,
                    "content_type": "application/octet-stream",
                }
                for number, file in enumerate(call.files)
            ]
            given |= {"files": call.files, "form": form}
        elif call.json is not None:
            given["json"] = call.json
        return route, given

    def _check(self, call: Call) -> None:
        """Raise the refusal that Discord would send, if it is known."""
        self._check_all()
        now = time.monotonic()
        until, refused = self._forbidden.get(call.place, {}).get(call.kind, (0.0, None))
        if refused is not None and now < until:
            raise Refused(refused.reason, refused.code, refused.status)

    def _check_all(self) -> None:
        if self._revoked.is_set():
            raise Revoked
        wait = self._blocked_until - time.monotonic()
        if wait > 0:
            raise ChannelError("Discord blocks this address for a while", retry_after=wait)

    def _error_for(self, call: Call, error: Exception) -> ChannelError:
        if self._revoked.is_set():
            return Revoked()
        self._note(error)
        translated = translate(error, call.needs, edits=call.endpoint.method == "PATCH")
        now = time.monotonic()
        match translated:
            case Revoked():
                self.revoke()
            case Blocked():
                self._blocked_until = max(self._blocked_until, now + (translated.retry_after or 0.0))
                log.error("%s; all calls wait %.0f s", translated.reason, translated.retry_after or 0.0)
            case Refused(status=status) if status == HTTPStatus.FORBIDDEN and call.place:
                if len(self._forbidden) >= MOST_FORBIDDEN:
                    self._forbidden.clear()
                self._forbidden.setdefault(call.place, {})[call.kind] = (now + FORBIDDEN_SECONDS, translated)
        return translated

    def _note(self, error: Exception) -> None:
        if isinstance(error, aiohttp.ClientError | OSError):
            self.reach.failed()
        else:
            self.reach.answered()

    async def _log_in(self) -> Client:
        """Log in. The SDK takes the address from its route class, so that is set first."""
        if self._closed:
            raise ChannelError("the channel is closed")
        Route.BASE = self._route.BASE
        client = Client(self._heard)
        done = False
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                await client.login(self._token)
            self._me = _identity(client)
            self.reach.answered()
            done = True
        except (*_TROUBLE, *_UNREADABLE) as error:
            raise self._error_for(Call(Endpoint("GET", "/users/@me")), error) from error
        finally:
            if not done:
                await client.close()
        return client

    async def close(self) -> None:
        self._closed = True
        async with self._opening:
            if self._client is not None:
                await self._client.close()
                self._client = None


def _identity(client: Client) -> Identity:
    if client.user is None:
        raise ChannelError("Discord's response does not name the bot")
    return Identity(str(client.user.id), client.user.name, str(client.application_id or client.user.id))


def _routes(base_url: str) -> type[Route]:
    """Create a route class for one base address; the SDK's own has a single one for all clients."""

    class Here(Route):
        BASE = base_url

    return Here
