"""A lasting connection to one MCP server.

The SDK's contexts must be left in the task that entered them, so one task owns them from connecting to closing. Calls
come from the tasks of runs; a cancelled run cancels its own call and nothing else.
"""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio
import httpx2
import structlog
from mcp import Client, MCPError, types
from mcp.client import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

from agent_core.log_errors import log_errors
from agent_core.mcp.access import Access
from agent_core.mcp.config import McpServer, plain, revealed, tool_names
from agent_core.mcp.http import CheckedTransport, TokenAuth
from agent_core.mcp.left_out import LeftOut
from agent_core.mcp.reading import Listing, forgiving
from agent_core.mcp.stdio import LONGEST_MESSAGE, Trouble, over_stdio, trouble_of
from agent_core.mcp.tool import McpTool, Schema, as_result
from agent_core.messages import JsonObject
from agent_core.origin import named
from agent_core.sources import server
from agent_core.tool_result import ToolResult
from agent_core.tools.argument_schema import UnusableSchema
from agent_core.tools.tool import Tool, ToolFailed
from agent_core.tools.web.fetch import ForbiddenAddress

CONNECT_WITHIN = 60.0
"""Seconds; some commands download their server first."""
CALL_WAITS = 20.0
"""Seconds that a call waits for a server that is being connected."""
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds between two attempts, doubling, unless a call needs the server at once."""
STEADY = 30.0
"""Seconds after which a connection counts as good and the pause is reset."""
BETWEEN_READINGS = 1.0
"""Minimum seconds between two requests of the list of tools."""
MOST_TOOLS = 128
MOST_PAGES = 20
MOST_NAMED = 5
"""Left-out tools that the log names."""
INHERITED = ("PATH", "HOME", "LANG")
GONE = 404
"""HTTP status for a session that the server does not know any more."""

_TROUBLES = (OSError, MCPError, httpx2.HTTPError, ForbiddenAddress, ValueError, RuntimeError, ExceptionGroup)

log = structlog.get_logger(__name__)


class Connection:
    """The connection to one server; reconnects as needed.

    `tools` are those last offered. They stay when the server dies, and a call reconnects to it.
    """

    def __init__(
        self,
        name: str,
        server: McpServer,
        environ: Mapping[str, str],
        taken: Collection[str],
        see: Callable[[str, Sequence[Tool], Sequence[LeftOut]], None],
        *,
        access: Access | None = None,
    ) -> None:
        self.name = name
        self.tools: tuple[McpTool, ...] = ()
        self.left_out: tuple[LeftOut, ...] = ()
        self.trouble: Trouble | None = None
        """Why it is not connected, after an attempt."""
        self._server = server
        self._access = access
        self._environ = environ
        self._taken = taken
        self._see = see
        self._listing = Listing()
        self._found: list[types.Tool] = []
        """The tools as they were last listed."""
        self._refused: list[tuple[str, JsonObject]] = []
        """Tools whose schema a model's server has refused."""
        self._client: Client | None = None
        self._connected = False
        """True if this attempt led to a connection, even if that has ended since."""
        self._wanted = asyncio.Event()
        self._settled = asyncio.Event()
        self.tried = asyncio.Event()
        """Set after the first attempt, successful or not."""
        self._changed = asyncio.Event()
        self._lost = asyncio.Event()
        self._status: int | None = None
        self._pause = FIRST_PAUSE
        self._leaving = False

    def leave(self) -> None:
        """Stop for good; the caller must also cancel the task of `run`.

        The flag is needed as well, because an error of the server during shutdown can replace the cancellation.
        """
        self._leaving = True
        self._lost.set()
        self._wanted.set()

    def retry(self) -> None:
        """Connect at once if it is not connected. `tried` is set after that attempt."""
        if self._client is None:
            self.tried.clear()
            self._pause = FIRST_PAUSE
            self._wanted.set()

    async def run(self) -> None:
        """Stay connected until `leave`; no failure of the server ends this."""
        while not self._leaving:
            began = time.monotonic()
            self._connected = False
            with log_errors("MCP server") as caught:
                await self.live(CONNECT_WITHIN)
            if caught.error is not None:
                self._tell(trouble_of(caught.error, self._server))
            if time.monotonic() - began > STEADY:
                self._pause = FIRST_PAUSE
            if not self._connected:
                self._settle()
            if not (self._connected or self._leaving):
                self._wanted.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause):
                    await self._wanted.wait()
            self._pause = min(2 * self._pause, LONGEST_PAUSE)

    async def live(self, within: float) -> None:
        """Run one connection from start to end; afterwards `trouble` says what ended it."""
        try:
            self._changed.clear()  # from here on: a change during the first reading needs another one
            async with asyncio.timeout(within) as limit, self._opened() as client:
                await self._read(client)
                limit.reschedule(None)
                await self._serve(client)
        except _TROUBLES as error:
            self._tell(trouble_of(error, self._server, self._status))

    def _tell(self, trouble: Trouble) -> None:
        """Set `trouble`; logged as a warning only the first time, so that a long outage makes one line."""
        level = logging.DEBUG if self.trouble or self._leaving else logging.WARNING
        log.log(level, "an MCP server cannot be used", server=self.name, why=trouble.fact, fix=trouble.fix)
        self.trouble = trouble

    async def look(self, within: float) -> Trouble | None:
        """Connect, read the tools and disconnect; returns what is wrong, or None."""
        try:
            async with asyncio.timeout(within), self._opened() as client:
                await self._read(client)
        except _TROUBLES as error:
            return trouble_of(error, self._server, self._status)
        return None

    async def call(self, tool: str, arguments: JsonObject) -> ToolResult:
        """Call a tool. Raises ToolFailed, which says whether the call may have had an effect."""
        client = await self._ready()
        self._status = None
        try:
            return as_result(await client.call_tool(tool, arguments), named(server(self.name)))
        except MCPError as error:
            if self._status == GONE:
                self._drop()
                self._lost.set()
                raise ToolFailed(
                    f"the MCP server {self.name} has started anew and did not run this", "call it again"
                ) from error
            if error.code == types.CONNECTION_CLOSED:
                raise ToolFailed(
                    f"the MCP server {self.name} went away during this call, so its outcome is unknown",
                    "check what happened before you call it again",
                ) from error
            raise ToolFailed(f"the MCP server {self.name} refuses: {plain(str(error))}") from error
        except (ValueError, RuntimeError) as error:
            raise ToolFailed(
                f"the MCP server {self.name} ran this, but its answer is not what it promised: {plain(str(error))}"
            ) from error

    async def _ready(self) -> Client:
        if self._client is None:
            self._wanted.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(CALL_WAITS):
                    await self._settled.wait()
        if self._client is None:
            why = self.trouble.fact if self.trouble else "it has not answered yet"
            raise ToolFailed(
                f"the MCP server {self.name} cannot be used now: {why}", "do without it, or try again later"
            )
        return self._client

    def _settle(self) -> None:
        """Wake all callers that wait for the end of this attempt; later ones wait for the next."""
        self.tried.set()
        self._settled.set()
        self._settled = asyncio.Event()

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Client]:
        about = types.Implementation(name="parley", version="1")
        self._status = None
        if self._server.url is None:
            program = over_stdio(self.name, self._server.command, self._scrubbed(), self._drop)
            async with Client(
                forgiving(program, self._listing),
                cache=None,
                client_info=about,
                message_handler=self._hear,
            ) as client:
                yield client
            return
        headers = {name: revealed(value) for name, value in self._server.headers.items()}
        patience = httpx2.Timeout(30.0, read=300.0)
        async with httpx2.AsyncClient(
            headers=headers,
            timeout=patience,
            event_hooks={"response": [self._note_status]},
            auth=TokenAuth(self._access) if self._access else None,
            transport=CheckedTransport(self._access.may_reach) if self._access else None,
        ) as http:
            transport = streamable_http_client(self._server.url, http_client=http, max_sse_event_size=LONGEST_MESSAGE)
            async with Client(
                forgiving(transport, self._listing), cache=None, client_info=about, message_handler=self._hear
            ) as client:
                yield client

    def _drop(self) -> None:
        """Stop using the client; the task that owns it is closing it."""
        self._client = None

    def _scrubbed(self) -> Mapping[str, str]:
        kept = {name: self._environ[name] for name in INHERITED if name in self._environ}
        added = {name: revealed(value) for name, value in self._server.env.items()}
        return {"PATH": os.defpath} | kept | added

    async def _note_status(self, response: httpx2.Response) -> None:
        self._status = response.status_code

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()

    async def _serve(self, client: Client) -> None:
        """Serve calls until the connection is lost, which raises or returns."""
        if not self._leaving:
            self._lost.clear()
        self._wanted.clear()
        self._client = client
        self._connected = True
        self.trouble = None
        self._settle()
        log.info("an MCP server is connected", server=self.name, tools=len(self.tools))
        try:
            async with anyio.create_task_group() as jobs:
                jobs.start_soon(self._keep_current, client)
                jobs.start_soon(self._listen, client)
                await self._lost.wait()
                jobs.cancel_scope.cancel()
        finally:
            self._drop()
        self.trouble = Trouble("it has forgotten our session", "nothing: it is being connected anew")

    async def _keep_current(self, client: Client) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            with suppress(MCPError):
                await self._read(client)
            await asyncio.sleep(BETWEEN_READINGS)

    async def _read(self, client: Client) -> None:
        if client.server_capabilities.tools is None:
            self._offer([])
            return
        found: list[types.Tool] = []
        cursor = None
        self._listing.names, self._listing.left_out = [], []
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or len(found) > MOST_TOOLS:
                break
        self._offer(found)

    async def _listen(self, client: Client) -> None:
        """Listen for changes of the tools. Servers of the 2026 protocol send them only on a requested stream, on which
        the client's message handler receives them; changes before it was opened are found by reading the list again."""
        tools = client.server_capabilities.tools
        while tools is not None and tools.list_changed:
            with suppress(MCPError, SubscriptionLost, TimeoutError):
                try:
                    async with client.listen(tools_list_changed=True) as changes:
                        self._changed.set()
                        async for _ in changes:
                            pass
                except ListenNotSupportedError:
                    return
            await asyncio.sleep(FIRST_PAUSE)

    def _offer(self, found: list[types.Tool]) -> None:
        self._found = found
        kept = {each.name: each for each in found}
        usable = dict(list(kept.items())[:MOST_TOOLS])
        left_out = [
            *self._listing.left_out,
            # The protocol of 2026 has the SDK leave out tools whose headers are not valid.
            *(LeftOut(name, "header") for name in self._listing.names if name not in kept),
            *(LeftOut(name, "too_many") for name in kept if name not in usable),
        ]
        tools = tuple(self._made(usable, left_out))
        if left_out and tuple(left_out) != self.left_out:
            named = [f"{plain(each.tool, 60)}: {each.words}" for each in left_out[:MOST_NAMED]]
            log.warning("tools of an MCP server are left out", server=self.name, left_out=len(left_out), tools=named)
        self.left_out = tuple(left_out)
        self._see(self.name, tools, self.left_out)
        self.tools = tools

    def _made(self, usable: Mapping[str, types.Tool], left_out: list[LeftOut]) -> Iterator[McpTool]:
        """Make the tools; those whose schema cannot be used are added to `left_out`."""
        names = tool_names(self.name, usable, self._taken)
        for name, each in usable.items():
            try:
                schema = Schema(each.input_schema)
            except UnusableSchema as error:
                left_out.append(LeftOut(name, error.why))
                continue
            if (name, schema.shown) in self._refused:
                left_out.append(LeftOut(name, "refused"))
                continue
            tool = McpTool(
                name=names[name],
                server=self.name,
                original=name,
                description=each.description or each.title or "",
                schema=schema,
                acts=self._server.acts,
                call=self.call,
            )
            tool.when_refused = partial(self._leave_out, name, schema.shown)
            yield tool

    def _leave_out(self, name: str, schema: JsonObject) -> None:
        """Stop offering a tool until it has another schema."""
        self._refused.append((name, schema))
        self._offer(self._found)
