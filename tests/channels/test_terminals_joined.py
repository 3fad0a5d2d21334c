"""The socket by which terminals join: who may use it, and what happens to lines and messages on the way."""

import asyncio
import io
import os
import stat
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from channels.base import Accepted, ChannelError, InboundEvent, Menu, MessageReceived, NotTakenIn, OutboundMessage
from channels.terminal import joined
from channels.terminal.adapter import Pipe, TerminalChannel
from channels.terminal.chat import CHAT, SENDER
from channels.terminal.frames import (
    FILE,
    Frame,
    Hello,
    Said,
    Show,
    Shown,
    Taken,
    bound,
    connected,
    line_of,
    read_frame,
)
from channels.terminal.joined import JoinedTerminals, Nobody
from channels.terminal.program import RunningProgram
from tests.process import REPOSITORY, until

pytestmark = pytest.mark.both_loops

HI = OutboundMessage(markdown="hi")


@dataclass
class Server:
    """A program that terminals can join."""

    folder: Path
    heard: list[InboundEvent] = field(default_factory=list)
    joined: int = 0
    trouble: str = ""

    def __post_init__(self) -> None:
        self.channel = JoinedTerminals(self.file, lambda: {"model": "small"}, joined=self._note, settled=self._rest)

    @property
    def file(self) -> Path:
        return self.folder / FILE

    async def _note(self) -> None:
        self.joined += 1

    async def _rest(self) -> None:
        """Return at once."""

    async def _inbox(self, event: InboundEvent) -> Accepted:
        if self.trouble:
            raise NotTakenIn(self.trouble)
        self.heard.append(event)
        return Accepted.NEW

    @asynccontextmanager
    async def runs(self) -> AsyncIterator[JoinedTerminals]:
        running = asyncio.create_task(self.channel.run(self._inbox, Menu()))
        await until(self.file.exists)
        try:
            yield self.channel
        finally:
            running.cancel()
            await asyncio.wait([running])


class Client:
    """A terminal as the program sees it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def next(self) -> Frame | None:
        async with asyncio.timeout(30):
            return await read_frame(self.reader)

    def send(self, frame: Frame) -> None:
        self.writer.write(line_of(frame))


@asynccontextmanager
async def client(server: Server) -> AsyncIterator[Client]:
    made = Client(*await connected(server.file))
    assert isinstance(await made.next(), Hello)
    try:
        yield made
    finally:
        made.writer.close()


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def said(text: str, **how: object) -> Said:
    event = MessageReceived(
        event_id=f"terminal:{uuid.uuid4().hex}", chat=CHAT, sender=SENDER, at=1.0, text=text, message_id="1"
    )
    return Said(event=event.model_copy(update=how))


async def test_only_its_owner_can_reach_the_socket_and_it_goes_with_the_program(server: Server) -> None:
    async with server.runs():
        assert stat.S_IMODE(server.file.stat().st_mode) == 0o600
    assert not server.file.exists()


@pytest.mark.skipif(os.geteuid() != 0 or not sys.platform.startswith("linux"), reason="needs a second user")
async def test_another_user_is_refused_even_where_the_file_lets_them_in() -> None:
    program = (
        "import os, socket\n"
        "from channels.terminal.frames import is_ours\n"
        "ours, _ = socket.socketpair()\n"
        "os.seteuid(65534)\n"
        "theirs, _ = socket.socketpair()\n"
        "os.seteuid(0)\n"
        "print(is_ours(ours), is_ours(theirs))\n"
    )
    asked = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=-1, cwd=REPOSITORY)
    assert (await asked.communicate())[0] == b"True False\n"


async def test_a_home_with_a_long_name_has_a_socket_too(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 20) / ("name" * 20)
    folder.mkdir(parents=True)
    server = Server(folder)
    async with server.runs(), client(server) as terminal:
        terminal.send(said("hello"))
        assert isinstance(await terminal.next(), Taken)


async def test_what_cannot_be_stored_is_told_to_the_terminal(server: Server) -> None:
    server.trouble = "the disk is full"
    async with server.runs(), client(server) as terminal:
        hello = said("hello")
        terminal.send(hello)
        assert await terminal.next() == Taken(event_id=hello.event.event_id, trouble="the disk is full")


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b'{"type": "said"}\n',
        line_of(Taken(event_id="1")),
        line_of(said("I am somebody else", sender=SENDER.model_copy(update={"id": "other"}))),
        line_of(said("elsewhere", chat=CHAT.model_copy(update={"chat": "other"}))),
    ],
    ids=["no JSON", "no frame", "a frame of the program", "another sender", "another chat"],
)
async def test_who_does_not_speak_as_a_terminal_does_is_disconnected(server: Server, line: bytes) -> None:
    async with server.runs(), client(server) as terminal:
        terminal.writer.write(line)
        assert await terminal.next() is None
    assert server.heard == []


async def test_a_message_is_kept_until_a_terminal_has_shown_it(server: Server) -> None:
    async with server.runs() as channel:
        with pytest.raises(Nobody):
            await channel.send(CHAT, HI, "one")
        async with client(server) as terminal:
            await until(lambda: server.joined == 1)
            sending = asyncio.create_task(channel.send(CHAT, HI, "two"))
            show = await terminal.next()
            assert isinstance(show, Show)
            assert (show.message, sending.done()) == (HI, False)
            terminal.send(Shown(number=show.number))
            assert (await sending).message_id == show.message_id


async def test_a_terminal_that_dies_before_it_has_shown_a_message_leaves_it_to_the_next(server: Server) -> None:
    async with server.runs() as channel:
        async with client(server) as terminal:
            sending = asyncio.create_task(channel.send(CHAT, HI, "one"))
            await terminal.next()
        with pytest.raises(Nobody):
            await sending


async def test_a_terminal_that_is_suspended_holds_nothing_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "SHOWN_SECONDS", 0.05)
    async with server.runs() as channel, client(server) as terminal:
        with pytest.raises(Nobody):
            await channel.send(CHAT, HI, "one")
        assert isinstance(await terminal.next(), Show)
        assert await terminal.next() is None


async def test_a_program_of_another_version_is_a_sentence(tmp_path: Path) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'{"type": "hello", "process": 1, "about": {}, "news": true}\n')
        writer.close()

    server = await asyncio.start_unix_server(greet, sock=bound(tmp_path / FILE))
    async with server:
        program = RunningProgram(tmp_path / FILE, await connected(tmp_path / FILE), say=_say)
        with pytest.raises(ChannelError, match="of different versions"):
            await program.run(TerminalChannel(idle=_idle, screen=Pipe(0, io.StringIO())))


async def _say(_: str) -> None:
    """Show nothing."""


async def _idle() -> None:
    """Return at once."""
