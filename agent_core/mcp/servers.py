"""The tools of all configured MCP servers.

The SDK is an optional extra and takes a second to import, so it is imported in a thread, only if servers are
configured, and never during start-up.
"""

import asyncio
import importlib
import logging
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Protocol, cast

import structlog
from msgspec import Struct

from agent_core.clock import SystemClock
from agent_core.mcp.access import Access
from agent_core.mcp.config import McpServer
from agent_core.mcp.left_out import LeftOut
from agent_core.supervise import supervise
from agent_core.tools.tool import Tool

PACKAGE = "mcp>=2.3,<3"
"""The requirement of the extra `mcp`."""
CONNECTION = "agent_core.mcp.connection"
LEAVING = 6.0
"""Seconds; a program that does not end takes five."""
_LOGGERS = ("mcp", "client", "httpx2")
"""Loggers of the SDK, silenced because it logs a traceback for every error of a server; Parley logs one line."""

See = Callable[[str, Sequence[Tool], Sequence[LeftOut]], None]
"""Called with a server's name, its tools before they are offered, and those that cannot be."""

log = structlog.get_logger(__name__)


def _unseen(_: str, __: Sequence[Tool], ___: Sequence[LeftOut]) -> None: ...


class Trouble(Protocol):
    """A problem with a server, and what to do about it."""

    @property
    def fact(self) -> str:
        """Return the problem."""

    @property
    def fix(self) -> str:
        """Return what to do."""

    @property
    def asks_sign_in(self) -> bool:
        """Return True if it wants to know who asks."""


class _Connection(Protocol):
    name: str
    tools: Sequence[Tool]
    left_out: Sequence[LeftOut]
    tried: asyncio.Event

    @property
    def trouble(self) -> Trouble | None: ...
    def leave(self) -> None: ...
    def retry(self) -> None: ...
    async def run(self) -> None: ...
    async def look(self, within: float) -> Trouble | None: ...


class _Connecting(Protocol):
    """The module of connections, which is imported late."""

    def Connection(  # noqa: N802 - the name of its class
        self,
        name: str,
        server: McpServer,
        environ: Mapping[str, str],
        taken: Collection[str],
        see: See,
        *,
        access: Access | None,
    ) -> _Connection: ...


@dataclass(frozen=True)
class Reached:
    """A server that is to be connected, and how."""

    name: str
    server: McpServer
    see: See = field(compare=False)
    access: Access | None = field(default=None, compare=False)
    """None for a server of the settings, which may have any address."""
    is_signed_in: bool = False
    """True if somebody has signed in. Once they have signed out, it is connected anew, without the tools they saw."""


class Looked(Struct, frozen=True):
    """The result of checking one server."""

    name: str
    tools: int
    trouble: str = ""
    fix: str = ""
    left_out: Sequence[LeftOut] = ()
    asks_sign_in: bool = False


class McpServers:
    """MCP servers, connected in the background. One that cannot be connected is left out and blocks nothing.

    `change` names others while it runs. Each has a key, which is its name unless several connections go to one server.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        environ: Mapping[str, str],
        see: See = _unseen,
        *,
        reached: Mapping[str, Reached] | None = None,
    ) -> None:
        """`reached` are others, by their keys."""
        configured = {name: Reached(name, each, see) for name, each in servers.items()}
        self._wanted: Mapping[str, Reached] = {**configured, **(reached or {})}
        self._environ = environ
        self._taken: Collection[str] = ()
        self._connections: dict[str, _Connection] = {}
        self._running: dict[str, tuple[Reached, asyncio.Task[None]]] = {}
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._opened_all = asyncio.Event()

    def begin(self, taken: Collection[str] = ()) -> None:
        """Start connecting and return at once. `taken` are tool names that must not be used."""
        self._taken = taken
        if self._wanted and self._task is None:
            self._task = asyncio.create_task(supervise("MCP servers", self._run, SystemClock()), name="MCP servers")

    def change(self, wanted: Mapping[str, Reached], taken: Collection[str] = ()) -> None:
        """Connect to these servers, by their keys, and leave all others; what stays the same stays connected."""
        self._wanted = wanted
        self._opened_all.clear()
        self._changed.set()
        self.begin(taken)

    async def tried(self, within: float, *keys: str) -> None:
        """Wait until each server, or each of these, has been tried once, but at most `within` seconds."""
        if self._task is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._opened_all.wait()
                for key, connection in list(self._connections.items()):
                    if not keys or key in keys:
                        await connection.tried.wait()

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools of all servers that have answered so far."""
        return tuple(tool for connection in self._connections.values() for tool in connection.tools)

    def tools_of(self, key: str) -> Sequence[Tool]:
        """Return the tools of one server; none if there is no such server."""
        return self._connections[key].tools if key in self._connections else ()

    def trouble(self, key: str) -> Trouble | None:
        """Return why a server is not connected, after an attempt."""
        return self._connections[key].trouble if key in self._connections else None

    def retry(self, key: str) -> None:
        """Connect to a server at once if it is not connected."""
        if key in self._connections:
            self._connections[key].retry()

    async def close(self) -> None:
        """Disconnect from all servers; programs that were started have ended afterwards."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def look(self, within: float) -> list[Looked]:
        """Connect to each server, count its tools and disconnect. Raises ImportError if the package is missing."""
        module = await _connecting()
        connections = [self._made(module, each) for each in self._wanted.values()]
        troubles = await asyncio.gather(*(connection.look(within) for connection in connections))
        return [
            Looked(
                each.name,
                len(each.tools),
                trouble.fact if trouble else "",
                trouble.fix if trouble else "",
                tuple(each.left_out),
                asks_sign_in=trouble is not None and trouble.asks_sign_in,
            )
            for each, trouble in zip(connections, troubles, strict=True)
        ]

    async def _run(self) -> None:
        try:
            module = await _connecting()
        except ImportError as error:
            log.warning("MCP servers are set up and cannot be used", why=str(error), fix=how_to_install())
            self._opened_all.set()
            return
        try:
            while True:
                self._changed.clear()
                await self._leave([key for key, (was, _) in self._running.items() if self._wanted.get(key) != was])
                for key, wanted in self._wanted.items():
                    if key not in self._running:
                        self._connections[key] = self._made(module, wanted)
                        work = self._connections[key].run()
                        self._running[key] = wanted, asyncio.create_task(work, name=f"MCP server {wanted.name}")
                self._opened_all.set()
                await self._changed.wait()
        finally:
            await self._leave(list(self._running))

    async def _leave(self, keys: Collection[str]) -> None:
        tasks = {self._running.pop(key)[1] for key in keys}
        for key in keys:
            self._connections.pop(key).leave()
        while tasks:
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=LEAVING)

    def _made(self, module: _Connecting, wanted: Reached) -> _Connection:
        return module.Connection(
            wanted.name, wanted.server, self._environ, self._taken, wanted.see, access=wanted.access
        )


async def _connecting() -> _Connecting:
    """Import the module of connections. Raises ImportError if the package is missing."""
    if not is_installed():
        raise ImportError("the package mcp is not installed")
    module = await asyncio.to_thread(importlib.import_module, CONNECTION)
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return cast("_Connecting", module)


def is_installed() -> bool:
    """Return True if the SDK is there."""
    return find_spec("mcp") is not None


def how_to_install() -> str:
    """Return the command that installs the package into the Python that runs Parley."""
    if find_spec("pip") is None:
        return f"uv pip install --python {sys.executable} '{PACKAGE}'"
    return f"{sys.executable} -m pip install '{PACKAGE}'"
