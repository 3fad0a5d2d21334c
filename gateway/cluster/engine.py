"""Distributes orphaned chats among nodes by a durable queue of DBOS, in a schema of its own in the same database.

DBOS runs on its own threads and event loop, because it would replace and close the executor of ours.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from weakref import WeakSet

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, error
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from agent_core.clock import SystemClock
from agent_core.supervise import supervise
from channels.base import ChatKey
from gateway.cluster.chat_owners import ChatOwners, Orphan
from gateway.errors import ParleyError
from gateway.store.postgres import LOOK_EVERY, Raw, abort_if_dead, is_waiting, options
from gateway.store.postgres_opening import DatabaseAway

NAME = "parley"
QUEUE = "chats"
VERSION = "1"
"""Changed only if the meaning of a queued workflow changes, as DBOS runs only workflows of its own version."""
AT_ONCE = 10
"""Chats that a node claims at the same time, so that the first one does not claim all."""
POLL_EVERY = 0.25
"""Seconds."""
TAKEN_WITHIN = 10.0
"""Seconds within which a node claims a chat from the queue, if it ever does."""
KEPT_FOR = 24 * 3600.0
"""Seconds for which finished workflows are kept."""

Take = Callable[[ChatKey], Awaitable[bool]]


class DbosEngine:
    """Implements `Engine`. DBOS exists once in a process, and so does this."""

    def __init__(self, rows: ChatOwners, take: Take) -> None:
        """`take` claims a chat for this node."""
        self._rows = rows
        self._loop = asyncio.get_running_loop()
        self._open: set[Future[bool]] = set()
        self._begun: dict[str, float] = {}
        """When each workflow was first seen as started, by the event loop's clock."""

        @DBOS.workflow(name="take")
        def workflow(chat: str, number: int) -> bool:
            """Claim an orphaned chat, whose last claim had this number."""
            taking = asyncio.run_coroutine_threadsafe(_take(take, chat), self._loop)
            self._open.add(taking)
            try:
                return taking.result()
            finally:
                self._open.discard(taking)

        self._workflow = workflow

    def cancel(self) -> None:
        """Claim no more chats."""
        for taking in list(self._open):
            taking.cancel()

    async def offer(self, orphans: Sequence[Orphan]) -> None:
        """See `Engine`. Chats that are queued, or being claimed by a live node, are skipped."""
        alive = await self._rows.alive()
        statuses = await asyncio.to_thread(_statuses, [_name(each) for each in orphans])
        self._begun = {name: at for name, at in self._begun.items() if name in statuses}
        for orphan in orphans:
            status = statuses.get(_name(orphan))
            if status == "ENQUEUED" or (status is not None and self._is_being_taken(_name(orphan), status, alive)):
                continue
            # A workflow's id is never used twice: the first one may have run, or died with its node.
            offered = orphan if status is None else await self._rows.renumbered(orphan.chat)
            if offered is not None:
                await asyncio.to_thread(self._enqueue, offered)

    def _is_being_taken(self, name: str, status: str, alive: Collection[str]) -> bool:
        """Return True if a node is claiming the chat of this workflow.

        A node that lost the database right after it got the chat from the queue is alive, and never starts.
        """
        if status.removeprefix("PENDING ") not in alive:
            return False
        now = self._loop.time()
        return now - self._begun.setdefault(name, now) < TAKEN_WITHIN

    async def forget_old(self) -> None:
        """Delete the records of old claims."""
        await asyncio.to_thread(_forget, datetime.fromtimestamp(time.time() - KEPT_FOR, UTC))

    def _enqueue(self, orphan: Orphan) -> None:
        with SetWorkflowID(_name(orphan)):
            DBOS.enqueue_workflow(QUEUE, self._workflow, str(orphan.chat), orphan.number)


@asynccontextmanager
async def launched(url: str, node: str, rows: ChatOwners, take: Take) -> AsyncIterator[DbosEngine]:
    """Claim chats from the queue by calling `take` while the context is open."""
    logging.getLogger("dbos").setLevel(logging.CRITICAL)  # it logs hundreds of lines while the database is away
    lines = _Lines(url)
    config: DBOSConfig = {
        "name": NAME,
        "system_database_url": url,
        "application_version": VERSION,
        "executor_id": node,
        "serializer": DBOSPortableJSONSerializer(),
        "sys_db_pool_size": 3,
        "db_engine_kwargs": {"connect_args": options(url), "pool_events": [(lines.opened, "connect")]},
        "max_executor_threads": AT_ONCE + 4,
        "log_level": "CRITICAL",
        "use_listen_notify": False,
    }
    DBOS(config=config)
    engine = DbosEngine(rows, take)
    name = "the engine's connections"
    looking = asyncio.create_task(supervise(name, lines.keep_looking, SystemClock()), name=name)
    try:
        await asyncio.to_thread(_launch)
        yield engine
    finally:
        engine.cancel()
        await asyncio.to_thread(partial(DBOS.destroy, destroy_registry=True))
        looking.cancel()
        await asyncio.wait([looking])


class _Lines:
    """The engine's connections to the database."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._all: WeakSet[Raw] = WeakSet()

    def opened(self, raw: Raw, _: object) -> None:
        """Note a new connection."""
        self._all.add(raw)

    async def keep_looking(self) -> None:
        """Abort statements on dead connections until cancelled: DBOS would wait for them for ever."""
        before: list[Raw] = []
        while True:
            await asyncio.sleep(LOOK_EVERY)
            waiting = [raw for raw in list(self._all) if is_waiting(raw)]
            for raw in waiting:
                if raw in before:
                    await asyncio.to_thread(abort_if_dead, raw, self._url)
            before = waiting


async def _take(take: Take, chat: str) -> bool:
    return await take(ChatKey.parse(chat))


def _launch() -> None:
    try:
        DBOS.launch()
        DBOS.register_queue(QUEUE, worker_concurrency=AT_ONCE, polling_interval_sec=POLL_EVERY)
    except OperationalError as trouble:
        raise DatabaseAway(
            f"The connection to the database was lost at the start ({_first_line(trouble)}). Start Parley again."
        ) from trouble
    except (error.DBOSException, SQLAlchemyError) as trouble:
        raise ParleyError(
            f"The engine that shares chats out among nodes cannot begin ({_first_line(trouble)}). It keeps its "
            "tables in the schema dbos of the database in PARLEY_DATABASE_URL, whose user needs the right to create it."
        ) from trouble


def _first_line(trouble: Exception) -> str:
    return str(trouble).partition("\n")[0]


def _name(orphan: Orphan) -> str:
    return f"take:{orphan.chat}:{orphan.number}"


def _statuses(names: list[str]) -> dict[str, str]:
    """Return the state of each workflow that exists, with the node's id after that of one that runs."""
    found = DBOS.list_workflows(workflow_ids=names, load_input=False, load_output=False)
    running = {each.workflow_id: f"PENDING {each.executor_id}" for each in found if each.status == "PENDING"}
    return {each.workflow_id: each.status for each in found} | running


def _forget(before: datetime) -> None:
    found = DBOS.list_workflows(end_time=before.isoformat(), load_input=False, load_output=False)
    if found:
        DBOS.delete_workflows([each.workflow_id for each in found])
