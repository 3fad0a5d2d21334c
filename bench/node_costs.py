"""Costs of a message, an idle node and a notification: CPU time of nodes and PostgreSQL, commits, log, connections."""

import asyncio
import importlib
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from statistics import fmean

from bench.cluster_stage import ClusterStage
from bench.figures import Figure
from tests.postgres import rows

IDLE_S = 8.0
SCALES = (10, 100, 1000)
"""Numbers of nodes to which the costs are scaled."""
RATE = 10.0
"""Messages a second for each of those nodes."""
LISTENERS = 40
NOTIFICATIONS = 400
_COUNTS = (
    "SELECT xact_commit + xact_rollback, pg_current_wal_lsn() - '0/0'::pg_lsn,"
    " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')"
    " FROM pg_stat_database WHERE datname = current_database()"
)


@dataclass(frozen=True)
class Reading:
    """The counters at one moment: CPU time in seconds, transactions, bytes of the log, connections."""

    at: float
    nodes: float
    database: float
    transactions: float
    wal: float
    connections: float

    @classmethod
    def of(cls, scene: ClusterStage) -> "Reading":
        rows(scene.database.url, "SELECT pg_stat_clear_snapshot()")
        [(transactions, wal, connections)] = rows(scene.database.url, _COUNTS)
        counts = [float(str(each)) for each in (transactions, wal, connections)]
        return cls(time.monotonic(), scene.nodes.cpu, scene.database.cpu, *counts)


@dataclass(frozen=True)
class Costs:
    """Of one message, and of one idle node for a second."""

    nodes: int
    message_node: float
    """Milliseconds of CPU time."""
    message_database: float
    message_transactions: float
    message_wal: float
    """Bytes."""
    idle_node: float
    """Seconds of CPU time."""
    idle_database: float
    idle_transactions: float
    connections: float

    @classmethod
    def mean(cls, runs: Sequence["Costs"]) -> "Costs":
        """Return the mean of measurements with the same number of nodes."""
        means = zip(*map(astuple, runs), strict=True)
        return cls(runs[0].nodes, *(fmean(values) for values in [*means][1:]))

    @property
    def message(self) -> float:
        """Milliseconds of CPU time, of the node and of PostgreSQL."""
        return self.message_node + self.message_database

    def figures(self) -> Iterator[Figure]:
        name = f"{self.nodes} nodes: "
        yield Figure(f"{name}CPU a message, of the nodes", self.message_node, "ms")
        yield Figure(f"{name}CPU a message, of PostgreSQL", self.message_database, "ms")
        yield Figure(f"{name}transactions a message", self.message_transactions, "")
        yield Figure(f"{name}log of PostgreSQL a message", self.message_wal / 1000, "kB")
        yield Figure(f"{name}CPU of an idle node", 100 * self.idle_node, "% of a core")
        yield Figure(f"{name}CPU of PostgreSQL for an idle node", 100 * self.idle_database, "% of a core")
        yield Figure(f"{name}transactions a second for an idle node", self.idle_transactions, "")
        yield Figure(f"{name}connections of a node", self.connections, "")


async def measured(scene: ClusterStage, work: Callable[[], Awaitable[object]], messages: int) -> Costs:
    """Measure a while of rest, then the work with so many messages, from which the cost of rest is taken off."""
    count = len(scene.nodes.programs)
    before = Reading.of(scene)
    await asyncio.sleep(IDLE_S)
    rested = Reading.of(scene)
    await work()
    worked = Reading.of(scene)
    rest, busy = rested.at - before.at, worked.at - rested.at

    def of_message(get: Callable[[Reading], float]) -> float:
        idle = (get(rested) - get(before)) / rest
        return (get(worked) - get(rested) - idle * busy) / messages

    def of_idle(get: Callable[[Reading], float]) -> float:
        return (get(rested) - get(before)) / rest / count

    return Costs(
        count,
        1000 * of_message(lambda each: each.nodes),
        1000 * of_message(lambda each: each.database),
        of_message(lambda each: each.transactions),
        of_message(lambda each: each.wal),
        of_idle(lambda each: each.nodes),
        of_idle(lambda each: each.database),
        of_idle(lambda each: each.transactions),
        rested.connections / count,
    )


def scaled(costs: Costs, notification: float) -> Iterator[Figure]:
    """Calculate the load of a PostgreSQL under many nodes.

    Each message is notified, and each node listens; `notification` is in seconds of CPU time for a listener. Each node
    looks for dead ones twice a second, at a row a node, which the measured rest hardly shows: a microsecond a row.
    """
    for count in SCALES:
        name = f"calculated, {count} nodes with {RATE:.0f} messages a second each: "
        messages = count * RATE
        transactions = count * costs.idle_transactions + messages * costs.message_transactions
        yield Figure(f"{name}cores of PostgreSQL for messages", messages * costs.message_database / 1000, "")
        yield Figure(f"{name}cores for notifications", messages * count * notification, "")
        yield Figure(f"{name}cores for beats, leases and the queue", count * costs.idle_database, "")
        yield Figure(f"{name}cores for the look for dead nodes", 2 * count**2 * 1e-6, "")
        yield Figure(f"{name}transactions a second", transactions, "")
        yield Figure(f"{name}log", messages * costs.message_wal / 1e6, "MB/s")
        yield Figure(f"{name}connections", count * costs.connections, "")


def notification(scene: ClusterStage) -> float:
    """Return the CPU time of PostgreSQL for a notification and each node that listens, in seconds."""
    psycopg = importlib.import_module("psycopg")
    with ExitStack() as stack:
        for _ in range(LISTENERS):
            listener = stack.enter_context(psycopg.connect(scene.database.url, autocommit=True))
            listener.execute("LISTEN bench")
        speaker = stack.enter_context(psycopg.connect(scene.database.url, autocommit=True))
        spent = [
            _spent(scene, lambda: speaker.execute("SELECT 1")),
            _spent(scene, lambda: speaker.execute("NOTIFY bench")),
        ]
    alone, told = spent
    return (told - alone) / LISTENERS


def _spent(scene: ClusterStage, do: Callable[[], object]) -> float:
    """Return the CPU time of the database for one of many calls, in seconds."""
    before = scene.database.cpu
    for _ in range(NOTIFICATIONS):
        do()
    return (scene.database.cpu - before) / NOTIFICATIONS
