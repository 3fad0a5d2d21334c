"""One web socket of Socket Mode: the SDK's client, which here opens one connection, keeps to it, and never reconnects.

The SDK's own reconnecting closes the old connection before it has a new one, tries without end, and leaves whatever
waits on the old one unanswered. Here who holds the sockets opens a new one first (see `sockets`).
"""

import asyncio
import json
import logging
from time import monotonic, time

import aiohttp
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from channels.base import ChannelError
from channels.slack.client import Client, sdk_log
from channels.slack.intake import MALFORMED

log = logging.getLogger(__name__)

PING_SECONDS = 5.0
SILENT_SECONDS = 1.5 * PING_SECONDS + 1
"""A line that answers no ping is given up within this time."""
OPEN_SECONDS = 10.0
CLOSE_SECONDS = 1.0
DRAIN_SECONDS = 3.0
"""Slack waits as long for an acknowledgement."""


class Socket(SocketModeClient):
    """`ended` is done when Slack tells it to go (with Slack's reason) or the line is dead (with an empty one)."""

    def __init__(self, client: Client, app: AsyncApp) -> None:
        super().__init__(
            app_token="",
            logger=sdk_log,
            web_client=client.web,
            auto_reconnect_enabled=False,
            ping_interval=PING_SECONDS,
        )
        self.app_id = ""
        self.greeted_at = 0.0
        """`time.monotonic`."""
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._client = client
        self._app = app
        self._handling: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Return when Slack has greeted us, or has told us to go at once. Raises ChannelError."""
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
            raise ChannelError("Slack did not greet the web socket in time")

    @property
    def is_open(self) -> bool:
        return self.current_session is not None and not self.current_session.closed

    async def receive_messages(self) -> None:
        """Until the line is dead, which the SDK's own loop waits out without a word."""
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
        """Close it, once what it brought is acknowledged."""
        if self._handling:
            await asyncio.wait(self._handling, timeout=DRAIN_SECONDS)
        await self.close()

    async def close(self) -> None:
        """At once; what is not acknowledged comes again elsewhere."""
        self._end("")
        for task in self._handling:
            task.cancel()
        await super().close()  # type: ignore[no-untyped-call]
        background = (self.message_receiver, self.message_processor, *self._handling)
        await asyncio.gather(*(task for task in background if task is not None), return_exceptions=True)

    async def enqueue_message(self, message: str) -> None:
        """Straight to its handling: the SDK's queue would start each in a task that nothing holds on to."""
        try:
            frame = json.loads(message)
        except ValueError:
            log.warning("malformed frame chars=%s", len(message))
            return
        kind = frame.get("type") if isinstance(frame, dict) else None
        if kind == "hello":
            self._greet(frame.get("connection_info"))
        elif kind == "disconnect":
            self._end(str(frame.get("reason") or "unknown"))
        elif kind is not None:
            self._handle(frame)

    def _greet(self, about: object) -> None:
        if isinstance(about, dict):
            self.app_id = str(about.get("app_id") or "")
        if not self._greeted.done():
            self.greeted_at = monotonic()
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
        started = time()
        try:
            asked = AsyncBoltRequest(mode="socket_mode", body=request.payload, headers=build_headers(request))
        except MALFORMED:  # it looks at once for who said what where
            log.warning("malformed payload type=%s", request.type)
            response = BoltResponse(status=200, body="")
        else:
            response = await self._app.async_dispatch(asked)
        try:
            await send_async_response(self, request, response, started)
        except (ConnectionError, aiohttp.ClientError):
            log.info("not acknowledged, the socket is gone; Slack sends it again")
