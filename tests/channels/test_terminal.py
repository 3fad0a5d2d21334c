"""The terminal as a pipe and as a screen: input arrives, and only final text is written."""

import asyncio
import io
import os
import pty
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from channels.base import (
    Accepted,
    Button,
    Channel,
    ChannelError,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    Menu,
    MessageReceived,
    NotTakenIn,
    OutboundMessage,
)
from channels.commands import CommandSpec
from channels.terminal.adapter import Pipe, TerminalChannel
from channels.terminal.chat import CHAT
from channels.terminal.prompt import Prompt
from channels.terminal.text import Abilities, safe
from tests.process import REPOSITORY

STOP = ((Button(label="Stop", action="/stop"),),)
COMMANDS = (CommandSpec(name="stop", description={"en": "stop"}),)


def text(markdown: str) -> OutboundMessage:
    return OutboundMessage(markdown=markdown)


def live(markdown: str) -> OutboundMessage:
    return OutboundMessage(markdown=markdown, buttons=STOP)


async def at_once() -> None:
    """Return at once, as if no run were active."""


@dataclass
class Piped:
    """A channel that reads what `type` writes into a pipe."""

    heard: list[InboundEvent] = field(default_factory=list)
    output: io.StringIO = field(default_factory=io.StringIO)
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._read, self._write = os.pipe()
        self.channel = TerminalChannel(idle=self._idle, screen=Pipe(self._read, self.output), waits_at_end=True)

    async def _idle(self) -> None:
        await self.idle.wait()

    async def inbox(self, event: InboundEvent) -> Accepted:
        self.heard.append(event)
        self.arrived.set()
        return Accepted.NEW

    def type(self, content: bytes) -> None:
        os.write(self._write, content)

    def end(self) -> None:
        os.close(self._write)

    def close(self) -> None:
        os.close(self._read)

    @property
    def texts(self) -> list[str]:
        return [event.text for event in self.heard if isinstance(event, MessageReceived)]


@pytest.fixture
async def piped() -> AsyncIterator[Piped]:
    one = Piped()
    yield one
    one.close()


def test_it_satisfies_the_contract() -> None:
    channel: Channel = TerminalChannel(idle=at_once, screen=Pipe(0, io.StringIO()), waits_at_end=True)

    assert channel.split(text("a" * 100_000)) == (text("a" * 100_000),)
    assert not channel.is_group(CHAT)


# As a pipe


async def test_words_that_cannot_be_kept_are_given_back_in_a_sentence_and_the_chat_goes_on(piped: Piped) -> None:
    async def full(event: InboundEvent) -> Accepted:
        await piped.inbox(event)
        if len(piped.heard) == 1:
            raise NotTakenIn("database or disk is full")
        return Accepted.NEW

    piped.type(b"one\ntwo\n")
    piped.end()
    piped.idle.set()

    await piped.channel.run(full, Menu(COMMANDS))

    assert piped.texts == ["one", "two"]
    assert "could not be stored (database or disk is full)" in piped.output.getvalue()


async def test_each_line_of_a_pipe_is_a_message_and_a_slash_a_command(piped: Piped) -> None:
    piped.type("one\n\n  \r\ntwo 你好\r\n/stop now\n/usr/bin\nlast".encode())
    piped.end()
    piped.idle.set()

    await piped.channel.run(piped.inbox, Menu(COMMANDS))

    assert piped.texts == ["one", "two 你好", "/usr/bin", "last"]
    command = piped.heard[2]
    assert isinstance(command, CommandInvoked)
    assert (command.name, command.arguments, command.sender.id) == ("stop", "now", "local")
    assert len({event.event_id for event in piped.heard}) == 5


@pytest.mark.parametrize("words", ["/exit", "/quit", " /EXIT  "])
async def test_exit_and_quit_leave_once_all_is_answered(piped: Piped, words: str) -> None:
    piped.type(f"one\n{words}\ntwo\n".encode())
    running = asyncio.create_task(piped.channel.run(piped.inbox, Menu(COMMANDS)))
    await piped.arrived.wait()
    assert not running.done()
    piped.idle.set()
    async with asyncio.timeout(30):
        await running

    assert piped.texts == ["one"]
    piped.end()


async def test_bytes_that_are_no_utf_8_are_replaced(piped: Piped) -> None:
    piped.type(b"caf\xe9 \xff\n")
    piped.end()
    piped.idle.set()

    await piped.channel.run(piped.inbox, Menu(COMMANDS))

    assert piped.texts == ["caf\ufffd \ufffd"]


async def test_at_the_end_of_the_input_it_waits_for_the_last_answer(piped: Piped) -> None:
    piped.type(b"hello\n")
    piped.end()
    running = asyncio.create_task(piped.channel.run(piped.inbox, Menu(COMMANDS)))
    await piped.arrived.wait()

    await piped.channel.send(CHAT, text("hello yourself"), "1")
    assert not running.done()
    piped.idle.set()
    await running

    assert piped.output.getvalue() == "hello yourself\n"


async def test_of_a_progress_only_the_end_is_written(piped: Piped) -> None:
    posted = await piped.channel.send(CHAT, live("… clock"), "1")
    await piped.channel.edit(posted, live("✓ clock"))
    await piped.channel.edit(posted, text("It is noon."))
    again = await piped.channel.send(CHAT, live("… clock"), "2")
    await piped.channel.edit(again, OutboundMessage(markdown="1 tool, 12 s", silent=True))
    piped.end()

    assert piped.output.getvalue() == "It is noon.\n"


async def test_a_send_that_is_tried_again_is_written_once(piped: Piped) -> None:
    assert await piped.channel.send(CHAT, text("hi"), "1") == await piped.channel.send(CHAT, text("hi"), "1")
    piped.end()

    assert piped.output.getvalue() == "hi\n"


async def test_no_other_chat_is_known(piped: Piped) -> None:
    piped.end()
    with pytest.raises(ChannelError, match="no chat"):
        await piped.channel.send(ChatKey(platform="terminal", account="local", chat="other"), text("hi"), "1")


async def test_a_reader_that_left_is_a_channel_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    output = os.fdopen(writer, "w")
    channel = TerminalChannel(idle=at_once, screen=Pipe(0, output), waits_at_end=True)

    with pytest.raises(ChannelError, match="the terminal is gone"):
        await channel.send(CHAT, text("hi"), "1")

    with pytest.raises(BrokenPipeError):
        output.close()


# On a screen


class Screen:
    """The program on its own pseudo-terminal.

    `shown` is everything it has drawn so far, without the control sequences.
    """

    def __init__(self, descriptor: int, program: asyncio.subprocess.Process) -> None:
        self.drawn = b""
        self.program = program
        self._descriptor = descriptor
        self._changed = asyncio.Event()
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    @property
    def shown(self) -> str:
        return safe(self.drawn.decode(errors="replace"))

    @property
    def is_ready(self) -> bool:
        """True if the program reads keys, which it shows by enabling bracketed paste."""
        return self.drawn.rfind(b"\x1b[?2004h") > self.drawn.rfind(b"\x1b[?2004l")

    def type(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    async def until(self, words: str) -> None:
        """Wait until the words are on the screen and the program reads keys again."""
        try:
            async with asyncio.timeout(30):
                while words not in self.shown or not self.is_ready:
                    await self._changed.wait()
                    self._changed.clear()
        except TimeoutError:
            raise TimeoutError(f"no {words!r}; the screen reads {self.shown!r}") from None

    async def left(self) -> int:
        async with asyncio.timeout(30):
            return await self.program.wait()

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)

    def _read(self) -> None:
        try:
            self.drawn += os.read(self._descriptor, 65536)
        except OSError:  # the program has exited
            asyncio.get_running_loop().remove_reader(self._descriptor)
        self._changed.set()


@asynccontextmanager
async def on_a_screen(**environ: str) -> AsyncIterator[Screen]:
    ours, theirs = pty.openpty()
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.channels.echo_terminal",
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=REPOSITORY,
        env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **environ},
        start_new_session=True,
    )
    os.close(theirs)
    screen = Screen(ours, program)
    try:
        await screen.until("›")
        yield screen
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
        screen.close()


async def test_on_a_screen_what_is_typed_is_answered_and_ctrl_d_leaves() -> None:
    async with on_a_screen() as screen:
        screen.type("hello\r")
        await screen.until("You said: hello")
        screen.type("again\r")
        await screen.until("You said: again")
        screen.type("\x04")
        assert await screen.left() == 0

    assert b"owned" not in screen.drawn


async def test_on_a_screen_markdown_is_drawn() -> None:
    async with on_a_screen(NO_COLOR="") as screen:
        screen.type("so **bold**\r")
        await screen.until("You said: so bold")

    assert b"\x1b[1mbold\x1b[0m" in screen.drawn
    assert b"owned" not in screen.drawn


async def test_who_wants_plain_text_gets_it() -> None:
    async with on_a_screen(NO_COLOR="1") as screen:
        screen.type("so **bold**\r")
        await screen.until("You said: so **bold**")

    assert b"owned" not in screen.drawn


async def test_where_nothing_can_be_imported_any_more_messages_are_plain_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "channels.terminal.render", None)
    written = io.StringIO()
    with create_pipe_input() as keys:
        output = Vt100_Output(written, lambda: Size(24, 80))
        prompt = Prompt(keys, output, abilities=Abilities("256", links=True))
        prompt.live([live("… clock")])
        await prompt.write(text("It is **noon**."))

    assert written.getvalue().endswith("It is **noon**.\r\n")


async def test_exit_leaves_a_screen() -> None:
    async with on_a_screen() as screen:
        screen.type("/exit\r")
        assert await screen.left() == 0


async def test_ctrl_c_stops_what_runs_and_then_leaves() -> None:
    async with on_a_screen() as screen:
        screen.type("slow\r")
        await screen.until("… step one")
        screen.type("\x03")
        await screen.until("Command: stop")
        screen.type("still here\r")
        await screen.until("You said: still here")


async def test_ctrl_c_leaves_where_nothing_runs() -> None:
    async with on_a_screen() as screen:
        screen.type("\x03")
        assert await screen.left() == 0


async def test_one_can_type_while_progress_is_shown() -> None:
    async with on_a_screen() as screen:
        screen.type("slow\r")
        await screen.until("… step one")
        screen.type("/stop\r")
        await screen.until("Command: stop")
