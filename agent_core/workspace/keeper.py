"""Recording of what tool calls change, so that it can be undone: the protocol and a null implementation."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from agent_core.sandbox.limits import MemoryPool


class Author(Struct, frozen=True):
    """The tool call that makes a change, and the user it is made for."""

    tool: str
    call: str = ""
    person: str | None = None


class Allowance(Struct, frozen=True):
    """Space left for writing; None for no limit."""

    bytes: int | None = None
    files: int | None = None
    pools: tuple[MemoryPool, ...] = ()
    """The memory limits that a program shares with others."""

    @property
    def is_used_up(self) -> bool:
        """Return True if nothing can be written."""
        return self.bytes == 0 or self.files == 0


class Quota(Protocol):
    """Limits on the size of one chat's files. All methods block."""

    def room(self, person: str | None) -> Allowance:
        """Return the space left for a change made for this user."""
        ...

    def grew(self, person: str | None, by: int, files: int) -> None:
        """Record that such a change added this many bytes and files; negative if it removed some."""
        ...


class Boundless:
    """A quota without limits, for agents used as a library."""

    def room(self, person: str | None) -> Allowance:
        return Allowance()

    def grew(self, person: str | None, by: int, files: int) -> None:
        """Do nothing."""


class CannotKeep(Exception):
    """The files cannot be recorded before a change; the text says why, for users and the model."""


class Keeper(Protocol):
    """Records earlier versions of one chat's files and facts. Changes made in one `with` are undone together."""

    def file(self, author: Author, path: str, size: int) -> AbstractContextManager[None]:
        """Record one workspace file before it is replaced by one of `size` bytes. Blocks. Raises CannotKeep."""
        ...

    def everything(self, author: Author) -> AbstractAsyncContextManager[Allowance]:
        """Record the whole workspace before a program runs, which may change any of it; yields the space left. Raises
        CannotKeep."""
        ...

    def facts(self, author: Author, memory: Path, removed: Sequence[str], added: Sequence[str]) -> None:
        """Record lines that are about to be removed from and added to the memory in this folder. Blocks."""
        ...


class KeepsNothing:
    """A keeper that records nothing, for agents used as a library: there is no undo."""

    @contextmanager
    def file(self, author: Author, path: str, size: int) -> Iterator[None]:
        yield

    @asynccontextmanager
    async def everything(self, author: Author) -> AsyncIterator[Allowance]:
        yield Allowance()

    def facts(self, author: Author, memory: Path, removed: Sequence[str], added: Sequence[str]) -> None:
        """Do nothing."""
