"""A running program as a terminal that has joined it sees it: a connection that comes back by itself."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from pydantic import JsonValue

from channels.base import (
    Accepted,
    ChannelError,
    CommandInvoked,
    InboundEvent,
    MessageReceived,
    NotTakenIn,
    OutboundMessage,
    Posted,
)
from channels.terminal.adapter import TerminalChannel
from channels.terminal.chat import CHAT
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
    connected,
    line_of,
    read_frame,
)

AGAIN_SECONDS = 0.2
"""Time between two attempts to connect."""
PATIENCE = 3.0
"""Time without a connection after which the user is told."""
GONE = "Parley does not run at the moment. What you write is sent when it is back."
BACK = "Parley was restarted, and this terminal is connected again."
RECONNECTED = "This terminal is connected again."

STRANGE = "This terminal and the running Parley are of different versions: restart that Parley, then this."

Connected = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RunningProgram:
    """The connection of one terminal. What the user writes is kept until the program has stored it."""

    def __init__(self, file: Path, first: Connected, say: Callable[[str], Awaitable[None]]) -> None:
        """`first` is the open connection; `say` shows a line to the user."""
        self._file = file
        self._next: Connected | None = first
        self._say = say
        self._writer: asyncio.StreamWriter | None = None
        self._unsent: dict[str, Said] = {}
        """What is not stored yet, by event id, in order."""
        self._settled: asyncio.Future[None] | None = None
        self._process = 0
        self._about: asyncio.Future[Mapping[str, JsonValue]] = asyncio.get_running_loop().create_future()
        self._all_taken = asyncio.Event()
        self._known: dict[str, tuple[Posted, OutboundMessage]] = {}
        """Messages that are shown here, by the program's ids."""

    async def about(self) -> Mapping[str, JsonValue]:
        """Return what the program tells of itself."""
        return await asyncio.shield(self._about)

    async def accept(self, event: InboundEvent) -> Accepted:
        """Send what the user wrote, now or when the program is back. Raises NotTakenIn if it is too long."""
        if not isinstance(event, MessageReceived | CommandInvoked):
            raise TypeError(f"a terminal sends no {event.type}")
        said = Said(event=event)
        if len(line_of(said)) > LONGEST // 2:
            raise NotTakenIn(f"it is longer than {LONGEST // 2**21} MB")
        self._unsent[event.event_id] = said
        self._send(said)
        return Accepted.NEW

    async def settled(self) -> None:
        """Wait until the program has stored and answered everything."""
        while self._unsent:
            self._all_taken.clear()
            await self._all_taken.wait()
        self._settled = asyncio.get_running_loop().create_future()
        self._send(Settle())
        await self._settled

    async def run(self, terminal: TerminalChannel) -> None:
        """Show in the terminal what the program sends, until cancelled.

        Raises ChannelError if it is a program of another version.
        """
        while True:
            reader, self._writer = self._next or await self._reconnected()
            self._next = None
            try:
                await self._listen(reader, terminal)
            except BadFrame as error:
                raise ChannelError(STRANGE, permanent=True) from error
            finally:
                self._writer.close()
                self._writer = None

    async def _reconnected(self) -> Connected:
        waited, told = 0.0, False
        while True:
            await asyncio.sleep(AGAIN_SECONDS)
            waited += AGAIN_SECONDS
            try:
                return await connected(self._file)
            except OSError:
                if waited >= PATIENCE and not told:
                    told = True
                    await self._say(GONE)

    async def _listen(self, reader: asyncio.StreamReader, terminal: TerminalChannel) -> None:
        """Handle frames until the connection ends."""
        while (frame := await read_frame(reader)) is not None:
            match frame:
                case Hello():
                    await self._greet(frame, terminal)
                case Taken():
                    await self._taken(frame)
                case Show():
                    await self._show(frame, terminal)
                case Remove(message_id=message_id) if message_id in self._known:
                    await terminal.delete(self._known.pop(message_id)[0])
                case Settled() if self._settled is not None and not self._settled.done():
                    self._settled.set_result(None)
                case _:
                    pass

    async def _greet(self, hello: Hello, terminal: TerminalChannel) -> None:
        """Send what is not stored yet. Messages in progress come again, if they still are."""
        if self._about.done():
            await terminal.forget_progress()
            await self._say(RECONNECTED if hello.process == self._process else BACK)
        else:
            self._about.set_result(hello.about)
        self._process = hello.process
        for said in self._unsent.values():
            self._send(said)
        if self._settled is not None:
            self._send(Settle())

    async def _taken(self, taken: Taken) -> None:
        if self._unsent.pop(taken.event_id, None) is not None and taken.trouble:
            await self._say(f"This could not be stored ({taken.trouble}). Fix that, then send it again.")
        if not self._unsent:
            self._all_taken.set()

    async def _show(self, show: Show, terminal: TerminalChannel) -> None:
        posted, shown = self._known.get(show.message_id, (None, None))
        if posted is None:
            posted = await terminal.send(CHAT, show.message, show.key)
        elif shown != show.message:
            await terminal.edit(posted, show.message)
        self._known[show.message_id] = posted, show.message
        if show.number:
            self._send(Shown(number=show.number))

    def _send(self, frame: Frame) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(line_of(frame))
