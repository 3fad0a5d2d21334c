"""MCP servers as child processes, spoken to on their standard input and output.

The SDK's own transport passes on more of the environment, reads lines of any length, prints the program's standard
error to the terminal, and logs a traceback for every invalid line.
"""

import asyncio
import os
import shutil
import signal
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import anyio
import httpx2
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import MCPError, types
from mcp.shared.message import SessionMessage
from msgspec import Struct

from agent_core.mcp.config import McpServer, plain
from agent_core.tools.web.fetch import ForbiddenAddress

LONGEST_MESSAGE = 32 * 1024**2
"""Bytes."""
MOST_GARBAGE = 1_000
"""Lines in a row on standard output that are no messages; many programs print a greeting."""
LONGEST_LINE = 4_096
"""Bytes of standard error that are logged as one line, even without a line break."""
PATIENCE = ((None, 2.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 2.0))
"""Steps to end a program after closing its input: the signal sent, and the seconds it then has."""

Inbox = MemoryObjectSendStream[SessionMessage | Exception]
Outbox = MemoryObjectReceiveStream[SessionMessage]

log = structlog.get_logger(__name__)
NO_ENTRY = (401, 403)
FAILED = 400
"""HTTP statuses from here on are errors."""


class ServerEnded(Exception):
    """The program has ended or stopped talking; the text says how, for users."""


_TELLING = (ServerEnded, ForbiddenAddress, OSError, httpx2.HTTPError)
"""Errors that say what is wrong, among those of a group."""


class _Talk:
    """The communication with one process."""

    def __init__(self, server: str, process: Process, on_end: Callable[[], None]) -> None:
        self._server = server
        self._process = process
        self._on_end = on_end
        self._last_words = ""
        self.closing = False

    async def hear(self, inbox: Inbox) -> None:
        """Pass on its messages until it ends. Raises ServerEnded, unless it was ended on purpose."""
        garbage = 0
        async with inbox:
            while garbage < MOST_GARBAGE and (line := await self._line()):
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    garbage += bool(line.strip())
                    self._last_words = self._last_words or plain(line[:LONGEST_LINE].decode("utf-8", "replace"), 100)
                    continue
                garbage = 0
                try:
                    await inbox.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # the receiver is gone
            if garbage >= MOST_GARBAGE:
                raise ServerEnded(f"it prints what is not MCP: {self._last_words}")
            if not self.closing:
                raise ServerEnded(await self._how_it_ended())

    async def _line(self) -> bytes:
        """Read one line; empty at the end. Raises ServerEnded if it is too long."""
        if self._process.stdout is None:
            return b""
        try:
            return await self._process.stdout.readline()
        except ValueError:
            raise ServerEnded(f"it sent a message of more than {LONGEST_MESSAGE // 1024**2} MB") from None

    async def say(self, outbox: Outbox) -> None:
        """Write outgoing messages. Raises ServerEnded if the program does not read them."""
        async with outbox:
            async for message in outbox:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                if self._process.stdin is None:
                    return
                try:
                    self._process.stdin.write(f"{text}\n".encode())
                    await self._process.stdin.drain()
                except OSError:
                    if self.closing:
                        return
                    raise ServerEnded(await self._how_it_ended()) from None

    async def log(self) -> None:
        """Log its standard error line by line."""
        rest = b""
        while self._process.stderr and (chunk := await self._process.stderr.read(LONGEST_LINE)):
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) >= LONGEST_LINE:
                lines, rest = [*lines, rest], b""
            for line in filter(bytes.strip, lines):
                self._last_words = plain(line.decode("utf-8", "replace"), 200)
                log.debug("an MCP server says", server=self._server, line=self._last_words)

    async def _how_it_ended(self) -> str:
        self._on_end()
        with anyio.move_on_after(1.0):  # wait for the exit code and the last output
            await _gone(self._process)
            await asyncio.sleep(0)
        code = self._process.returncode
        how = "it closed its output" if code is None else f"it ended with exit code {code}"
        return f"{how}; its last words: {self._last_words}" if self._last_words else how


@asynccontextmanager
async def over_stdio(
    server: str, command: Sequence[str], environ: Mapping[str, str], on_end: Callable[[], None]
) -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
]:
    """Start the program and yield the streams of an SDK transport.

    The program has only this environment, and at the end all its processes are killed. `on_end` is called as soon as it
    is known to have ended. Raises OSError if it cannot be started, and an exception group with ServerEnded if it ends
    by itself.
    """
    starting = asyncio.create_task(_started(command, environ))
    try:
        await asyncio.wait([starting])
    except asyncio.CancelledError:  # a start cancelled half-way leaks pipes, so it is finished first
        await asyncio.wait([starting])
        if starting.exception() is None:
            transport, process = starting.result()
            _tell(process, signal.SIGKILL)
            transport.close()
        raise
    transport, process = starting.result()
    inbox, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    said, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    talk = _Talk(server, process, on_end)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(talk.hear, inbox)
        tasks.start_soon(talk.say, outbox)
        tasks.start_soon(talk.log)
        try:
            yield heard, said
        finally:
            talk.closing = True
            with anyio.CancelScope(shield=True):
                await _end(process)
            transport.close()  # explicit, because unread output would keep the pipe open
            tasks.cancel_scope.cancel()
            heard.close()
            said.close()


async def _started(command: Sequence[str], environ: Mapping[str, str]) -> tuple[asyncio.SubprocessTransport, Process]:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=LONGEST_MESSAGE, loop=loop),
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=dict(environ),
        start_new_session=True,
    )
    return transport, Process(transport, protocol, loop)


async def _end(process: Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    for number, seconds in PATIENCE:
        if number is not None and process.returncode is None:
            _tell(process, number)
        with anyio.move_on_after(seconds):
            await _gone(process)
            break
    _tell(process, signal.SIGKILL)  # kill its child processes, too


def _tell(process: Process, number: signal.Signals) -> None:
    """Send a signal to the program and all processes of its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def _gone(process: Process) -> None:
    while process.returncode is None:  # noqa: ASYNC110 - `process.wait()` also waits for other holders of its pipes
        await asyncio.sleep(0.01)


class Trouble(Struct, frozen=True):
    """A problem with one server and its remedy."""

    fact: str
    fix: str
    asks_sign_in: bool = False


def trouble_of(error: BaseException, server: McpServer, status: int | None = None) -> Trouble:
    """Return the problem behind an error. `status` is that of the last HTTP response, which the SDK may not report."""
    leaves = list(_leaves(error))
    first = next((leaf for leaf in leaves if isinstance(leaf, _TELLING)), leaves[0])
    return _of_command(first, server) if server.command else _of_url(first, server, status)


def _of_command(error: BaseException, server: McpServer) -> Trouble:
    program = server.command[0]
    match error:
        case FileNotFoundError():
            return Trouble(f"there is no program {program}", "install it, or correct its command")
        case PermissionError() if "/" not in program and shutil.which(program, os.F_OK) is None:
            # The system reports a missing program like this, too, if a folder of PATH is not readable.
            return Trouble(f"there is no program {program}", "install it, or correct its command")
        case PermissionError():
            return Trouble(f"{program} may not be run", "make it executable, or correct its command")
        case TimeoutError():
            return Trouble("it started, and does not answer", "is it an MCP server that speaks on standard output?")
        case OSError():
            return Trouble(f"{program} cannot be started ({error.strerror})", "correct its command")
        case _:
            return Trouble(_words(error), f"try it in a terminal: {plain(' '.join(server.command), 100)}")


def _of_url(error: BaseException, server: McpServer, status: int | None) -> Trouble:
    host = urlsplit(server.url or "").netloc
    if status in NO_ENTRY:
        fix = "check its headers: is the token there, and valid?"
        return Trouble(f"{host} refuses us (HTTP {status})", fix, asks_sign_in=status == NO_ENTRY[0])
    if status is not None and status >= FAILED:
        return Trouble(f"{host} answers with HTTP {status}", "check its url: many end in /mcp")
    match error:
        case ForbiddenAddress():
            return Trouble(f"{host} has a private or special address", "give one of the public internet")
        case TimeoutError() | httpx2.TimeoutException():
            return Trouble(f"{host} does not answer in time", "check its url, and whether it runs")
        case httpx2.HTTPError() | OSError():
            return Trouble(f"{host} cannot be reached", "check its url, the network, and whether it runs")
        case _:
            return Trouble(_words(error), "check its url: is it that of an MCP server?")


def _words(error: BaseException) -> str:
    if isinstance(error, ServerEnded | MCPError):
        return plain(str(error)) or "it refuses to talk"
    return f"it does not speak MCP as expected ({type(error).__name__})"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    else:
        yield error
