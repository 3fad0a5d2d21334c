"""Socket Mode: two concurrent web sockets, so that one still listens while Slack renews the other."""

import asyncio
import json
import logging
import time
from collections.abc import Callable

import aiohttp
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from channels.backoff import Backoff
from channels.base import ChannelError
from channels.slack.client import Client, sdk_log
from channels.slack.config import APPS
from channels.slack.inbound import MALFORMED
from channels.tasks import until_one_ends

log = logging.getLogger(__name__)

PING_SECONDS = 5.0
SILENT_SECONDS = 1.5 * PING_SECONDS + 1
"""Time after which a connection that answers no ping is given up."""
OPEN_SECONDS = 10.0
CLOSE_SECONDS = 1.0
DRAIN_SECONDS = 3.0
"""Slack waits this long for an acknowledgement."""
SOCKETS = 2
STAGGER_SECONDS = 2.0
"""Delay of the second socket, so that the two are not renewed together."""
CROWDED_SECONDS = 30.0
"""Interval between tries while the app has as many sockets as Slack allows."""


class Socket(SocketModeClient):
    """One connection. `ended` is done with Slack's reason when Slack closes it, or "" when the connection is dead."""

    def __init__(self, client: Client, app: AsyncApp, on_greeted: Callable[[str], None]) -> None:
        """`on_greeted` gets the app id that Slack greets us by, before anything that comes after the greeting."""
        super().__init__(
            app_token="",
            logger=sdk_log,
            web_client=client.web,
            auto_reconnect_enabled=False,
            ping_interval=PING_SECONDS,
        )
        self.greeted_at = 0.0
        """Time by `time.monotonic`."""
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._client = client
        self._on_greeted = on_greeted
        self._app = app
        self._handling: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Connect and wait for Slack's hello, or for its request to disconnect. Raises ChannelError."""
        address = await self._client.connection_address()
        try:
            self.current_session = await self.aiohttp_client_session.ws_connect(
                address,
                heartbeat=PING_SECONDS,
                timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
                proxy=self.proxy,
                max_msg_size=0,
            )
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ChannelError(f"no web socket to Slack ({type(error).__name__})") from error
        self.message_receiver = asyncio.ensure_future(self.receive_messages())
        await asyncio.wait((self._greeted, self.ended), timeout=OPEN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not self._greeted.done() and not self.ended.done():
            raise ChannelError("Slack sent no hello on the web socket in time")

    @property
    def is_open(self) -> bool:
        return self.current_session is not None and not self.current_session.closed

    async def receive_messages(self) -> None:
        """Receive until the connection is dead; the SDK's own loop would go on waiting silently."""
        session = self.current_session
        try:
            while session is not None:
                message = await session.receive()
                if message.type is not aiohttp.WSMsgType.TEXT:
                    break
                await self.enqueue_message(message.data)
        finally:
            self._end("")

    async def retire(self) -> None:
        """Close the connection once everything it delivered is acknowledged."""
        if self._handling:
            await asyncio.wait(self._handling, timeout=DRAIN_SECONDS)
        await self.close()

    async def close(self) -> None:
        """Close the connection at once; Slack redelivers what is not acknowledged on another one."""
        self._end("")
        for task in self._handling:
            task.cancel()
        await super().close()  # type: ignore[no-untyped-call]
        background = (self.message_receiver, self.message_processor, *self._handling)
        await asyncio.gather(*(task for task in background if task is not None), return_exceptions=True)

    async def enqueue_message(self, message: str) -> None:
        """Handle a frame directly: the SDK's queue would start each handler in a task without a reference to it."""
        try:
            frame = json.loads(message)
        except ValueError:
            log.warning("malformed frame chars=%s", len(message))
            return
        kind = frame.get("type") if isinstance(frame, dict) else None
        if kind == "hello":
            self._on_hello(frame.get("connection_info"))
        elif kind == "disconnect":
            self._end(str(frame.get("reason") or "unknown"))
        elif kind is not None:
            self._handle(frame)

    def _on_hello(self, about: object) -> None:
        if isinstance(about, dict):
            self._on_greeted(str(about.get("app_id") or ""))
        if not self._greeted.done():
            self.greeted_at = time.monotonic()
            self._greeted.set_result(None)

    def _end(self, reason: str) -> None:
        if not self.ended.done():
            self.ended.set_result(reason)

    def _handle(self, frame: dict[str, object]) -> None:
        payload = frame.get("payload")
        request = SocketModeRequest.from_dict(frame) if isinstance(payload, dict) else None
        if request is None:
            log.warning("malformed envelope type=%s", frame.get("type"))
            return
        task = asyncio.create_task(self._answer(request))
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)

    async def _answer(self, request: SocketModeRequest) -> None:
        started = time.time()
        try:
            asked = AsyncBoltRequest(mode="socket_mode", body=request.payload, headers=build_headers(request))
        except MALFORMED:  # the SDK reads user and channel from the payload at once
            log.warning("malformed payload type=%s", request.type)
            response = BoltResponse(status=200, body="")
        else:
            response = await self._app.async_dispatch(asked)
        try:
            await send_async_response(self, request, response, started)
        except (ConnectionError, aiohttp.ClientError):
            log.info("not acknowledged because the socket closed; Slack will send it again")


class Sockets:
    """Keeps the sockets open until cancelled."""

    def __init__(self, client: Client, app: AsyncApp, on_greeted: Callable[[str], None]) -> None:
        """`on_greeted` receives the app id from Slack's hello."""
        self._client = client
        self._app = app
        self._on_greeted = on_greeted
        self._alive: set[Socket] = set()
        self._listening = asyncio.Event()
        """Set when events may have been missed; `gap` waits for it and clears it."""
        self._first = asyncio.Event()
        self._opening = asyncio.Lock()
        self._not_before = 0.0
        self._backoff = Backoff()
        self._retiring: set[asyncio.Task[None]] = set()

    @property
    def is_connected(self) -> bool:
        return any(each.is_open for each in self._alive)

    async def run(self) -> None:
        """Run until cancelled. Raises ChannelError for a problem that a person must repair."""
        try:
            await until_one_ends(*(self._keep(number) for number in range(SOCKETS)))
        finally:
            await asyncio.gather(*self._retiring, return_exceptions=True)

    async def gap(self) -> None:
        """See `CatchesUp.gap`."""
        await self._listening.wait()
        self._listening.clear()

    async def _keep(self, number: int) -> None:
        """Keep one socket open, replacing it when it ends."""
        if number:
            await self._first.wait()
            await asyncio.sleep(STAGGER_SECONDS * number)
        old: Socket | None = None
        try:
            while True:
                new = await self._open()
                if old is not None:
                    self._retire(old)
                old = new
                reason = await new.ended
                log.info("socket %s ends: %s", number, reason or "the connection broke")
                self._ended(new, reason)
                if reason not in ("warning", "refresh_requested"):
                    self._retire(new)
                    old = None
        finally:
            if old is not None:
                self._alive.discard(old)
                await old.close()

    def _ended(self, socket: Socket, reason: str) -> None:
        """Handle the end of a socket. Raises ChannelError if Socket Mode is switched off."""
        if reason == "link_disabled":
            raise ChannelError(
                f"Socket Mode is off; turn it on at {APPS}, your app, Socket Mode",
                permanent=True,
            )
        if reason == "too_many_websockets":
            log.warning(
                "Slack allows ten web sockets per app, and all are in use: is another program running with this"
                " SLACK_APP_TOKEN? Next try in %s s",
                int(CROWDED_SECONDS),
            )
            self._not_before = time.monotonic() + CROWDED_SECONDS
        if reason not in ("warning", "refresh_requested"):
            self._alive.discard(socket)
        if not reason:
            self._report_gap()

    def _report_gap(self) -> None:
        """Report a gap if events may have been lost: a dead connection is noticed late, and the other one may be too
        young to have received its events."""
        since = time.monotonic() - SILENT_SECONDS
        others = [each for each in self._alive if each.is_open]
        if others and all(each.greeted_at > since for each in others):
            self._listening.set()

    def _retire(self, socket: Socket) -> None:
        self._alive.discard(socket)
        task = asyncio.create_task(socket.retire())
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _open(self) -> Socket:
        """Open a socket. Only one is opened at a time, and the wait grows after each failure."""
        async with self._opening:
            while True:
                await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
                socket = Socket(self._client, self._app, self._on_greeted)
                opened = False
                try:
                    await socket.open()
                    opened = True
                except ChannelError as error:
                    self._delay_next(error)
                finally:
                    if not opened:
                        await socket.close()
                if opened:
                    self._opened(socket)
                    return socket

    def _delay_next(self, error: ChannelError) -> None:
        if error.permanent:
            raise error
        seconds = self._backoff.seconds(error.retry_after or 0.0)
        self._backoff.failed(f"no connection to Slack: {error.reason}")
        self._not_before = time.monotonic() + seconds

    def _opened(self, socket: Socket) -> None:
        if socket.ended.done():
            return
        self._backoff.succeeded("connected to Slack again")
        self._first.set()
        if not any(each.is_open for each in self._alive):
            self._listening.set()
        self._alive.add(socket)
