"""Parley's persistent state in one SQLite file.

The file uses a write-ahead log with full synchronisation: once a method has returned, its change survives a crash or a
power cut. Writes go through one writer with group commit; reads have a connection of their own.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from copy import copy
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from agent_core.clock import Clock, NewId
from gateway.security.secrets import Secrets
from gateway.store.approvals import Approvals, Rules
from gateway.store.browsers import Browsers
from gateway.store.chat_settings import ChatSettings
from gateway.store.chats import Chats, LoadedSkills
from gateway.store.connection import Connection, Reads
from gateway.store.conversations import Conversations
from gateway.store.erasures import Erasures
from gateway.store.exchanges import Exchanges
from gateway.store.firings import Firings
from gateway.store.heartbeats import Heartbeats
from gateway.store.home_marker import HomeMarker
from gateway.store.inbox import Inbox
from gateway.store.job_targets import JobTargets
from gateway.store.jobs import Jobs
from gateway.store.leases import LeaseRows
from gateway.store.links import Links
from gateway.store.moves import Moves
from gateway.store.nodes import Nodes
from gateway.store.opening import (
    DAMAGED,
    FILE,
    StoreDamaged,
    begin_mark,
    cause,
    check_store,
    create_home,
    locked,
    opened,
)
from gateway.store.outbox import Outbox
from gateway.store.owed import OwedItems
from gateway.store.own_tables import OwnTables
from gateway.store.page_commands import PageCommands
from gateway.store.page_links import PageLinks
from gateway.store.pairing import Pairing
from gateway.store.people import People
from gateway.store.person_zones import PersonZones
from gateway.store.plugin_tables import PluginTables
from gateway.store.read_marks import ReadMarks
from gateway.store.restores import Restores
from gateway.store.retention import Retention
from gateway.store.run_records import RunRecords
from gateway.store.runs import Runs
from gateway.store.search import Search
from gateway.store.server import PostgresServer
from gateway.store.sessions import Sessions
from gateway.store.settled import Settled
from gateway.store.shared_spending import SharedSpending
from gateway.store.signals import StoreNode
from gateway.store.soundness import Soundness
from gateway.store.spending import Budgets, Spending
from gateway.store.standings import Standings
from gateway.store.steps import Steps
from gateway.store.strangers import Strangers
from gateway.store.table import Table
from gateway.store.tasks import Tasks
from gateway.store.transcript import Transcript
from gateway.store.writer import Ballast, Writer

T = TypeVar("T", bound=Table)


class Extras(Struct, frozen=True):
    """The parts of a store that not every program needs."""

    ballast: int = 0
    """Bytes of a placeholder file that is deleted when the disk is full."""
    plugins: Sequence[PluginTables] = ()
    """The plugins that have tables."""


NOTHING_ELSE = Extras()


class Store:
    """All tables of a store. Open it with `Store.open`; a store in a file is locked until it is closed."""

    _own: OwnTables | None = None
    """The tables of the plugin to which it is given."""

    def __init__(
        self, writer: Writer, reader: Reads, clock: Clock, new_id: NewId, secrets: Secrets, *, node: str | None = None
    ) -> None:
        """`node` is the id of this process among those that share the database; None: it is alone."""
        self.secrets = secrets
        """Masked in every text before it is written."""
        tables = self._tables = writer, reader, clock, secrets
        self.inbox, self.settled, self.moves = Inbox(*tables), Settled(*tables), Moves(*tables)
        self.outbox, self.runs = Outbox(*tables), Runs(*tables)
        self.run_records, self.owed = RunRecords(*tables), OwedItems(*tables)
        self.transcript, self.exchanges = Transcript(*tables), Exchanges(*tables)
        self.search = Search(*tables)
        self.sessions, self.conversations = Sessions(*tables), Conversations(*tables)
        self.steps = Steps(*tables)
        self.chats = Chats(*tables, new_id)
        self.chat_settings = ChatSettings(*tables)
        self.skills = LoadedSkills(*tables)
        self.approvals = Approvals(*tables)
        self.rules = Rules(*tables)
        self.standings, self.browsers = Standings(*tables), Browsers(*tables)
        self.page_commands, self.page_links = PageCommands(*tables), PageLinks(*tables)
        self.tasks = Tasks(*tables)
        self.jobs, self.job_targets = Jobs(*tables), JobTargets(*tables)
        self.firings, self.heartbeats = Firings(*tables), Heartbeats(*tables)
        self.read_marks, self.restores = ReadMarks(*tables), Restores(*tables)
        self.budgets = Budgets(*tables)
        self.spending = Spending(*tables) if node is None else SharedSpending(*tables, node=node)
        self.erasures = Erasures(*tables)
        self.retention, self.soundness = Retention(*tables), Soundness(*tables)
        self.people, self.links, self.person_zones = People(*tables), Links(*tables), PersonZones(*tables)
        self.pairing, self.strangers = Pairing(*tables), Strangers(*tables)
        self.leases, self.nodes, self.home_marker = LeaseRows(*tables), Nodes(*tables), HomeMarker(*tables)
        self.node, self._writer, self._reader = node, writer, reader

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        home: Path,
        clock: Clock,
        new_id: NewId,
        secrets: Secrets | None = None,
        *,
        extras: Extras = NOTHING_ELSE,
        url: str | None = None,
        node: StoreNode | None = None,
    ) -> AsyncIterator["Store"]:
        """Open the store in `home`, or on the PostgreSQL server of `url`.

        Raises StoreBusy, StoreTooNew, StoreDamaged, HomeUnusable and others, each with a message for the user.

        Args:
            home: Parley's folder, which is locked for a store in a file; several processes may share one on a server.
            clock: Tells the times that are stored.
            new_id: Makes the ids of sessions.
            secrets: Masked in every text before it is written.
            extras: Its placeholder on the disk, and the tables of plugins.
            url: The address of a PostgreSQL database.
            node: The process that writes, one of several on the database.
        """
        databases = _in_file(home, extras) if url is None else _on_server(home, url, node, extras.plugins)
        async with databases as (writer, reading):
            try:
                yield cls(writer, reading, clock, new_id, secrets or Secrets(), node=node.fence.id if node else None)
            finally:
                await writer.close()

    def table(self, kind: type[T]) -> T:
        """Return further tables of the store, such as those of a plugin."""
        return kind(*self._tables) if self._own is None else kind(*self._tables, own=self._own)

    def of_plugin(self, own: OwnTables) -> "Store":
        """Return this store as a plugin is given it: the SQL of its further tables touches those of the plugin only."""
        given = copy(self)
        given._own = own  # noqa: SLF001 (of this class)
        return given

    def limited(self, connection: Connection) -> Connection:
        """Return the connection of a transaction as a plugin is given it: for its own tables only."""
        return connection if self._own is None else self._own.only(connection)

    async def created_at(self) -> float:
        """Return when this store was created, in seconds since the epoch."""

        def read(connection: Connection) -> float:
            (born,) = connection.execute("SELECT born FROM store").fetchone()
            return float(born)

        return await self._reader.run(read)

    async def check_writable(self) -> None:
        """Raise StoreUnavailable if the disk takes no writes."""
        await self._writer.check()

    async def sequence(self) -> int:
        """Return the number of transactions written to the store."""

        def read(connection: Connection) -> int:
            (sequence,) = connection.execute("SELECT sequence FROM store").fetchone()
            return int(sequence)

        return await self._reader.run(read)


@asynccontextmanager
async def _on_server(
    home: Path, url: str, node: StoreNode | None, plugins: Sequence[PluginTables]
) -> AsyncIterator[tuple[Writer, Reads]]:
    create_home(home)
    async with PostgresServer(url).opened(node, plugins) as (writer, reading):
        yield writer, reading


@asynccontextmanager
async def _in_file(home: Path, extras: Extras) -> AsyncIterator[tuple[Writer, Reads]]:
    path = home / FILE
    try:
        with locked(home):
            await asyncio.to_thread(check_store, home)
            async with opened(path, extras.plugins) as (writing, reading):
                mark = await begin_mark(home, writing)
                placeholder = Ballast(home, extras.ballast)
                await asyncio.to_thread(placeholder.create)
                try:
                    yield Writer(writing, mark=mark, make_room=placeholder.delete), reading
                finally:
                    await mark.close()
    except sqlite3.DatabaseError as error:
        if cause(error) in DAMAGED:
            raise StoreDamaged(path, str(error)) from error
        raise
