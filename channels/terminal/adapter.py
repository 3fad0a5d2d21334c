"""The terminal channel: one chat with the user at the terminal."""

import asyncio
import os
import sys
import threading
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol, TextIO

import structlog
from prompt_toolkit.output import create_output

from channels.attachments import Attachment
from channels.base import (
    Accepted,
    ChannelError,
    ChatKey,
    Inbox,
    Menu,
    MessageReceived,
    NotTakenIn,
    OutboundMessage,
    Posted,
)
from channels.terminal.attachments import named_files, read_file
from channels.terminal.chat import CHAT, LIMITS, NAME, SENDER, check_chat
from channels.terminal.prompt import Prompt
from channels.terminal.text import abilities, is_live, readable
from channels.text import parse_command, visible

log = structlog.get_logger(__name__)

CHUNK = 64 * 1024
LEAVING = ("exit", "quit")
"""Commands that only the terminal has."""


class Pipe:
    """Reads in a daemon thread, because regular files cannot be polled and a blocking read must not delay the exit."""

    def __init__(self, descriptor: int, output: TextIO) -> None:
        self._descriptor = descriptor
        self._output = output

    async def lines(self) -> AsyncGenerator[str | None, None]:
        """Yield the lines of the input. Bytes that are no UTF-8 are replaced."""
        chunks: asyncio.Queue[bytes] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        descriptor = os.dup(self._descriptor)  # for the thread alone, so that the number is not reused meanwhile
        threading.Thread(target=_read, args=(descriptor, loop, chunks), daemon=True).start()
        rest = b""
        while chunk := await chunks.get():
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace")
        if rest:
            yield rest.decode("utf-8", "replace")

    async def write(self, message: OutboundMessage) -> None:
        self._output.write(f"{readable(message)}\n")
        self._output.flush()

    def live(self, messages: Sequence[OutboundMessage]) -> None:
        """Do nothing; only final messages are written."""


def _read(descriptor: int, loop: asyncio.AbstractEventLoop, chunks: "asyncio.Queue[bytes]") -> None:
    """Pass on chunks until the input or the program ends, then close the descriptor."""
    chunk = b"?"
    with open(descriptor, "rb", buffering=0) as source:
        while chunk:
            try:
                chunk = os.read(source.fileno(), CHUNK)
            except OSError:  # the other side of the terminal is gone
                chunk = b""
            try:
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            except RuntimeError:  # the program ended
                return


class Screen(Protocol):
    """Source of lines and sink for messages."""

    def lines(self) -> AsyncGenerator[str | None, None]:
        """Yield the lines that the user enters; None is a request to stop. Ends at the end of the input."""

    async def write(self, message: OutboundMessage) -> None:
        """Write a final message."""

    def live(self, messages: Sequence[OutboundMessage]) -> None:
        """Show messages in progress, replacing those shown before."""


class TerminalChannel:
    """Implements Channel and Downloads. A message with a stop button is in progress and shown as such; all others are
    final and written."""

    name = NAME
    limits = LIMITS

    def __init__(
        self,
        *,
        idle: Callable[[], Awaitable[None]],
        screen: Screen | None = None,
        output: TextIO | None = None,
        waits_at_end: bool | None = None,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`idle` returns when nothing runs and every answer is delivered; it is awaited at the end of piped input, but
        not when the user leaves an interactive terminal. Without `screen`, one is chosen for standard input
        and `output`, which is standard output if it is not given."""
        output = output or sys.stdout
        interactive = sys.stdin.isatty() and output.isatty()
        self._screen = screen or (
            Prompt(output=create_output(output), abilities=abilities(os.environ))
            if interactive
            else Pipe(sys.stdin.fileno(), output)
        )
        self._waits_at_end = not interactive if waits_at_end is None else waits_at_end
        self._idle = idle
        self._new_id = new_id
        self._now = now
        self._posts: dict[str, Posted] = {}
        self._live: dict[str, OutboundMessage] = {}
        self._asked = False
        self._stopping = False

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        """Run until the user leaves, or until the input ends and everything is answered."""
        async with aclosing(self._screen.lines()) as lines:
            async for line in lines:
                if line is not None and _is_exit(line):
                    break
                if line is not None:
                    await self._try_to_handle(line, inbox)
                elif self._stopping or not (self._asked or self._live):
                    return
                else:
                    self._stopping = True
                    await self._try_to_handle("/stop", inbox)
        if self._waits_at_end:
            await self._idle()

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Write a message, unless its key was already sent in this process."""
        posted = self._posts.get(key)
        if posted is None:
            check_chat(chat)
            posted = self._posts[key] = Posted(chat=chat, message_id=self._new_id(), at=self._now())
            await self._show(posted.message_id, message)
        return posted

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        """Show the changed message. Written text stays, so a changed final message is written again below."""
        check_chat(posted.chat)
        if self._live.get(posted.message_id) != message:
            await self._show(posted.message_id, message)

    async def delete(self, posted: Posted) -> None:
        """Remove a message in progress; written text stays."""
        if self._live.pop(posted.message_id, None) is not None:
            self._screen.live(tuple(self._live.values()))

    async def write(self, message: OutboundMessage) -> None:
        """Write a line of this program itself."""
        await self._screen.write(message)

    async def forget_progress(self) -> None:
        """Remove all messages in progress."""
        self._live.clear()
        self._screen.live(())

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        return (message,)

    def is_group(self, _: ChatKey) -> bool:
        return False

    async def download(self, attachment: Attachment) -> bytes:
        """Return the content of a file that the user named with `@`."""
        return await asyncio.to_thread(read_file, attachment)

    async def close(self) -> None:
        """Do nothing; there are no connections."""

    async def _show(self, message_id: str, message: OutboundMessage) -> None:
        was_live = self._live.pop(message_id, None) is not None
        if is_live(message):
            self._live[message_id] = message
        self._screen.live(tuple(self._live.values()))
        if is_live(message):
            return
        self._asked = self._stopping = False
        if not (was_live and message.silent and self._waits_at_end):  # folded progress is no answer
            try:
                await self._screen.write(message)
            except OSError as error:
                raise ChannelError(f"the terminal is gone: {error.strerror}", permanent=True) from error

    async def _try_to_handle(self, line: str, inbox: Inbox) -> None:
        try:
            await self._handle(line, inbox)
        except NotTakenIn as error:  # the user sees it, and the text is still on the screen
            words = f"This could not be stored ({error}). Fix that, then send it again."
            await self._screen.write(OutboundMessage(markdown=words))

    async def _handle(self, line: str, inbox: Inbox) -> None:
        text = line.rstrip("\r")
        command = parse_command(text, ())
        if not command and not visible(text):
            return
        text, files = (text, ()) if command else named_files(text)
        message_id = self._new_id()
        message = MessageReceived(
            event_id=f"terminal:{message_id}",
            chat=CHAT,
            sender=SENDER,
            at=self._now(),
            text=text,
            message_id=message_id,
            attachments=files,
        )
        if command:
            await inbox(message.as_command(command.name, command.arguments))
            return
        accepted = await inbox(message)
        self._asked = accepted is Accepted.NEW
        log.debug("terminal_message", accepted=accepted.value, chars=len(text))


def _is_exit(line: str) -> bool:
    command = parse_command(line.rstrip("\r"), ())
    return command is not None and command.name in LEAVING
