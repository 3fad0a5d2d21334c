"""The supervised gateway connection of a shard: listens, resumes sessions, and limits how many it starts.

The SDK's own `connect` fails if the connection drops before Discord's hello or a payload is unexpected, waits up to 17
minutes between retries, and starts sessions without limit. Discord resets the token of a bot that starts more than
1,000 a day. The remaining number is asked of Discord before each start, so it is right after a restart too.
"""

import asyncio
import logging
import math
import threading
import time
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

import aiohttp
import yarl
from discord import ConnectionClosed
from discord.gateway import DiscordWebSocket, KeepAliveHandler, ReconnectWebSocket
from discord.http import INTERNAL_API_VERSION
from pydantic import JsonValue

from channels.backoff import Backoff
from channels.base import ChannelError
from channels.discord.client import Call, Client, Endpoint, Rest
from channels.discord.errors import NO_CONTENT_INTENT, Revoked
from channels.discord.wire import GatewayAddress, SessionLimit
from channels.values import parse

log = logging.getLogger(__name__)
# The SDK mistakes answers to our heartbeats for late answers to its own. Real problems are logged here.
logging.getLogger("discord.gateway").setLevel(logging.ERROR)

SILENCE = 20.0
"""Seconds without any dispatch or heartbeat acknowledgement after which the connection counts as dead."""
HELLO_SECONDS = 15.0
GOODBYE_SECONDS = 1.0
RESERVE = 50
"""Session starts per day left over for the person who repairs what used up the others."""
IDENTIFY_EVERY = 5.0
"""Seconds in which Discord allows a bot one session start, or a large bot as many as it says."""
PATIENT_AFTER = 5
"""Number of short sessions in a row after which the interval between starts grows."""
LONGEST_PAUSE = 120.0
"""Longest interval in seconds, at which a whole day stays below 1,000 starts. A session that lasts as long is not
short."""
GATEWAY = "gateway"
"""The way of the socket, which needs another address than calls."""
MOST_UNANSWERED = 3
"""Unanswered resume attempts after which a new session is started."""
INVALID_TOKEN, DISALLOWED_INTENTS = 4004, 4014

Turn = Callable[[float], Awaitable[None]]
"""Waits until no shard of the bot has been given a turn for so many seconds."""
_CONNECTION_LOST = (aiohttp.ClientError, OSError, TimeoutError, RuntimeError, zlib.error)
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)


class TooFewShards(ChannelError):
    """Discord needs the bot to have more shards, as it is in more servers than these may have."""

    def __init__(self, count: int) -> None:
        super().__init__(f"Discord wants more than {count} shards")


class OnSession(Protocol):
    """Reacts to a session that has begun; to one that was resumed if not `is_new`."""

    def __call__(self, *, is_new: bool) -> None: ...


class _Session(NamedTuple):
    """State for resuming a session."""

    id: str
    sequence: int | None
    gateway: yarl.URL | None
    """Address that Discord gave for resuming; None if it failed, as the general address works too."""


class Starts:
    """Schedule for the session starts of a shard. All times are seconds of one clock."""

    def __init__(self) -> None:
        self._begun_at = -math.inf
        self._short = 0
        """Number of short sessions in a row."""

    def due(self, limit: SessionLimit) -> float:
        every = IDENTIFY_EVERY / max(limit.max_concurrency, 1)
        doublings = min(max(self._short - PATIENT_AFTER, 0), 10)
        return self._begun_at + min(every * 2.0**doublings, LONGEST_PAUSE)

    def begun(self, now: float, last_received: float) -> None:
        """Note a session start; `last_received` is the time of the previous session's last dispatch."""
        self._short = 0 if last_received - self._begun_at >= LONGEST_PAUSE else self._short + 1
        self._begun_at = now


class Connection:
    """The gateway connection of one shard of a bot."""

    def __init__(self, rest: Rest, silence: float, *, shard: tuple[int, int]) -> None:
        """`shard` is its number from 0, and how many there are."""
        self._rest = rest
        self._silence = silence
        self._number, self._count = shard
        self._backoff = Backoff()
        self._starts = Starts()
        self._session: _Session | None = None
        self._unanswered = 0
        self._last_received = 0.0
        self._is_connected = False

    @property
    def is_connected(self) -> bool:
        """True from the start or resumption of a session until the connection is lost."""
        return self._is_connected

    async def run(self, on_session: OnSession, turn: Turn) -> None:
        """Run until cancelled. Raises a permanent ChannelError if a person must act, and TooFewShards.

        After the start of a new session, messages since the last one are not dispatched any more.
        """
        while True:
            try:
                await self._listen(on_session, turn)
            except ChannelError as error:
                if isinstance(error, Revoked):
                    self._rest.revoke()
                if error.permanent or isinstance(error, TooFewShards):
                    raise
                self._backoff.failed(f"no connection to Discord: {error.reason}")
                await self._backoff.wait(error.retry_after or 0.0)

    async def _listen(self, on_session: OnSession, turn: Turn) -> None:
        """Run one socket until it breaks. Raises ChannelError, except if Discord just asks for a new connection."""
        client = await self._rest.client()
        if self._unanswered >= MOST_UNANSWERED:
            self._session, self._unanswered = None, 0
        session = self._session
        socket = await self._open(client, await self._gateway_url(session, turn), session)
        if session is None:
            self._starts.begun(time.monotonic(), self._last_received)
        else:
            self._unanswered += 1
        event = "READY" if session is None else "RESUMED"
        # within the dispatch, so that the gap is known before what follows is handled
        begun = socket.wait_for(event, lambda _: True, lambda _: self._begun(on_session, event))
        try:
            await self._watch(socket)
        except ReconnectWebSocket as again:
            log.info("discord asks to %s", again.op.lower())
            self._session = self._session if again.resume else None
            if again.resume:
                await self._backoff.wait()
        finally:
            self._is_connected = False
            begun.cancel()

    def _begun(self, on_session: OnSession, event: str) -> None:
        self._backoff.succeeded("connected to Discord again")
        self._unanswered = 0
        self._is_connected = True
        log.info("discord %s shard=%d/%d", event.lower(), self._number, self._count)
        on_session(is_new=event == "READY")

    async def _gateway_url(self, session: _Session | None, turn: Turn) -> yarl.URL:
        """Return the address to connect to. Raises ChannelError."""
        if session is None:
            return await self._new_session_url(turn)
        if session.gateway is None:
            return yarl.URL((await gateway_of(self._rest)).url)
        self._session = session._replace(gateway=None)
        return session.gateway

    async def _new_session_url(self, turn: Turn) -> yarl.URL:
        """Return the address for a new session. Raises ChannelError if too few session starts are left."""
        about = await gateway_of(self._rest)
        limit = about.session_start_limit
        if limit.remaining <= RESERVE:
            seconds = limit.reset_after / 1000
            log.error(
                "Parley has connected to Discord too often today: with %d starts left before Discord revokes the token,"
                " it waits %.0f minutes. Find out why it was started so often",
                limit.remaining,
                seconds / 60,
            )
            raise ChannelError("too few session starts are left today", retry_after=seconds)
        await asyncio.sleep(self._starts.due(limit) - time.monotonic())
        await turn(IDENTIFY_EVERY / max(limit.max_concurrency, 1))
        return yarl.URL(about.url)

    async def _open(self, client: Client, gateway: yarl.URL, session: _Session | None) -> DiscordWebSocket:
        """Open a socket and identify or resume."""
        opened = False
        client.divide(self._count)
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                socket = await DiscordWebSocket.from_client(
                    client,
                    initial=True,
                    gateway=gateway,
                    shard_id=self._number,
                    session=session.id if session else None,
                    sequence=session.sequence if session else None,
                    resume=session is not None,
                )
            opened = True
            self._rest.reach.answered(GATEWAY)
        except ReconnectWebSocket as error:
            self._rest.reach.failed(GATEWAY)
            raise ChannelError("the gateway closed the connection before its hello") from error
        except ConnectionClosed as closed:
            raise self._close_error(closed) from closed
        except (*_CONNECTION_LOST, *_UNREADABLE) as error:
            self._rest.reach.failed(GATEWAY)
            raise ChannelError(f"the gateway cannot be reached: {error or type(error).__name__}") from error
        finally:
            if not opened:
                _stop_heartbeat_threads(client)
        return socket

    async def _watch(self, socket: DiscordWebSocket) -> None:
        """Read from the socket while monitoring that it is alive. Raises ReconnectWebSocket or ChannelError.

        The line is dead if a heartbeat goes unanswered, not if the program itself was suspended for a while.
        """
        self._last_received = asked_at = time.monotonic()
        reading = asyncio.create_task(self._read(socket))
        code = 4000
        try:
            while not reading.done():
                await asyncio.wait([reading], timeout=self._silence / 4)
                now = time.monotonic()
                quiet, was_asked = now - self._last_received, asked_at > self._last_received
                if was_asked and quiet > self._silence and now - asked_at > self._silence / 4:
                    raise ChannelError(f"Discord has been silent for {quiet:.0f} s")
                if quiet > self._silence / 2:
                    asked_at = asked_at if was_asked else now
                    await _send_heartbeat(socket)
            await reading
        except asyncio.CancelledError:
            code, self._session = 1000, None  # which ends the session
            raise
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await _close(socket, code)

    def _close_error(self, closed: ConnectionClosed) -> ChannelError:
        """Return the error for a close code after which the SDK would not reconnect."""
        match closed.code:
            case 4004:
                return Revoked()
            case 4011:
                return TooFewShards(self._count)
            case 4014:
                return ChannelError(NO_CONTENT_INTENT, permanent=True)
            case 4010 | 4012 | 4013:
                return ChannelError(
                    f"Discord does not accept the connection: {closed.code} {closed.reason}", permanent=True
                )
            case _:
                return ChannelError(f"Discord closed the connection: {closed.code}")

    async def _read(self, socket: DiscordWebSocket) -> None:
        while True:
            try:
                await socket.poll_event()
            except ConnectionClosed as closed:
                raise self._close_error(closed) from closed
            except _CONNECTION_LOST as error:
                raise ChannelError(f"the connection broke: {error or type(error).__name__}") from error
            except _UNREADABLE as error:
                log.warning("malformed event: %s: %s", type(error).__name__, error)
            self._last_received = time.monotonic()
            if socket.session_id:
                self._session = _Session(socket.session_id, socket.sequence, socket.gateway)


async def gateway_of(rest: Rest) -> GatewayAddress:
    """Return the address of the gateway, and what Discord says about sessions. Raises ChannelError."""
    about = parse(GatewayAddress, await rest.call(Call(Endpoint("GET", "/gateway/bot"))))
    if about is None:
        raise ChannelError("Discord's response does not name its gateway")
    return about


async def try_gateway(rest: Rest) -> None:
    """Make a call that changes nothing, and open a socket without a session if that way has failed."""
    with suppress(ChannelError):
        address = yarl.URL((await gateway_of(rest)).url).with_query(v=INTERNAL_API_VERSION, encoding="json")
        if rest.reach.is_failing(GATEWAY):
            await _greeted(rest, await rest.client(), str(address))


async def _greeted(rest: Rest, client: Client, address: str) -> None:
    """Open a socket, and close it after its hello."""
    try:
        async with asyncio.timeout(HELLO_SECONDS), await client.http.ws_connect(address) as socket:
            if (await socket.receive()).type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                rest.reach.answered(GATEWAY)
    except _CONNECTION_LOST as error:
        log.debug("the gateway cannot be reached: %s", error)


async def _send_heartbeat(socket: DiscordWebSocket) -> None:
    beat: JsonValue = {"op": DiscordWebSocket.HEARTBEAT, "d": socket.sequence}
    try:
        await socket.send_heartbeat(beat)
    except (ConnectionClosed, *_CONNECTION_LOST) as error:
        log.debug("no heartbeat: %s", error)  # the reader gets the reason


async def _close(socket: DiscordWebSocket, code: int) -> None:
    """Close the socket and stop the SDK's heartbeat thread; on a dead connection, closing fails or times out."""
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await socket.close(code)
    except _CONNECTION_LOST as error:
        log.debug("no goodbye: %s", error)


def _stop_heartbeat_threads(client: Client) -> None:
    """Stop the SDK's heartbeat threads of sockets that broke before they were identified."""
    for thread in threading.enumerate():
        if isinstance(thread, KeepAliveHandler) and thread.ws.token == client.http.token:
            thread.stop()
