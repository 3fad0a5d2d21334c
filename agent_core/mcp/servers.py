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
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Protocol

import structlog

from agent_core.clock import SystemClock
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


class _Trouble(Protocol):
    fact: str
    fix: str


class _Connection(Protocol):
    name: str
    tools: Sequence[Tool]
    left_out: Sequence[LeftOut]
    tried: asyncio.Event

    def leave(self) -> None: ...
    async def run(self) -> None: ...
    async def look(self, within: float) -> _Trouble | None: ...


@dataclass(frozen=True)
class Looked:
    """The result of checking one server."""

    name: str
    tools: int
    trouble: str = ""
    fix: str = ""
    left_out: Sequence[LeftOut] = ()


class McpServers:
    """All MCP servers, connected in the background. One that cannot be connected is left out and blocks nothing."""

    def __init__(self, servers: Mapping[str, McpServer], environ: Mapping[str, str], see: See = _unseen) -> None:
        self._servers = servers
        self._environ = environ
        self._see = see
        self._connections: list[_Connection] = []
        self._task: asyncio.Task[None] | None = None
        self._opened_all = asyncio.Event()

    def begin(self, taken: Collection[str] = ()) -> None:
        """Start connecting and return at once. `taken` are tool names that must not be used."""
        if self._servers and self._task is None:
            work = partial(self._run, taken)
            self._task = asyncio.create_task(supervise("MCP servers", work, SystemClock()), name="MCP servers")

    async def tried(self, within: float) -> None:
        """Wait until each server has been tried once, but at most `within` seconds."""
        if self._task is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._opened_all.wait()
                for connection in self._connections:
                    await connection.tried.wait()

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools of all servers that have answered so far."""
        return tuple(tool for connection in self._connections for tool in connection.tools)

    async def close(self) -> None:
        """Disconnect from all servers; programs that were started have ended afterwards."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def look(self, within: float) -> list[Looked]:
        """Connect to each server, count its tools and disconnect. Raises ImportError if the package is missing."""
        connections = await self._opened(())
        troubles = await asyncio.gather(*(connection.look(within) for connection in connections))
        return [
            Looked(
                each.name,
                len(each.tools),
                trouble.fact if trouble else "",
                trouble.fix if trouble else "",
                tuple(each.left_out),
            )
            for each, trouble in zip(connections, troubles, strict=True)
        ]

    async def _run(self, taken: Collection[str]) -> None:
        try:
            self._connections = await self._opened(taken)
        except ImportError as error:
            log.warning("MCP servers are set up and cannot be used", why=str(error), fix=how_to_install())
            return
        finally:
            self._opened_all.set()
        tasks = {asyncio.create_task(each.run(), name=f"MCP server {each.name}") for each in self._connections}
        try:
            await asyncio.wait(tasks)
        finally:
            for each in self._connections:
                each.leave()
            while tasks:
                for task in tasks:
                    task.cancel()
                _, tasks = await asyncio.wait(tasks, timeout=LEAVING)

    async def _opened(self, taken: Collection[str]) -> list[_Connection]:
        if find_spec("mcp") is None:
            raise ImportError("the package mcp is not installed")
        module = await asyncio.to_thread(importlib.import_module, CONNECTION)
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        return [module.Connection(name, each, self._environ, taken, self._see) for name, each in self._servers.items()]


def how_to_install() -> str:
    """Return the command that installs the package into the Python that runs Parley."""
    if find_spec("pip") is None:
        return f"uv pip install --python {sys.executable} '{PACKAGE}'"
    return f"{sys.executable} -m pip install '{PACKAGE}'"
