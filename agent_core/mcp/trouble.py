"""Why an MCP server cannot be used, and what to do about it, in text for users."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from mcp import MCPError

from agent_core.mcp.config import McpServer
from agent_core.mcp.stdio import ServerEnded
from agent_core.mcp.words import plain

NO_ENTRY = (401, 403)
FAILED = 400
"""HTTP statuses from here on are errors."""


@dataclass(frozen=True)
class Trouble:
    """A problem with one server and its remedy."""

    fact: str
    fix: str


def trouble_of(error: BaseException, server: McpServer, status: int | None = None) -> Trouble:
    """Return the problem behind an error. `status` is that of the last HTTP response, which the SDK may not report."""
    leaves = list(_leaves(error))
    first = next((leaf for leaf in leaves if isinstance(leaf, ServerEnded | OSError | httpx2.HTTPError)), leaves[0])
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
        return Trouble(f"{host} refuses us (HTTP {status})", "check its headers: is the token there, and valid?")
    if status is not None and status >= FAILED:
        return Trouble(f"{host} answers with HTTP {status}", "check its url: many end in /mcp")
    match error:
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
