"""Tracks which descriptions of MCP servers' tools an owner has approved; the model reads them with every request.

Setting up a server approves the descriptions it shows first. Later changes count as untrusted input until an owner
approves them too.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from agent_core.file_lock import Watched, file_locked
from agent_core.mcp.config import McpServer
from agent_core.mcp.left_out import LeftOut
from agent_core.origin import Origin, joined, named
from agent_core.sources import server
from agent_core.tools.tool import Tool

MOST_AT_ONCE = 10
"""Most tools shown to an owner and approved at once."""

log = structlog.get_logger(__name__)


class _Known(BaseModel):
    """Approval state of one server."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    of: str
    """Digest of the command or address. If it changes, this is another server."""
    approved: tuple[str, ...] = ()
    """Digests of the approved tools."""
    changed: bool = False
    """True if the server has shown other tools since the last approval."""
    left_out: tuple[str, ...] = ()
    """Tools that cannot be offered, of which owners were told."""


_FILE = TypeAdapter(dict[str, _Known], config=ConfigDict(defer_build=True))


class ApprovedTools:
    """Compares the tools of each server with the approved ones. The state is kept in a file over restarts.

    `changed` receives the name of each server whose tools differ from the approved ones, `unusable` that of each one
    with tools that cannot be offered, once for each tool.
    """

    def __init__(self, file: Path, servers: Mapping[str, McpServer]) -> None:
        self.changed: asyncio.Queue[str] = asyncio.Queue()
        self.unusable: asyncio.Queue[str] = asyncio.Queue()
        self._file = Watched(file)
        self._configured = {name: _digest([each.command, each.url]) for name, each in servers.items()}
        self._added: Mapping[str, str] = {}
        self._shown: dict[str, Sequence[Tool]] = {}
        self._left_out: dict[str, Sequence[LeftOut]] = {}
        self._damaged = False
        self._kept: dict[str, _Known] = {}

    def also(self, added: Mapping[str, McpServer]) -> None:
        """Know these servers, which owners have added, beside those of the settings. They replace the former ones.

        Nobody has read what such a server says of its tools, so an owner approves that, too.
        """
        self._added = {name: _digest([each.command, each.url]) for name, each in added.items()}
        for name in self._shown.keys() - self._of.keys():
            del self._shown[name]
            self._left_out.pop(name, None)

    @property
    def _of(self) -> Mapping[str, str]:
        """Digests of the commands and addresses of all servers."""
        return {**self._added, **self._configured} if self._added else self._configured

    def see(self, name: str, tools: Sequence[Tool], left_out: Sequence[LeftOut] = ()) -> None:
        """Record the tools that a server shows, and those that cannot be offered.

        Called before any model reads them.
        """
        if name not in self._of:
            return
        self._shown[name] = tools
        self._see_tools(name, tools)
        self._see_left_out(name, left_out)

    def _see_tools(self, name: str, tools: Sequence[Tool]) -> None:
        known = self._known.get(name)
        if known is None or known.of != self._of[name]:
            if not tools:
                return
            # An unreadable file might have listed the server, so its tools do not count as shown first.
            first = () if self._damaged or name in self._added else _digests(tools)
            known = _Known(of=self._of[name], approved=first)
            self._note(name, known)
        if self.new(name) and not known.changed:
            self._note(name, known.model_copy(update={"changed": True}))
            self.changed.put_nowait(name)

    def _see_left_out(self, name: str, left_out: Sequence[LeftOut]) -> None:
        before, self._left_out[name] = self._left_out.get(name, ()), left_out
        known = self._known.get(name)
        told = known.left_out if known else tuple(each.tool for each in before)
        if all(each.tool in told for each in left_out):
            return
        if known is not None:
            names = tuple(dict.fromkeys([*told, *(each.tool for each in left_out)]))
            self._note(name, known.model_copy(update={"left_out": names}))
        self.unusable.put_nowait(name)

    def origin(self) -> Origin:
        """Return the origin of the descriptions: the servers with unapproved ones."""
        changed = (name for name in self._of if name in self._known and self._known[name].changed)
        return joined(named(server(name)) for name in changed)

    @property
    def names(self) -> list[str]:
        """Return the names of all configured servers."""
        return list(self._of)

    def is_configured(self, name: str) -> bool:
        """Return True for the name of a server of the settings."""
        return name in self._configured

    def shown(self, name: str) -> Sequence[Tool]:
        """Return the tools that a server has shown last."""
        return self._shown.get(name, ())

    def left_out(self, name: str) -> Sequence[LeftOut]:
        """Return the tools of a server that cannot be offered."""
        return self._left_out.get(name, ())

    def waiting(self) -> list[str]:
        """Return the names of the servers with unapproved descriptions."""
        return [name for name in self._of if name in self._known and self._known[name].changed]

    def new(self, name: str) -> list[Tool]:
        """Return the tools that are shown now and were not approved in this form."""
        return self.unapproved(name, self._shown.get(name, ()))

    def unapproved(self, name: str, tools: Iterable[Tool]) -> list[Tool]:
        """Return those of a server's tools that were not approved in this form. Nothing is kept of them."""
        known = self._known.get(name)
        approved = known.approved if known else ()
        return [tool for tool in tools if _digest_of(tool) not in approved]

    def next(self, name: str) -> tuple[list[Tool], int]:
        """Return the new tools to approve next, and the number left for later."""
        new = self.new(name)
        return new[:MOST_AT_ONCE], max(0, len(new) - MOST_AT_ONCE)

    def code(self, name: str) -> str:
        """Return a code for the tools that `next` returns, so that only tools that were shown can be approved."""
        return _digest(sorted(_digests(self.next(name)[0])))[:8]

    def approve(self, name: str, code: str) -> bool:
        """Approve the tools that the code names. Return False if they are not the ones to approve next."""
        known = self._known.get(name)
        if known is None or code != self.code(name):
            return False
        now, more = self.next(name)
        approved = (*known.approved, *_digests(now))
        self._note(name, known.model_copy(update={"approved": approved, "changed": bool(more)}))
        return True

    @property
    def _known(self) -> dict[str, _Known]:
        """The state of all servers, as the last process has saved it."""
        if self._file.has_changed():
            self._kept = self._read()
        return self._kept

    def _note(self, name: str, known: _Known) -> None:
        """Save a server's state. If that fails, this process still knows it, but no other one does."""
        file = self._file.path
        try:
            with file_locked(self._file.lock):
                self._known[name] = known
                arriving = file.with_suffix(".arriving")
                arriving.touch(mode=0o600)
                arriving.write_bytes(_FILE.dump_json(self._kept))
                arriving.replace(file)
                self._file.has_changed()  # by this very change
        except OSError as error:
            self._kept[name] = known
            log.warning("approved MCP tools cannot be stored", file=str(file), reason=error.strerror)

    def _read(self) -> dict[str, _Known]:
        try:
            return _FILE.validate_json(self._file.path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            self._damaged = True
            log.warning(
                "approved MCP tools cannot be read; approve them again", file=str(self._file.path), reason=str(error)
            )
            return {}


def _digests(tools: Iterable[Tool]) -> tuple[str, ...]:
    return tuple(map(_digest_of, tools))


def _digest_of(tool: Tool) -> str:
    """Return the digest of all that a model reads of the tool."""
    return _digest([tool.spec.name, tool.spec.description, tool.spec.parameters])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
