"""Requests of `parley connect` to the Parley that runs in the same home, over a socket there: one JSON line each."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Literal

import structlog
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from channels.terminal.frames import bound, connected, is_ours
from channels.values import Value
from gateway.connect.program import Met, Program
from gateway.errors import ParleyError

OTHER_VERSION = "The running Parley does not understand this; it is of another version. Restart it, then try again."

log = structlog.get_logger(__name__)


class Pause(Value):
    """The program must not listen on a platform as long as this connection is open."""

    type: Literal["pause"] = "pause"
    platform: str


class Connect(Value):
    """The program reads its settings again and connects a platform."""

    type: Literal["connect"] = "connect"
    platform: str
    owner: Met


class UseModel(Value):
    """The program reads its settings again and uses the model that they name."""

    type: Literal["use_model"] = "use_model"


class Reply(Value):
    """The answer to each request."""

    is_done: bool = True
    trouble: str = ""


_request: TypeAdapter[Pause | Connect | UseModel] = TypeAdapter(
    Annotated[Pause | Connect | UseModel, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)


@asynccontextmanager
async def answering(file: Path, program: Program) -> AsyncIterator[None]:
    """Answer requests while the context is open. Where no socket can be made there are none, and the log says so."""
    try:
        listener = bound(file)
    except OSError as error:
        log.warning("parley connect cannot reach this program", file=str(file), reason=error.strerror)
        yield
        return
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_serve(reader, writer, program))
        serving.add(task)
        task.add_done_callback(serving.discard)

    server = await asyncio.start_unix_server(serve, sock=listener)
    try:
        yield
    finally:
        server.close()
        _remove(file)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


def _remove(file: Path) -> None:
    file.unlink(missing_ok=True)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, program: Program) -> None:
    """Answer one guide until it leaves. What it has paused goes on then."""
    if not is_ours(writer.get_extra_info("socket")):
        log.warning("a request of another user was refused")
        writer.transport.abort()
        return
    try:
        async with AsyncExitStack() as life:
            while line := await reader.readline():
                writer.write(f"{(await _answer(line, program, life)).model_dump_json()}\n".encode())
    except (ConnectionError, ValueError) as error:  # a line that is too long
        log.warning("a guide was disconnected", reason=str(error))
    finally:
        writer.close()


async def _answer(line: bytes, program: Program, life: AsyncExitStack) -> Reply:
    try:
        asked = _request.validate_json(line)
    except ValidationError:
        return Reply(is_done=False, trouble=OTHER_VERSION)
    match asked:
        case Pause(platform=platform):
            await life.enter_async_context(program.paused(platform))
            return Reply()
        case Connect(platform=platform, owner=owner):
            trouble = await program.connect(platform, owner)
            return Reply(is_done=not trouble, trouble=trouble)
        case UseModel():
            return Reply(is_done=await program.use_model())


class RunningParley:
    """Implements `Program` for a guide in a process of its own."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @asynccontextmanager
    async def paused(self, platform: str) -> AsyncIterator[None]:
        """See `Program.paused`. The end of this process ends it, too."""
        async with self._connected() as ask:
            await ask(Pause(platform=platform))
            yield

    async def connect(self, platform: str, owner: Met) -> str:
        """See `Program.connect`."""
        async with self._connected() as ask:
            return (await ask(Connect(platform=platform, owner=owner))).trouble

    async def use_model(self) -> bool:
        """See `Program.use_model`."""
        async with self._connected() as ask:
            return (await ask(UseModel())).is_done

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Callable[[Value], Awaitable[Reply]]]:
        """Connect, and yield what asks. Raises ParleyError if the program has ended."""
        try:
            reader, writer = await connected(self._file)
        except OSError as error:
            raise ParleyError(
                f"The running Parley cannot be reached ({error.strerror}). Start it again, then try again."
            ) from error

        async def ask(request: Value) -> Reply:
            writer.write(f"{request.model_dump_json()}\n".encode())
            line = await reader.readline()
            if not line:
                raise ParleyError("The running Parley has ended. Start it again, then try again.")
            return Reply.model_validate_json(line)

        try:
            yield ask
        finally:
            writer.close()
