"""The terminal channel of a running program: any number of terminals join it over a socket in its home."""

import asyncio
import itertools
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path

import structlog
from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import (
    AccountRefused,
    ChatKey,
    CommandInvoked,
    Inbox,
    Menu,
    MessageReceived,
    NotTakenIn,
    OutboundMessage,
    Posted,
)
from channels.tasks import BackgroundTasks
from channels.terminal.attachments import read_file
from channels.terminal.chat import CHAT, LIMITS, NAME, SENDER, check_chat
from channels.terminal.frames import (
    LONGEST,
    BadFrame,
    Frame,
    Hello,
    Remove,
    Said,
    Settle,
    Settled,
    Show,
    Shown,
    Taken,
    bound,
    is_ours,
    line_of,
    read_frame,
)
from channels.terminal.text import is_live

SHOWN_SECONDS = 10.0
"""Time in which a terminal has to show a message; one that is suspended is disconnected and comes back by itself."""
MOST_UNREAD = 4 * LONGEST
"""Bytes that wait for a terminal, at most."""

log = structlog.get_logger(__name__)


class Nobody(AccountRefused):
    """No terminal is open: the message is kept, and shown in the next one."""

    def __init__(self) -> None:
        super().__init__("no terminal is open")


class _Terminal:
    """One terminal that has joined."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def send(self, frame: Frame) -> None:
        self._writer.write(line_of(frame))
        if self._writer.transport.get_write_buffer_size() > MOST_UNREAD:
            self.cut_off()

    def cut_off(self) -> None:
        self._writer.transport.abort()


class JoinedTerminals:
    """Implements Channel, Downloads and Deletes for all terminals that have joined.

    A final message is delivered once one of them has shown it. While none is open it is kept in the outbox.
    """

    name = NAME
    limits = LIMITS.model_copy(update={"keeps_keys": True, "accompanies": True})

    def __init__(
        self,
        file: Path,
        about: Callable[[], Mapping[str, JsonValue]],
        *,
        joined: Callable[[], Coroutine[object, object, None]],
        settled: Callable[[], Awaitable[None]],
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Create the channel without listening.

        Args:
            file: Path of the socket.
            about: Returns what terminals tell their users of the program.
            joined: Delivers what was kept; called when the first terminal has joined.
            settled: Returns when the terminals' chat is at rest.
            new_id: Returns ids of messages.
            now: Clock, in seconds since the epoch.
        """
        self._file = file
        self._about = about
        self._joined = joined
        self._settled = settled
        self._new_id = new_id
        self._now = now
        self._terminals: set[_Terminal] = set()
        self._live: dict[str, Show] = {}
        """Messages in progress by id."""
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[bool]] = {}
        """Final messages that no terminal has shown yet; False once none can."""
        self._background = BackgroundTasks()

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        """Serve terminals until cancelled. Where no socket can be made there are none, and the log says so."""
        try:
            listener = bound(self._file)
        except OSError as error:
            log.warning("terminals cannot join", file=str(self._file), reason=error.strerror)
            await asyncio.Event().wait()
            return

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(reader, writer, inbox)

        server = await asyncio.start_unix_server(serve, sock=listener, limit=LONGEST)
        try:
            await asyncio.Event().wait()
        finally:
            server.close()
            self._file.unlink(missing_ok=True)
            for terminal in set(self._terminals):
                terminal.cut_off()
            await self._background.close()

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Show a message. Raises Nobody if no terminal has shown a final one."""
        check_chat(chat)
        posted = Posted(chat=chat, message_id=self._new_id(), at=self._now())
        await self._show(posted.message_id, key, message)
        return posted

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        """Show the changed message. Raises as `send` does."""
        check_chat(posted.chat)
        await self._show(posted.message_id, posted.message_id, message)

    async def delete(self, posted: Posted) -> None:
        """Remove a message in progress; written text stays."""
        self._live.pop(posted.message_id, None)
        self._tell(Remove(message_id=posted.message_id))

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        return (message,)

    def is_group(self, _: ChatKey) -> bool:
        return False

    async def download(self, attachment: Attachment) -> bytes:
        """Return the content of a file that the user named with `@`."""
        return await asyncio.to_thread(read_file, attachment)

    async def close(self) -> None:
        """Do nothing; `run` closes what it opened."""

    async def _show(self, message_id: str, key: str, message: OutboundMessage) -> None:
        if is_live(message):
            self._live[message_id] = Show(message_id=message_id, key=key, message=message)
            self._tell(self._live[message_id])
            return
        self._live.pop(message_id, None)
        if not self._terminals:
            raise Nobody
        number = next(self._numbers)
        shown = self._waiting[number] = asyncio.get_running_loop().create_future()
        asked = set(self._terminals)
        self._tell(Show(message_id=message_id, key=key, message=message, number=number))
        try:
            async with asyncio.timeout(SHOWN_SECONDS):
                is_shown = await shown
        except TimeoutError:
            is_shown = False
            for terminal in asked:
                terminal.cut_off()
        finally:
            del self._waiting[number]
        if not is_shown:
            raise Nobody

    def _tell(self, frame: Frame) -> None:
        for terminal in tuple(self._terminals):
            terminal.send(frame)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, inbox: Inbox) -> None:
        """Serve one terminal until it leaves."""
        connection = writer.get_extra_info("socket")
        if not is_ours(connection):
            log.warning("a terminal of another user was refused")
            writer.transport.abort()
            return
        terminal = _Terminal(writer)
        terminal.send(Hello(process=os.getpid(), about=dict(self._about())))
        for live in self._live.values():
            terminal.send(live)
        self._terminals.add(terminal)
        if len(self._terminals) == 1:
            self._background.start(self._joined())
        try:
            while (frame := await read_frame(reader)) is not None:
                await self._handle(frame, terminal, inbox)
        except BadFrame as error:
            log.warning("a terminal is disconnected", reason=str(error))
        finally:
            self._terminals.discard(terminal)
            if not self._terminals:
                self._give_up()
            writer.close()

    def _give_up(self) -> None:
        """Keep what is on its way: the last terminal has left."""
        for shown in self._waiting.values():
            if not shown.done():
                shown.set_result(False)

    async def _handle(self, frame: Frame, terminal: _Terminal, inbox: Inbox) -> None:
        match frame:
            case Said(event=event):
                await self._take(event, terminal, inbox)
            case Shown(number=number):
                shown = self._waiting.get(number)
                if shown is not None and not shown.done():
                    shown.set_result(True)
            case Settle():
                self._background.start(self._tell_settled(terminal))
            case _:
                raise BadFrame(f"{frame.type} comes from the program only")

    async def _take(self, event: MessageReceived | CommandInvoked, terminal: _Terminal, inbox: Inbox) -> None:
        if event.chat != CHAT or event.sender != SENDER:
            raise BadFrame("it is of another chat")
        trouble = ""
        try:
            await inbox(event)
        except NotTakenIn as error:
            trouble = str(error)
        terminal.send(Taken(event_id=event.event_id, trouble=trouble))

    async def _tell_settled(self, terminal: _Terminal) -> None:
        await self._settled()
        terminal.send(Settled())
