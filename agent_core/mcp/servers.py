"""The MCP servers that are set up, as tools. The SDK is an extra and takes a second to import, so it is imported where
a server is set up, in a thread, and never while somebody waits for us to start."""

import asyncio
import importlib
import logging
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

import structlog

from agent_core.mcp.config import McpServer
from agent_core.tools import Tool

PACKAGE = "mcp>=2.3,<3"
"""What the extra `mcp` asks for."""
CONNECTION = "agent_core.mcp.connection"
LEAVING = 6.0
"""Seconds; a program that does not want to end takes five."""
_LOGGERS = ("mcp", "client", "httpx2")
"""Of the SDK, which logs a traceback for whatever a server does wrong; we say it in one line."""

log = structlog.get_logger(__name__)


class _Trouble(Protocol):
    fact: str
    fix: str


class _Connection(Protocol):
    name: str
    tools: Sequence[Tool]
    tried: asyncio.Event

    def leave(self) -> None: ...
    async def run(self) -> None: ...
    async def look(self, within: float) -> _Trouble | None: ...


@dataclass(frozen=True)
class Looked:
    """How one server was found."""

    name: str
    tools: int
    trouble: str = ""
    fix: str = ""


class McpServers:
    """Connected in the background; one that cannot be connected is missing, and stops nothing and nobody."""

    def __init__(self, servers: Mapping[str, McpServer], environ: Mapping[str, str]) -> None:
        self._servers = servers
        self._environ = environ
        self._connections: list[_Connection] = []
        self._task: asyncio.Task[None] | None = None
        self._opened_all = asyncio.Event()

    def begin(self, taken: Collection[str] = ()) -> None:
        """Start connecting, and return at once. `taken`: names of tools that are not to be used again."""
        if self._servers and self._task is None:
            self._task = asyncio.create_task(self._run(taken), name="MCP servers")

    async def tried(self, within: float) -> None:
        """Return when each server has been connected or has failed once, or that many seconds are over."""
        if self._task is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._opened_all.wait()
                for connection in self._connections:
                    await connection.tried.wait()

    def tools(self) -> tuple[Tool, ...]:
        """Of every server that has answered so far."""
        return tuple(tool for connection in self._connections for tool in connection.tools)

    async def close(self) -> None:
        """Leave every server; programs that were started have ended afterwards."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def look(self, within: float) -> list[Looked]:
        """Connect to each, count its tools, and leave. Raises ImportError where the package is missing."""
        connections = await self._opened(())
        troubles = await asyncio.gather(*(connection.look(within) for connection in connections))
        return [
            Looked(each.name, len(each.tools), trouble.fact if trouble else "", trouble.fix if trouble else "")
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
        return [module.Connection(name, each, self._environ, taken) for name, each in self._servers.items()]


def how_to_install() -> str:
    """The command that adds the package to the Python that runs us, in a checkout as elsewhere."""
    if find_spec("pip") is None:
        return f"uv pip install --python {sys.executable} '{PACKAGE}'"
    return f"{sys.executable} -m pip install '{PACKAGE}'"
