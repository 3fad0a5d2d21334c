"""A node: one of the processes that share a database, with its row, its heartbeat and its fence."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from secrets import token_hex
from typing import Self, TypeAlias

import psycopg
import structlog
from msgspec import Struct
from msgspec.structs import asdict
from psycopg.rows import TupleRow

from agent_core.clock import SystemClock
from agent_core.supervise import supervise
from gateway.cluster.signals import ALL, payload_of
from gateway.store.connection import Fenced
from gateway.store.nodes import FREE_CHATS, FREE_REST, LOCK_OF
from gateway.store.postgres import address

Raw: TypeAlias = "psycopg.AsyncConnection[TupleRow]"

BEAT_EVERY = 0.5
"""Seconds between the starts of two heartbeats."""
BREATH = 0.1
"""Minimum pause in seconds after a heartbeat that took longer than that."""
FRESH_FOR = 1.2
"""Seconds after the start of a heartbeat for which no other node can fence this one; less than DEAD_AFTER."""
SURE_WITHIN = 1.0
"""Longest round trip in seconds of a heartbeat from which the database's clock is read."""
ANSWER_WITHIN = 5.0
"""Timeout of a heartbeat in seconds; then the node reconnects."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

_END_OLD = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"  # noqa: S608
    f" AND (classid::bigint << 32) | objid::bigint = {LOCK_OF.format('%s')}"
)
"""Ends the old session that holds a node's lock; behind a proxy it may outlive its client."""
_JOIN = (
    "INSERT INTO nodes (id, name, host, pid, version, started, beat, home, settings, skills,"
    " draining)"
    " VALUES (%(id)s, %(name)s, %(host)s, %(pid)s, %(version)s, %(started)s, clock_timestamp(),"
    " %(home)s, %(settings)s, %(skills)s, NOT %(takes_chats)s)"
)
_FORGET = "DELETE FROM nodes WHERE fenced AND beat < clock_timestamp() - interval '1 day'"
_BEAT = (
    "UPDATE nodes SET beat = clock_timestamp() WHERE id = %s AND NOT fenced RETURNING extract(epoch FROM beat)::float8"
)
ORPHANED = "left"
"""Topic: chats have lost their node."""
JOINED = "joined"
"""Topic: a node has joined."""

log = structlog.get_logger(__name__)


def boot_time() -> float:
    """Return the time in seconds since boot, which includes the time for which the machine was suspended."""
    return time.clock_gettime(_CLOCK)


async def fence_without_chats(raw: Raw, node: str) -> None:
    """Fence a node once its open transaction has ended, and free its leases and reservations, but not its chats."""
    await raw.execute("SELECT 1 FROM nodes WHERE id = %s FOR UPDATE", [node])
    await raw.execute("UPDATE nodes SET fenced = TRUE WHERE id = %s", [node])
    for statement in FREE_REST:
        await raw.execute(statement.encode())


async def fence(raw: Raw, node: str) -> None:
    """Fence a node once its open transaction has ended, and free its chats, leases and reservations."""
    await fence_without_chats(raw, node)
    await raw.execute(FREE_CHATS.encode())


class NodeInfo(Struct, frozen=True, kw_only=True):
    """Description of a node in its row."""

    name: str
    host: str
    pid: int
    version: str
    started: float
    home: str = ""
    settings: str = ""
    """Digests of the settings that must be the same on all nodes."""
    skills: str = ""
    """Digest of the skills."""
    takes_chats: bool = True
    """False for a node that serves only its own terminal, and holds leases only while there is no other node."""


class Node:
    """This process as a node of the cluster. Implements `Fence`."""

    def __init__(self, url: str, facts: NodeInfo) -> None:
        self.id = token_hex(6)
        self.facts = facts
        self.fenced = asyncio.Event()
        """Set once another node has fenced this one, which may not write or send any more."""
        self._url = url
        self._raw: Raw | None = None
        self._connected = 0.0
        self._clock_sample = boot_time(), facts.started
        """The time by `boot_time` and, at the same moment, by the database's clock."""
        self._beaten = 0.0
        self._came = asyncio.Event()
        """Set, and replaced, at each heartbeat."""
        self._turn = asyncio.Lock()
        """Guards the connection."""
        self._is_ending = False

    @classmethod
    @asynccontextmanager
    async def joined(cls, url: str, facts: NodeInfo) -> AsyncIterator[Self]:
        """Join the cluster while the context is open, and release everything on leaving. Raises psycopg.Error."""
        node = cls(url, facts)
        try:
            await node._join()
            beating = asyncio.create_task(supervise("beats", node._keep_beating, SystemClock()), name="beats")
            try:
                yield node
            finally:
                beating.cancel()
                await asyncio.wait([beating])
                await node._leave()
        finally:
            await node._disconnect()

    @property
    def is_fresh(self) -> bool:
        """True if no other node can have fenced this one yet."""
        return not self.fenced.is_set() and boot_time() - self._beaten < FRESH_FOR

    @property
    def connected_for(self) -> float:
        """Seconds since the node connected to the database; 0 while it is not connected."""
        return boot_time() - self._connected if self._raw is not None else 0.0

    @property
    def database_time(self) -> float:
        """The time by the database's clock in seconds since the epoch, at most half a second wrong."""
        at, by_database = self._clock_sample
        return by_database + boot_time() - at

    async def wait_fresh(self) -> None:
        """Return at once if the node is fresh, else after the next heartbeat.

        Raises Fenced if it was fenced, or is not fresh when its program ends.
        """
        while not self.is_fresh:
            if self.fenced.is_set() or self._is_ending:
                raise Fenced
            await self._came.wait()

    def mark_fenced(self) -> None:
        """Note that another node has fenced this one."""
        if not self.fenced.is_set():
            log.info("this node was fenced; it writes and sends nothing any more", node=self.id)
            self.fenced.set()
            self._came.set()

    def end(self) -> None:
        """Let nothing wait for a heartbeat any more; the program ends, perhaps while the database is away."""
        self._is_ending = True
        self._came.set()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Raw]:
        """Open a transaction on the node's own connection, between two heartbeats. Raises psycopg.Error."""
        async with self._turn:
            if self._raw is None:
                raise psycopg.OperationalError("the database is away")
            async with asyncio.timeout(ANSWER_WITHIN), self._raw.transaction():
                yield self._raw

    async def drain(self) -> None:
        """Mark the node as draining, so that it is given no more chats; skipped if the database is away."""
        try:
            async with self.transaction() as raw:
                await raw.execute("UPDATE nodes SET draining = TRUE WHERE id = %s", [self.id])
        except (psycopg.Error, TimeoutError) as error:
            log.info("the other nodes were not told of the end", reason=str(error))

    async def _join(self) -> None:
        raw = await self._connect()
        async with raw.transaction():
            await raw.execute(_FORGET)
            await raw.execute(_JOIN, {"id": self.id, **asdict(self.facts)})
            await raw.execute("SELECT pg_notify(%s, %s)", [ALL, payload_of(self.id, JOINED, "")])
        within = SURE_WITHIN
        while not await self._beat(within):
            log.info("the database is slow; its time is not known yet", node=self.id)
            within *= 2
        log.info("joined", node=self.id, name=self.facts.name)

    async def _keep_beating(self) -> None:
        while not self.fenced.is_set():
            due = boot_time() + BEAT_EVERY
            try:
                async with self._turn, asyncio.timeout(ANSWER_WITHIN):
                    await self._beat()
            except (psycopg.Error, TimeoutError) as error:
                log.warning("no beat: the database is away, or cannot be written", node=self.id, reason=str(error))
                await self._disconnect()
            await asyncio.sleep(max(BREATH, due - boot_time()))

    async def _beat(self, within: float = SURE_WITHIN) -> bool:
        """Beat once. Returns False if the answer took `within` seconds, too long to tell the database's time."""
        raw, began = self._raw or await self._connect(), boot_time()
        row = await (await raw.execute(_BEAT, [self.id])).fetchone()
        if row is None:
            self.mark_fenced()
            return True
        self._beaten, ended = began, boot_time()
        is_sure = ended - began < within
        if is_sure:
            self._clock_sample = (began + ended) / 2, row[0]
        came, self._came = self._came, asyncio.Event()
        came.set()
        return is_sure

    async def _connect(self) -> Raw:
        async with AsyncExitStack() as undo:
            raw = await psycopg.AsyncConnection.connect(address(self._url), autocommit=True)
            undo.push_async_callback(raw.close)
            await raw.execute("SET synchronous_commit = off")  # a lost beat is made again
            await raw.execute("SET idle_in_transaction_session_timeout = '5s'")
            await raw.execute(_END_OLD, [self.id])
            await raw.execute(f"SELECT pg_advisory_lock({LOCK_OF.format('%s')})", [self.id])
            undo.pop_all()
        self._raw, self._connected = raw, boot_time()
        return raw

    async def _disconnect(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            await raw.close()

    async def _leave(self) -> None:
        """Release everything. If the database is away, other nodes do so once heartbeats are missing."""
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                raw = self._raw or await self._connect()
                async with raw.transaction():
                    await fence(raw, self.id)
                    await raw.execute("SELECT pg_notify(%s, %s)", [ALL, payload_of(self.id, ORPHANED, self.id)])
        except (psycopg.Error, TimeoutError) as error:
            log.warning("the database is away; the other nodes will notice that this one is gone", reason=str(error))
