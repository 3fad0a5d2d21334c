"""Discord's REST API through the SDK's HTTP client, which knows Discord's limits; every failure is a ChannelError.

Discord bans an address after 10,000 answers 401, 403 or 429 in ten minutes. So a refused token ends all calls at once,
and what was forbidden is not tried again for a while.
"""

import asyncio
import io
import json
import logging
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import NamedTuple

import aiohttp
import discord
from discord.http import Route
from pydantic import JsonValue

from channels.base import ChannelError
from channels.discord.client import Client, Heard
from channels.discord.config import Config
from channels.discord.content import Identity
from channels.discord.errors import Blocked, Refused, Revoked, translate
from channels.discord.pace import Pace

log = logging.getLogger(__name__)

FORBIDDEN_SECONDS = 600.0
MOST_FORBIDDEN = 10_000
LOGIN_SECONDS = 10.0
CALL_SECONDS = 30.0
"""For one try; the SDK makes up to five where Discord has trouble, with up to 16 s between."""
_FAILURES = (
    discord.DiscordException,
    aiohttp.ClientError,
    OSError,
    RuntimeError,
    LookupError,
    TypeError,
    ValueError,
)
"""The last three where an answer is not what the SDK takes it for, such as JSON that is none."""


class Endpoint(NamedTuple):
    """Where a call goes: `path` with names in braces, whose ids stand in `ids`. The SDK's rules of pace go by both."""

    method: str
    path: str
    ids: Mapping[str, str] = MappingProxyType({})


class Call(NamedTuple):
    """One call: what is sent along, and which permissions it needs."""

    endpoint: Endpoint
    json: JsonValue = None
    query: Mapping[str, str] | None = None
    files: Sequence[discord.File] = ()
    lacking: str = ""

    @property
    def place(self) -> str:
        """The channel that the call is about; empty where it is about none."""
        return self.endpoint.ids.get("channel_id", "")

    @property
    def counts(self) -> bool:
        """Whether it is one of the calls that Discord counts together."""
        return "webhook_token" not in self.endpoint.ids

    @property
    def kind(self) -> str:
        return f"{self.endpoint.method} {self.endpoint.path}{' with files' if self.files else ''}"


class Rest:
    """One bot. Logs in when something is first asked."""

    def __init__(self, config: Config, heard: Heard) -> None:
        self._token = config.bot_token.get_secret_value()
        self._route = _routes(config.base_url.rstrip("/"))
        self._heard = heard
        self._client: Client | None = None
        self._me: Identity | None = None
        self._opening = asyncio.Lock()
        self._forbidden: dict[str, dict[str, tuple[float, Refused]]] = {}
        """By channel and kind of call: until when, and why."""
        self._waiting: set[asyncio.Timeout] = set()
        """Calls that are under way, many of which the SDK makes wait for their turn."""
        self._blocked_until = 0.0
        self._pace = Pace()
        self._revoked = asyncio.Event()
        self._closed = False

    async def client(self) -> Client:
        """Logged in. Raises ChannelError."""
        async with self._opening:
            self._check_all()
            if self._client is None:
                self._client = await self._log_in()
            return self._client

    async def me(self) -> Identity:
        """Who we are. Raises ChannelError."""
        await self.client()
        if self._me is None:
            raise ChannelError("Discord does not say who the bot is")
        return self._me

    async def revoked(self) -> None:
        """Raise Revoked as soon as Discord has refused the token."""
        await self._revoked.wait()
        raise Revoked

    def revoke(self) -> None:
        """No call from now on; those that wait for their turn are not made."""
        self._revoked.set()
        for call in self._waiting:
            call.reschedule(0.0)
        self._waiting.clear()

    def allow(self, channel: str) -> None:
        """Something was heard from there, so that what was forbidden may be tried again."""
        self._forbidden.pop(channel, None)

    @property
    def is_crowded(self) -> bool:
        """Whether calls wait for Discord's pace, so that what matters less is left out."""
        return self._pace.is_full

    async def call(self, call: Call) -> JsonValue:
        """Raises ChannelError."""
        client = await self.client()
        self._check(call)
        if call.counts:
            await self._pace.wait()
            self._check(call)
        try:
            return await self._until_revoked(client, call)
        except _FAILURES as error:
            raise self._meaning(call, error) from error

    async def _until_revoked(self, client: Client, call: Call) -> JsonValue:
        async with asyncio.timeout(None) as limit:
            self._waiting.add(limit)
            try:
                return await self._request(client, call)
            finally:
                self._waiting.discard(limit)

    async def _request(self, client: Client, call: Call) -> JsonValue:
        timeout = aiohttp.ClientTimeout(total=CALL_SECONDS)
        route = self._route(call.endpoint.method, call.endpoint.path, **call.endpoint.ids)
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
            answer = await client.http.request(route, files=call.files, form=form, params=call.query, timeout=timeout)
        elif call.json is not None:
            answer = await client.http.request(route, json=call.json, params=call.query, timeout=timeout)
        else:
            answer = await client.http.request(route, params=call.query, timeout=timeout)
        result: JsonValue = answer
        return result

    def _check(self, call: Call) -> None:
        """Raises what Discord would answer, where that is known."""
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

    def _meaning(self, call: Call, error: Exception) -> ChannelError:
        if self._revoked.is_set():
            return Revoked()
        meaning = translate(error, call.lacking, edits=call.endpoint.method == "PATCH")
        now = time.monotonic()
        match meaning:
            case Revoked():
                self.revoke()
            case Blocked():
                self._blocked_until = max(self._blocked_until, now + (meaning.retry_after or 0.0))
                log.error("%s; all calls wait %.0f s", meaning.reason, meaning.retry_after or 0.0)
            case Refused(status=status) if status == HTTPStatus.FORBIDDEN and call.place:
                if len(self._forbidden) >= MOST_FORBIDDEN:
                    self._forbidden.clear()
                self._forbidden.setdefault(call.place, {})[call.kind] = (now + FORBIDDEN_SECONDS, meaning)
        return meaning

    async def _log_in(self) -> Client:
        """The SDK logs in at the address that its class of routes has."""
        if self._closed:
            raise ChannelError("the channel is closed")
        Route.BASE = self._route.BASE
        client = Client(self._heard)
        done = False
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                await client.login(self._token)
            self._me = _identity(client)
            done = True
        except _FAILURES as error:
            raise self._meaning(Call(Endpoint("GET", "/users/@me")), error) from error
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
        raise ValueError("no user")
    return Identity(str(client.user.id), client.user.name, str(client.application_id or client.user.id))


def _routes(base_url: str) -> type[Route]:
    """Routes to one Discord; those of the SDK itself all go to the same."""

    class Here(Route):
        BASE = base_url

    return Here
