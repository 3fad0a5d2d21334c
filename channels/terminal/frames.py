"""The lines that a terminal and the running program exchange: one JSON object each.

A terminal sends `Said`, `Shown` and `Settle`. The program answers with `Taken` and `Settled`, and sends `Hello`, `Show`
and `Remove`.
"""

import asyncio
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from channels.base import CommandInvoked, MessageReceived, OutboundMessage
from channels.values import Value

FILE = "terminal.sock"
LONGEST = 16 * 1024 * 1024
"""Bytes of a line."""
_LONGEST_PATH = 100
"""Bytes of a socket's address; the kernels allow 104 to 108."""


class Said(Value):
    """A message of the user. It is sent again, with the same id, until it is taken."""

    type: Literal["said"] = "said"
    event: MessageReceived | CommandInvoked


class Taken(Value):
    """The program has stored what the user wrote, or refuses it for a reason."""

    type: Literal["taken"] = "taken"
    event_id: str
    trouble: str = ""


class Hello(Value):
    """The first line of the program."""

    type: Literal["hello"] = "hello"
    process: int
    """Its process id."""
    about: dict[str, JsonValue] = Field(default_factory=dict)


class Show(Value):
    """A message, new or changed."""

    type: Literal["show"] = "show"
    message_id: str
    key: str
    message: OutboundMessage
    number: int = 0
    """To be repeated in `Shown`; 0 for a message in progress."""


class Shown(Value):
    """The message is on the screen."""

    type: Literal["shown"] = "shown"
    number: int


class Remove(Value):
    """A message in progress is over."""

    type: Literal["remove"] = "remove"
    message_id: str


class Settle(Value):
    """No more input will come; the terminal leaves once all is answered."""

    type: Literal["settle"] = "settle"


class Settled(Value):
    """All is answered."""

    type: Literal["settled"] = "settled"


Frame = Annotated[Said | Taken | Hello | Show | Shown | Remove | Settle | Settled, Field(discriminator="type")]
_frame: TypeAdapter[Frame] = TypeAdapter(Frame, config=ConfigDict(defer_build=True))


class BadFrame(Exception):
    """The other side sent something else than a frame."""


def line_of(frame: Frame) -> bytes:
    return frame.model_dump_json().encode() + b"\n"


async def read_frame(reader: asyncio.StreamReader) -> Frame | None:
    """Return the next frame; None at the end of the connection. Raises BadFrame."""
    try:
        line = await reader.readuntil()
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except asyncio.LimitOverrunError as error:
        raise BadFrame("the line is too long") from error
    try:
        return _frame.validate_json(line)
    except ValidationError as error:
        raise BadFrame(f"{error.error_count()} errors") from error


def bound(path: Path) -> socket.socket:
    """Return a socket bound to the path, which only its owner can connect to. Raises OSError.

    An old file there is removed: the caller holds the lock of the folder.
    """
    path.unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | getattr(socket, "SOCK_CLOEXEC", 0))
    try:
        with _Address(path) as address:
            made.bind(address)
        path.chmod(0o600)
        made.setblocking(False)  # noqa: FBT003 - their signature
    except OSError:
        made.close()
        raise
    return made


async def connected(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the program that listens there. Raises OSError if there is none or it belongs to another user."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | getattr(socket, "SOCK_CLOEXEC", 0))
    try:
        with _Address(path) as address:
            made.connect(address)
        if not is_ours(made):
            raise PermissionError(f"{path} belongs to another user")
        return await asyncio.open_unix_connection(sock=made, limit=LONGEST)
    except OSError:
        made.close()
        raise


def is_ours(connection: socket.socket) -> bool:
    """Return True if the process at the other end runs as this user or as root.

    Where the system does not tell, the socket's mode has to do.
    """
    if not sys.platform.startswith("linux"):
        return True
    _, user, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    )
    return user in (os.geteuid(), 0)


class _Address:
    """The address of a socket while the context is open. One that is too long is reached through an open folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = -1

    def __enter__(self) -> str:
        if len(os.fsencode(self._path)) <= _LONGEST_PATH or not sys.platform.startswith("linux"):
            return str(self._path)
        self._folder = os.open(self._path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._folder}/{self._path.name}"

    def __exit__(self, *_: object) -> None:
        if self._folder >= 0:
            os.close(self._folder)
