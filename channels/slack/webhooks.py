"""Slack's events over HTTP instead of a web socket.

The server is separate from the web page's, so that a tunnel to it exposes nothing else. Requests without Slack's
signature are refused before they are parsed.
"""

import asyncio
import logging
from http import HTTPStatus

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from channels.base import ChannelError
from channels.slack.inbound import MALFORMED

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
PATH = "/slack/events"
MAX_BODY = 8 * 1024 * 1024


class Webhooks:
    """HTTP server for Slack's events."""

    def __init__(self, app: AsyncApp, signing_secret: str, port: int) -> None:
        """`port` 0 takes any free port; `self.port` is the real one once the server listens."""
        self.port = port
        self._app = app
        self._verifier = SignatureVerifier(signing_secret)
        self._listening = asyncio.Event()
        self._serves = False

    @property
    def is_connected(self) -> bool:
        """True once the server listens; whether Slack reaches it cannot be known."""
        return self._serves

    async def run(self) -> None:
        """Serve until cancelled. Raises ChannelError if the port is taken."""
        server = web.Application(client_max_size=MAX_BODY)
        server.router.add_post(PATH, self._take)
        runner = web.AppRunner(server, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, self.port).start()
            self.port = runner.addresses[0][1]
            log.info("listening for Slack events at http://%s:%s%s", HOST, self.port, PATH)
            self._listening.set()
            self._serves = True
            await asyncio.Event().wait()
        except OSError as error:
            reason = f"port {self.port} is taken ({error.strerror}): set SLACK_PORT to another one"
            raise ChannelError(reason, permanent=True) from error
        finally:
            self._serves = False
            await runner.cleanup()

    async def gap(self) -> None:
        """Return once, after the start: while Parley runs, Slack repeats undelivered events by itself."""
        await self._listening.wait()
        self._listening.clear()

    async def _take(self, request: web.Request) -> web.Response:
        if not self._is_signed(await request.read(), request):
            log.warning("rejected a request without a valid Slack signature from the last five minutes")
            return web.Response(status=HTTPStatus.UNAUTHORIZED)
        try:
            asked = await to_bolt_request(request)
        except MALFORMED:
            log.warning("malformed request")
            return web.Response(status=HTTPStatus.BAD_REQUEST)
        return await to_aiohttp_response(await self._app.async_dispatch(asked))

    def _is_signed(self, body: bytes, request: web.Request) -> bool:
        try:
            return self._verifier.is_valid(
                body,
                request.headers.get("X-Slack-Request-Timestamp"),
                request.headers.get("X-Slack-Signature"),
            )
        except (ArithmeticError, TypeError, ValueError):  # the header or body is malformed
            return False
