"""Waits for the first private message to an account, through the platform's own channel."""

import asyncio
from collections.abc import Callable
from typing import NoReturn

from channels.base import (
    Accepted,
    Channel,
    ChannelError,
    CommandInvoked,
    InboundEvent,
    Menu,
    MessageReceived,
    NotTakenIn,
    OutboundMessage,
)
from channels.capabilities import KnowsConnection
from gateway.connect.program import Met
from gateway.errors import ParleyError
from gateway.security.masked_channel import MaskedChannel
from gateway.security.secrets import Secrets

OLDEST = 120.0
"""Seconds before the start from which a message still counts: the clocks of this machine and the platform differ."""
WITHIN = 30.0
"""Seconds for a connection."""
LOOK_EVERY = 0.05
_KEY = "connect:hello"


class Listener:
    """Runs a channel while the context is open, and takes the private messages that people write to it."""

    def __init__(self, channel: Channel, secrets: Secrets, now: Callable[[], float], *, keeps_others: bool) -> None:
        """`keeps_others` leaves all other messages to the program that listens afterwards."""
        self._channel = channel
        self._masked_channel = MaskedChannel(channel, secrets)
        self._since = now() - OLDEST
        self._keeps_others = keeps_others
        self._people: asyncio.Queue[Met] = asyncio.Queue()
        self._running: asyncio.Task[None] | None = None
        self._refused: set[str] = set()
        """People who are not the awaited one."""

    async def __aenter__(self) -> "Listener":
        self._running = asyncio.create_task(self._channel.run(self._hear, Menu()), name=f"guide {self._channel.name}")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        await self._channel.close()

    async def connected(self) -> None:
        """Wait until the platform delivers messages. Raises ParleyError if it does not."""
        try:
            async with asyncio.timeout(WITHIN):
                while not self._is_connected:
                    if self._running is None or self._running.done():
                        self._fail()
                    await asyncio.sleep(LOOK_EVERY)
        except TimeoutError:
            raise ParleyError(f"There was no connection within {WITHIN:g} s; check the network.") from None

    async def met(self) -> Met:
        """Wait for the next person who writes. Raises ParleyError if the connection has ended for good."""
        if self._running is None:
            self._fail()
        getting = asyncio.create_task(self._people.get())
        try:
            await asyncio.wait([getting, self._running], return_when=asyncio.FIRST_COMPLETED)
            return getting.result() if getting.done() else self._fail()
        finally:
            getting.cancel()

    @property
    def _is_connected(self) -> bool:
        return self._channel.is_connected if isinstance(self._channel, KnowsConnection) else True

    def _fail(self) -> NoReturn:
        """Raise ParleyError with the reason why the channel does not run."""
        error = self._running.exception() if self._running is not None else None
        if error is not None and not isinstance(error, ChannelError):
            raise error
        raise ParleyError(error.reason if error is not None else "The connection has ended.") from error

    def refuse(self, person: Met) -> None:
        """Ask no more about somebody."""
        self._refused.add(person.principal)

    async def greet(self, person: Met, text: str) -> str:
        """Write to somebody in their private chat. Returns the reason if that has failed, else ""."""
        try:
            await self._masked_channel.post(person.chat, OutboundMessage(markdown=text), _KEY)
        except ChannelError as error:
            return error.reason
        return ""

    async def _hear(self, event: InboundEvent) -> Accepted:
        if not isinstance(event, MessageReceived | CommandInvoked) or not self._is_awaited(event):
            if self._keeps_others:
                raise NotTakenIn("a guide waits for somebody else")
            return Accepted.IGNORED
        chat = event.chat.without_thread
        account = f"{chat.account}:" if self._channel.limits.ids_per_workspace else ""
        principal, language = f"{chat.platform}:{account}{event.sender.id}", event.sender.language or ""
        word = event.arguments.strip() if isinstance(event, CommandInvoked) and event.name == "start" else ""
        if principal not in self._refused:
            name = event.sender.name
            self._people.put_nowait(Met(principal=principal, name=name, chat=chat, language=language, word=word))
        return Accepted.NEW

    def _is_awaited(self, event: MessageReceived | CommandInvoked) -> bool:
        is_old = event.at < self._since
        return not (event.sender.is_bot or is_old or self._channel.is_group(event.chat))
