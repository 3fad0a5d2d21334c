"""The engine that shares chats out among nodes: a durable queue of DBOS, in a schema of its own in the same database.

DBOS runs on threads and an event loop of its own, as it would replace and close the executor of ours.
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
"""Changes only if a waiting workflow of an older Parley means something else: each version takes only its own."""
AT_ONCE = 10
"""Most chats that a node takes at the same time, so that the first to look does not take all."""
POLL_EVERY = 0.25
"""Seconds."""
TAKEN_WITHIN = 10.0
"""Seconds within which a node claims a chat that it has got from the queue, if it ever does."""
KEPT_FOR = 24 * 3600.0
"""Seconds for which finished workflows are kept."""

Take = Callable[[ChatKey], Awaitable[bool]]


class DbosEngine:
    """Implements `Engine`. DBOS exists once in a process, and so does this."""

    def __init__(self, rows: ChatOwners, take: Take) -> None:
        """`take` lets this node work on a chat."""
        self._rows = rows
        self._loop = asyncio.get_running_loop()
        self._open: set[Future[bool]] = set()
        self._begun: dict[str, float] = {}
        """When a workflow was first seen as begun, by its id and the event loop's clock."""

        @DBOS.workflow(name="take")
        def workflow(chat: str, number: int) -> bool:
            """Work on a chat that has lost its node; its last ownership had this number."""
            taking = asyncio.run_coroutine_threadsafe(_take(take, chat), self._loop)
            self._open.add(taking)
            try:
                return taking.result()
            finally:
                self._open.discard(taking)

        self._workflow = workflow

    def cancel(self) -> None:
        """Take no chat any more."""
        for taking in list(self._open):
            taking.cancel()

    async def offer(self, orphans: Sequence[Orphan]) -> None:
        """See `Engine`. Chats that are in the queue, or being taken by a node that lives, are left alone."""
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
        """Return True if a node takes the chat of this workflow.

        A node that loses the database just after it has got a chat from the queue never begins, and is alive.
        """
        if status.removeprefix("PENDING ") not in alive:
            return False
        now = self._loop.time()
        return now - self._begun.setdefault(name, now) < TAKEN_WITHIN

    async def forget_old(self) -> None:
        """Delete the records of what was taken long ago."""
        await asyncio.to_thread(_forget, datetime.fromtimestamp(time.time() - KEPT_FOR, UTC))

    def _enqueue(self, orphan: Orphan) -> None:
        with SetWorkflowID(_name(orphan)):
            DBOS.enqueue_workflow(QUEUE, self._workflow, str(orphan.chat), orphan.number)


@asynccontextmanager
async def launched(url: str, node: str, rows: ChatOwners, take: Take) -> AsyncIterator[DbosEngine]:
    """Take chats from the queue while the context is open; `take` lets this node work on one."""
    logging.getLogger("dbos").setLevel(logging.CRITICAL)  # it writes hundreds of lines about a database that is away
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
        """Give up those on which nothing passes any more, until cancelled: DBOS would wait for them for ever."""
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
