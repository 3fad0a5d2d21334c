"""Slack's events by HTTP instead of a web socket: a small server of its own, so that a tunnel to it opens nothing else.

What Slack has not signed is refused before anything of it is read.
"""

import asyncio
import logging
from http import HTTPStatus

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from channels.base import ChannelError
from channels.slack.intake import MALFORMED

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
PATH = "/slack/events"
MAX_BODY = 8 * 1024 * 1024


class Hooks:
    """Listens until cancelled."""

    def __init__(self, app: AsyncApp, signing_secret: str, port: int) -> None:
        """Port 0 is any free one; `port` tells which, once it listens."""
        self.port = port
        self._app = app
        self._verifier = SignatureVerifier(signing_secret)
        self._listening = asyncio.Event()

    async def run(self) -> None:
        """Raises ChannelError where the port is taken."""
        server = web.Application(client_max_size=MAX_BODY)
        server.router.add_post(PATH, self._take)
        runner = web.AppRunner(server, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, self.port).start()
            self.port = runner.addresses[0][1]
            log.info("slack events by HTTP at http://%s:%s%s", HOST, self.port, PATH)
            self._listening.set()
            await asyncio.Event().wait()
        except OSError as error:
            reason = f"port {self.port} is taken ({error.strerror}): set SLACK_PORT to another one"
            raise ChannelError(reason, permanent=True) from error
        finally:
            await runner.cleanup()

    async def gap(self) -> None:
        """Once, after the start: while Parley runs, Slack repeats what did not arrive."""
        await self._listening.wait()
        self._listening.clear()

    async def _take(self, request: web.Request) -> web.Response:
        if not self._is_signed(await request.read(), request):
            log.warning("refused a request that Slack has not signed, or not within five minutes of this clock")
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
        except (ArithmeticError, TypeError, ValueError):  # a time that is none, a body or signature that is no text
            return False
