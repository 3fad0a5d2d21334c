"""Two concurrent web sockets, so that one still listens while Slack renews the other.

Slack sends an event to any one of them. A new socket is ready before the old one is closed; the inbox removes
duplicates.
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
"""Delay of the second socket, so that the two are not renewed together."""
CROWDED_SECONDS = 30.0
"""Interval between tries while the app has as many sockets as Slack allows."""


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
        self._leaving: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Run until cancelled. Raises ChannelError for a problem that a person must repair."""
        keepers = [asyncio.create_task(self._keep(number)) for number in range(SOCKETS)]
        try:
            done, _ = await asyncio.wait(keepers, return_when=asyncio.FIRST_EXCEPTION)
            for keeper in done:
                keeper.result()
        finally:  # each is cancelled only once: a second cancellation would interrupt its closing
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)
            await asyncio.gather(*self._leaving, return_exceptions=True)

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
        """Handle the end of a socket. Raises ChannelError if Socket Mode is switched off."""
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
        """Report a gap if events may have been lost: a dead connection is noticed late, and the other one may be too
        young to have received its events."""
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
        self._first.set()
        if not any(each.is_open for each in self._alive):
            self._listening.set()
        self._alive.add(socket)
