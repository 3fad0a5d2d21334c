"""MCP servers for tests, as real programs and over real sockets, and access to their tools."""

import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pydantic import JsonValue

from agent_core.cancel import CancelToken
from agent_core.mcp.config import McpServer
from agent_core.mcp.servers import McpServers
from agent_core.messages import text_of
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, ToolEnvironment
from tests.end_to_end.program import START_SECONDS, Program
from tests.process import REPOSITORY, until

MODULE = "tests.emulators.mcp_server"
PROGRAM = (sys.executable, "-P", "-m", MODULE)
ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/home/ann", "LANG": "C.UTF-8", "OPENAI_API_KEY": "sk-not-for-you"}
PORT = re.compile(r"^\d+$(?=\n)", re.MULTILINE)
"""The port, which a server prints among its log lines."""


def emulated(*arguments: str) -> McpServer:
    """Return a server of the official SDK that runs as a program."""
    return McpServer(command=(*PROGRAM, *arguments), env={"PYTHONPATH": str(REPOSITORY)})


def shell(script: str) -> McpServer:
    return McpServer(command=("sh", "-c", script))


@asynccontextmanager
async def connecting(**servers: McpServer) -> AsyncIterator[McpServers]:
    """Yield servers by name as soon as connecting has begun."""
    running = McpServers(servers, ENVIRON)
    running.begin()
    try:
        yield running
    finally:
        await running.close()


@asynccontextmanager
async def connected(**servers: McpServer) -> AsyncIterator[McpServers]:
    """Yield servers by name once all of them have listed their tools.

    A call waits for one that has to start anew as long as that may take on a busy machine.
    """
    async with connecting(**servers) as running:
        await until(
            lambda: {each.name.partition("_")[0] for each in running.tools()} == set(servers), within=START_SECONDS
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("agent_core.mcp.connection.CALL_WAITS", float(START_SECONDS))
            yield running


@asynccontextmanager
async def over_http(*arguments: str, port: int = 0) -> AsyncIterator[tuple[str, Program]]:
    """Yield the address of a server of the SDK, and its process."""
    with TemporaryDirectory() as folder:
        server = Program(Path(folder), {})
        server.module, server.arguments = MODULE, ("--http", str(port), *arguments)
        server.forked, server.imports = True, ("mcp.server.mcpserver", "uvicorn")
        await server.launch()
        try:
            await until(lambda: PORT.search(server.console) is not None, within=START_SECONDS)
            yield f"http://127.0.0.1:{PORT.findall(server.console)[0]}/mcp", server
        finally:
            await server.kill()


def tool_of(servers: McpServers, name: str) -> Tool:
    return next(each for each in servers.tools() if each.name == name)


def context(cancel: CancelToken | None = None) -> ToolContext:
    return ToolContext("1", ToolEnvironment("s", Path("no-such-workspace")), cancel=cancel or CancelToken())


async def use(servers: McpServers, tool: str, **arguments: JsonValue) -> ToolResult:
    found = tool_of(servers, tool)
    return await found.execute(found.validate(arguments), context())


async def told(servers: McpServers, tool: str, **arguments: JsonValue) -> str:
    """Return the text of a tool's result."""
    return text_of((await use(servers, tool, **arguments)).content)


async def surroundings(servers: McpServers, server: str) -> Mapping[str, str]:
    """Return the environment of a server, with its process id as `pid`."""
    text = await told(servers, f"{server}_environment")
    return dict(line.split("=", 1) for line in text.splitlines())


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
