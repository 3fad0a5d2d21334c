"""One process among those that share a database: its row, its beats, and the end of its right to write."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from secrets import token_hex
from typing import Self, TypeAlias

import psycopg
import structlog
from psycopg.rows import TupleRow

from agent_core.clock import SystemClock
from agent_core.supervise import supervise
from gateway.cluster.signals import ALL, written
from gateway.store.connection import Fenced
from gateway.store.nodes import FREE, LOCK_OF
from gateway.store.postgres import address

Raw: TypeAlias = "psycopg.AsyncConnection[TupleRow]"

BEAT_EVERY = 0.5
"""Seconds between the begins of two beats."""
BREATH = 0.1
"""Seconds between the end of a beat that took longer and the next one."""
FRESH_FOR = 1.2
"""Seconds after the begin of a beat in which no other node may have taken over; less than DEAD_AFTER."""
SURE_WITHIN = 1.0
"""Seconds for a beat that tells the database's time well enough."""
ANSWER_WITHIN = 5.0
"""Seconds for one beat; then the connection is made anew."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

_END_OLD = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"  # noqa: S608
    f" AND (classid::bigint << 32) | objid::bigint = {LOCK_OF.format('%s')}"
)
"""Ends the session that had the lock of a node: behind a proxy it may outlive the connection to it."""
_JOIN = (
    "INSERT INTO nodes (id, name, host, pid, version, started, beat, home, settings, skills,"
    " draining)"
    " VALUES (%(id)s, %(name)s, %(host)s, %(pid)s, %(version)s, %(started)s, clock_timestamp(),"
    " %(home)s, %(settings)s, %(skills)s, NOT %(takes_chats)s) RETURNING extract(epoch FROM beat)::float8"
)
_FORGET = "DELETE FROM nodes WHERE fenced AND beat < clock_timestamp() - interval '1 day'"
_BEAT = (
    "UPDATE nodes SET beat = clock_timestamp() WHERE id = %s AND NOT fenced RETURNING extract(epoch FROM beat)::float8"
)
LEFT = "left"
"""The topic of news that chats have lost their node."""
JOINED = "joined"
"""The topic of news that there is one more node."""

log = structlog.get_logger(__name__)


def awake() -> float:
    """Return seconds of a clock that also runs while the process is frozen or the machine asleep."""
    return time.clock_gettime(_CLOCK)


async def give_up(raw: Raw, node: str) -> None:
    """Fence a node after its transaction, if one is open, and free what it holds."""
    await raw.execute("SELECT 1 FROM nodes WHERE id = %s FOR UPDATE", [node])
    await raw.execute("UPDATE nodes SET fenced = TRUE WHERE id = %s", [node])
    for statement in FREE:
        await raw.execute(statement.encode())


@dataclass(frozen=True, kw_only=True)
class NodeInfo:
    """The facts about a node that others are shown."""

    name: str
    host: str
    pid: int
    version: str
    started: float
    home: str = ""
    settings: str = ""
    """A digest of what has to be the same on all nodes."""
    skills: str = ""
    """A digest of the skills."""
    takes_chats: bool = True
    """False for a node that works in its own terminal only, and stands in for the others while there are none."""


class Node:
    """This process, for as long as no other one has taken over its work. Implements `Fence`."""

    def __init__(self, url: str, facts: NodeInfo) -> None:
        self.id = token_hex(6)
        self.facts = facts
        self.lost = asyncio.Event()
        """Set once other nodes have taken over what this one did: it may write and send no more."""
        self._url = url
        self._raw: Raw | None = None
        self._connected = 0.0
        self._told = awake(), facts.started
        """The time by `awake` and, at that moment, by the database's clock."""
        self._beaten = 0.0
        self._came = asyncio.Event()
        """Set, and replaced, at each beat."""
        self._turn = asyncio.Lock()
        """Held by whoever uses the connection."""

    @classmethod
    @asynccontextmanager
    async def joined(cls, url: str, facts: NodeInfo) -> AsyncIterator[Self]:
        """Be a node while the context is open; then give up everything that it holds. Raises psycopg.Error."""
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
        """True if no other node can have taken over yet."""
        return not self.lost.is_set() and awake() - self._beaten < FRESH_FOR

    @property
    def stood_for(self) -> float:
        """Seconds for which the connection to the database has stood."""
        return awake() - self._connected if self._raw is not None else 0.0

    @property
    def database_time(self) -> float:
        """The time by the clock of the database in seconds since the epoch; not more than half a second wrong."""
        at, told = self._told
        return told + awake() - at

    async def fresh(self) -> None:
        """Return at once if no other node can have taken over, else after the next beat. Raises Fenced once one has."""
        while not self.is_fresh:
            if self.lost.is_set():
                raise Fenced
            await self._came.wait()

    def lose(self) -> None:
        """Note that other nodes have taken over."""
        if not self.lost.is_set():
            log.info("nothing more is written or sent, as other nodes have taken over", node=self.id)
            self.lost.set()
            self._came.set()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Raw]:
        """Open a transaction on the node's own connection, between two beats. Raises psycopg.Error."""
        async with self._turn:
            if self._raw is None:
                raise psycopg.OperationalError("the database is away")
            async with asyncio.timeout(ANSWER_WITHIN), self._raw.transaction():
                yield self._raw

    async def drain(self) -> None:
        """Tell the other nodes that this one takes no further chats; if the database is away, they see that it ends."""
        try:
            async with self.transaction() as raw:
                await raw.execute("UPDATE nodes SET draining = TRUE WHERE id = %s", [self.id])
        except (psycopg.Error, TimeoutError) as error:
            log.info("the other nodes were not told of the end", reason=str(error))

    async def _join(self) -> None:
        raw, began = await self._connect(), awake()
        async with raw.transaction():
            await raw.execute(_FORGET)
            joining = await raw.execute(_JOIN, {"id": self.id, **vars(self.facts)})
            self._told = awake(), *(await joining.fetchall())[0]
            await raw.execute("SELECT pg_notify(%s, %s)", [ALL, written(self.id, JOINED, "")])
        self._beaten = began
        log.info("joined", node=self.id, name=self.facts.name)

    async def _keep_beating(self) -> None:
        while not self.lost.is_set():
            due = awake() + BEAT_EVERY
            try:
                async with self._turn, asyncio.timeout(ANSWER_WITHIN):
                    await self._beat()
            except (psycopg.Error, TimeoutError) as error:
                log.warning("no beat: the database is away, or cannot be written", node=self.id, reason=str(error))
                await self._disconnect()
            await asyncio.sleep(max(BREATH, due - awake()))

    async def _beat(self) -> None:
        raw, began = self._raw or await self._connect(), awake()
        row = await (await raw.execute(_BEAT, [self.id])).fetchone()
        if row is None:
            self.lose()
            return
        self._beaten, ended = began, awake()
        if ended - began < SURE_WITHIN:
            self._told = (began + ended) / 2, row[0]
        came, self._came = self._came, asyncio.Event()
        came.set()

    async def _connect(self) -> Raw:
        async with AsyncExitStack() as undo:
            raw = await psycopg.AsyncConnection.connect(address(self._url), autocommit=True)
            undo.push_async_callback(raw.close)
            await raw.execute("SET synchronous_commit = off")  # a lost beat is made again
            await raw.execute("SET idle_in_transaction_session_timeout = '5s'")
            await raw.execute(_END_OLD, [self.id])
            await raw.execute(f"SELECT pg_advisory_lock({LOCK_OF.format('%s')})", [self.id])
            undo.pop_all()
        self._raw, self._connected = raw, awake()
        return raw

    async def _disconnect(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            await raw.close()

    async def _leave(self) -> None:
        """Give up what this node holds. If the database is away, the others do it once the beats are missing."""
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                raw = self._raw or await self._connect()
                async with raw.transaction():
                    await give_up(raw, self.id)
                    await raw.execute("SELECT pg_notify(%s, %s)", [ALL, written(self.id, LEFT, self.id)])
        except (psycopg.Error, TimeoutError) as error:
            log.warning("the database is away; the other nodes will notice that this one is gone", reason=str(error))
