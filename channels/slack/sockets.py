"""Two web sockets at the same time, so that Slack may renew one and the other still listens.

Slack sends an event to any one of them. A new socket is greeted before the old one is left; what comes twice is for the
inbox to notice.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from slack_bolt.app.async_app import AsyncApp

from channels.backoff import Backoff
from channels.base import ChannelError
from channels.slack.client import Client
from channels.slack.config import APPS
from channels.slack.socket import SILENT_SECONDS, Socket

log = logging.getLogger(__name__)

SOCKETS = 2
STAGGER_SECONDS = 2.0
"""The second opens this long after the first, so that they are not renewed together."""
CROWDED_SECONDS = 30.0
"""Between tries while the app has as many sockets as Slack allows."""


class Sockets:
    """Keeps them open until cancelled."""

    def __init__(self, client: Client, app: AsyncApp, on_greeted: Callable[[str], None]) -> None:
        """`on_greeted` gets the app id that Slack greets us by."""
        self._client = client
        self._app = app
        self._on_greeted = on_greeted
        self._alive: set[Socket] = set()
        self._listening = asyncio.Event()
        """A socket was greeted after a time with none, and nobody has asked about it yet."""
        self._first = asyncio.Event()
        self._opening = asyncio.Lock()
        self._not_before = 0.0
        self._backoff = Backoff()
        self._leaving: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Raises ChannelError for what a person must put right."""
        keepers = [asyncio.create_task(self._keep(number)) for number in range(SOCKETS)]
        try:
            done, _ = await asyncio.wait(keepers, return_when=asyncio.FIRST_EXCEPTION)
            for keeper in done:
                keeper.result()
        finally:  # each is cancelled once: a second time would break off its closing
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)
            await asyncio.gather(*self._leaving, return_exceptions=True)

    async def gap(self) -> None:
        """See `CatchesUp.gap`."""
        await self._listening.wait()
        self._listening.clear()

    async def _keep(self, number: int) -> None:
        """One of the sockets, and its successors."""
        if number:
            await self._first.wait()
            await asyncio.sleep(STAGGER_SECONDS * number)
        old: Socket | None = None
        try:
            while True:
                new = await self._open()
                if old is not None:
                    self._leave(old)
                old = new
                reason = await new.ended
                log.info("socket %s ends: %s", number, reason or "the connection broke")
                self._ended(new, reason)
                if reason not in ("warning", "refresh_requested"):
                    self._leave(new)
                    old = None
        finally:
            if old is not None:
                self._alive.discard(old)
                await old.close()

    def _ended(self, socket: Socket, reason: str) -> None:
        """Raises ChannelError where Socket Mode is switched off."""
        if reason == "link_disabled":
            raise ChannelError(
                f"Socket Mode is switched off for the app; switch it on at {APPS}, your app, Socket Mode",
                permanent=True,
            )
        if reason == "too_many_websockets":
            log.warning(
                "Slack allows an app ten web sockets and they are all open: does another program run with this"
                " SLACK_APP_TOKEN? Next try in %s s",
                int(CROWDED_SECONDS),
            )
            self._not_before = time.monotonic() + CROWDED_SECONDS
        if reason not in ("warning", "refresh_requested"):
            self._alive.discard(socket)
        if not reason:
            self._look_back()

    def _look_back(self) -> None:
        """A line just found dead may have been so for a while; were the others not there yet, nobody listened."""
        since = time.monotonic() - SILENT_SECONDS
        others = [each for each in self._alive if each.is_open]
        if others and all(each.greeted_at > since for each in others):
            self._listening.set()

    def _leave(self, socket: Socket) -> None:
        self._alive.discard(socket)
        task = asyncio.create_task(socket.retire())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _open(self) -> Socket:
        """A greeted socket. One is opened at a time, and after a failure each waits longer than the last."""
        async with self._opening:
            while True:
                await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
                socket = Socket(self._client, self._app)
                opened = False
                try:
                    await socket.open()
                    opened = True
                except ChannelError as error:
                    self._put_off(error)
                finally:
                    if not opened:
                        await socket.close()
                if opened:
                    self._greeted(socket)
                    return socket

    def _put_off(self, error: ChannelError) -> None:
        if error.permanent:
            raise error
        seconds = self._backoff.seconds(error.retry_after or 0.0)
        self._backoff.failed(f"no socket to Slack: {error.reason}")
        self._not_before = time.monotonic() + seconds

    def _greeted(self, socket: Socket) -> None:
        if socket.ended.done():
            return
        self._backoff.succeeded("a socket to Slack stands again")
        self._on_greeted(socket.app_id)
        self._first.set()
        if not any(each.is_open for each in self._alive):
            self._listening.set()
        self._alive.add(socket)
