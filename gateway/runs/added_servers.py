"""MCP servers that owners have added while Parley runs, beside those of the settings."""

import asyncio
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Protocol

import structlog
from msgspec import Struct
from pydantic import TypeAdapter, ValidationError

from agent_core.mcp.access import Access
from agent_core.mcp.config import McpServer
from agent_core.mcp.left_out import LeftOut
from agent_core.mcp.servers import McpServers, Reached, Trouble
from agent_core.origin import CLEAN, Origin, joined
from agent_core.tools.tool import Tool
from gateway.permissions.approved_tools import ApprovedTools
from gateway.runs.server_tool import Callers, ServerTool
from gateway.store.chat_settings import EVERYWHERE, ChatSettings
from gateway.store.connection import Connection

_PREFIX = "mcp."
"""Before the name in the table of settings."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class AddedServer:
    """A server that an owner has added."""

    url: str
    of_each: bool = False
    """True if everybody uses it with an account of their own there."""


class Accounts(Callers, Protocol):
    """Those who have signed in to servers, and their access."""

    def access(self, name: str, server: AddedServer, person: str) -> Access:
        """Return the access of a person to a server, or of everybody if `person` is empty."""

    async def signed_in(self, name: str) -> Collection[str]:
        """Return the people who have signed in to a server."""

    def hindrance(self, name: str, person: str) -> str:
        """Return why a sign-in cannot be renewed for now; empty if nothing is known of that."""


class Hindered(Struct, frozen=True):
    """The trouble with a server at which somebody is signed in, and whose sign-in server fails."""

    fact: str
    fix: str = "nothing: it is tried again"
    asks_sign_in: bool = False


_ROW: TypeAdapter[AddedServer] = TypeAdapter(AddedServer)


class AddedServers:
    """The servers that owners have added, connected on every node.

    They are connected once `accounts` are set, by the plugin that looks after them.
    """

    def __init__(
        self,
        rows: ChatSettings,
        approved: ApprovedTools,
        configured: Callable[[], Iterable[Tool]],
        described_by: Callable[[], Origin] | None,
    ) -> None:
        """`configured` returns the tools of the servers in the settings, `described_by` the origin of their words."""
        self.approved = approved
        """The tools that owners have approved, by server."""
        self.accounts: Accounts | None = None
        self.taken: Collection[str] = ()
        """Names of other tools."""
        self._rows = rows
        self._configured = configured
        self._described_by = described_by
        self._servers = McpServers({}, {})
        self._refreshing = asyncio.Lock()
        """Held while the rows are read, so that what was read before never replaces what was read later."""
        self._added: Mapping[str, AddedServer] = {}
        self._signed_in: Mapping[str, Sequence[str]] = {}
        """Those who have signed in, by server."""
        self._people: Mapping[str, Sequence[str]] = {}
        """Those for whom a server is connected: who has signed in, or everybody."""

    @property
    def added(self) -> Mapping[str, AddedServer]:
        """Return the servers by name."""
        return self._added

    async def add(self, name: str, server: AddedServer, by: str) -> None:
        """Add a server, and connect to it. `by` is the id of the owner."""
        await self._rows.set(EVERYWHERE, f"{_PREFIX}{name}", json.dumps(asdict(server)), by)
        await self.refresh()

    async def remove(self, name: str, by: str) -> None:
        """Remove a server, and leave it."""
        await self._rows.set(EVERYWHERE, f"{_PREFIX}{name}", None, by)
        await self.refresh()

    async def tell(self) -> None:
        """Connect for those who have signed in meanwhile, here and on the other nodes."""
        await self._rows.tell_of_change()
        await self.refresh()

    async def refresh(self) -> None:
        """Connect to the servers that are there now, for those who have signed in."""
        if self.accounts is not None:
            async with self._refreshing:
                await self._refresh(self.accounts)

    async def _refresh(self, accounts: Accounts) -> None:
        found: dict[str, AddedServer] = {}
        for full in sorted(await self._rows.names(_PREFIX)):
            if self.approved.is_configured(full.removeprefix(_PREFIX)):
                log.warning("an added MCP server is left out: the settings have one of its name", name=full)
                continue
            row = await self._rows.at(EVERYWHERE, full)
            found |= _read(full, row.value if row else "")
        signed_in = {name: sorted(await accounts.signed_in(name)) for name in found}
        if (found, signed_in) == (self._added, self._signed_in):
            return
        people = {name: signed_in[name] if server.of_each else [""] for name, server in found.items()}
        self._added, self._signed_in, self._people = found, signed_in, people
        self.approved.also({name: McpServer(url=server.url) for name, server in found.items()})
        reached = {
            _key(name, person): Reached(
                name,
                McpServer(url=server.url),
                partial(self._see, person),
                accounts.access(name, server, person),
                is_signed_in=person in signed_in[name],
            )
            for name, server in found.items()
            for person in people[name]
        }
        self._servers.change(reached, self.taken)

    async def tried(self, name: str, within: float, person: str = "") -> Trouble | None:
        """Wait until a server was tried, at most `within` seconds. Returns why it is not connected."""
        await self._servers.tried(within, _key(name, person))
        return self.trouble(name, person)

    async def all_tried(self, within: float) -> None:
        """Wait until each server was tried once, but at most `within` seconds."""
        await self._servers.tried(within)

    def trouble(self, name: str, person: str = "") -> Trouble | None:
        """Return why a server is not connected, after an attempt."""
        trouble = self._servers.trouble(_key(name, person))
        if trouble is None or not trouble.asks_sign_in or self.accounts is None:
            return trouble
        why = self.accounts.hindrance(name, person)
        return Hindered(why) if why else trouble

    def asks_sign_in(self, name: str, accounts: Collection[str]) -> bool:
        """Return True if somebody with these accounts, or an owner for everybody, has to sign in to a server first."""
        if self._added[name].of_each:
            return not any(each in self._people.get(name, ()) for each in accounts)
        trouble = self.trouble(name)
        return trouble is not None and trouble.asks_sign_in

    def retry(self, name: str, person: str = "") -> None:
        """Connect to a server at once if it is not connected."""
        self._servers.retry(_key(name, person))

    def offered(self) -> Iterable[Tool]:
        """Return the tools of all servers, those of the settings included."""
        if not self._added:
            return self._configured()
        return (*self._configured(), *(tool for name in self._added for tool in self._tools_of(name)))

    def origin(self) -> Origin:
        """Return the origin of the descriptions: the servers with unapproved ones."""
        before = CLEAN if self._described_by is None else self._described_by()
        return joined((before, self.approved.origin())) if self._added else before

    async def close(self) -> None:
        """Leave all servers."""
        await self._servers.close()

    def _tools_of(self, name: str) -> Sequence[Tool]:
        if self.accounts is None:
            return ()
        of_each, by_name = self._added[name].of_each, dict[str, dict[str, Tool]]()
        for person in self._people[name]:
            for tool in self._servers.tools_of(_key(name, person)):
                by_name.setdefault(tool.name, {})[person] = tool
        return [ServerTool(name, tools, self.accounts, of_each=of_each) for tools in by_name.values()]

    def _see(self, person: str, name: str, tools: Sequence[Tool], left_out: Sequence[LeftOut]) -> None:
        """Record the tools that a server shows to a person, beside those that it shows to others."""
        others = [
            tool
            for other in self._people.get(name, ())
            if other != person
            for tool in self._servers.tools_of(_key(name, other))
        ]
        own = {tool.name for tool in tools}
        self.approved.see(name, (*tools, *(tool for tool in others if tool.name not in own)), left_out)


def added_in(connection: Connection) -> Mapping[str, AddedServer]:
    """Return the servers by name, as a connection to the store finds them."""
    statement = "SELECT name, value FROM chat_settings WHERE name LIKE ? ORDER BY name"
    found: dict[str, AddedServer] = {}
    for name, value in connection.execute(statement, (f"{_PREFIX}%",)).fetchall():
        found |= _read(name, value)
    return found


def _read(full: str, value: str) -> Mapping[str, AddedServer]:
    """Return the server of a row by its name; none if the row cannot be read."""
    try:
        return {full.removeprefix(_PREFIX): _ROW.validate_json(value)}
    except ValidationError:
        log.warning("an added MCP server cannot be read; it is left out", name=full)
        return {}


def _key(name: str, person: str = "") -> str:
    return f"{name} {person}"
