"""The metrics of the running gateway, read from what its parts count and from their state."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from agent_core.clock import Clock
from channels.base import Channel
from channels.capabilities import KnowsReach
from channels.connected import Connected
from gateway.app.readiness import is_connected
from gateway.delivery.delivery import Delivery
from gateway.permissions.budgets import Budgets
from gateway.records.metric import Durations, Metric, counter, gauge
from gateway.records.run_tally import RunTally
from gateway.schedule.jobs.firings import JobTally
from gateway.store.budget import ALL
from gateway.store.inbox import Backlog
from gateway.store.nodes import NodeStatus, NodeStatuses
from gateway.store.opening import FILE
from gateway.store.store import Store
from gateway.texts.about import About

Samples = Iterator[tuple[tuple[str, ...], float]]


class Counted(Struct, frozen=True):
    """The parts of the gateway that are read."""

    accepted: Counter[str]
    """Messages by platform."""
    runs: RunTally
    delivery: Delivery
    jobs: JobTally
    budgets: Budgets


class Cluster(Struct, frozen=True):
    """The place of this process among others."""

    name: str
    """Its name; empty if it is alone."""
    nodes: NodeStatuses | None
    """Returns all nodes; None if it is alone."""


class Metrics:
    """Reads the metrics. None of them names a chat or a person."""

    def __init__(
        self,
        parts: Counted,
        store: Store,
        channels: Connected,
        *,
        home: Path,
        about: Callable[[], About],
        cluster: Cluster,
        clock: Clock,
    ) -> None:
        self._parts = parts
        self._store = store
        self._channels = channels
        self._home = home
        self._about = about
        self._cluster = cluster
        self._clock = clock

    async def read(self) -> Sequence[Metric | Durations]:
        backlog = await self._store.inbox.backlog()
        nodes = [] if self._cluster.nodes is None else await self._cluster.nodes()
        counted = [*self._messages(backlog), *self._runs(), *self._deliveries(), *self._jobs()]
        return [*counted, *self._state(), *_nodes(nodes)]

    def _messages(self, backlog: Backlog) -> Iterator[Metric]:
        counts, by = self._parts, ("platform",)
        oldest = 0.0 if backlog.oldest is None else max(0.0, self._clock.time() - backlog.oldest)
        yield counter("parley_messages_accepted", "Messages and commands that were stored", by, _one(counts.accepted))
        yield counter("parley_messages_answered", "Answers that reached their chat", by, _one(counts.runs.answered))
        yield gauge("parley_messages_waiting", "Stored events not dealt with yet", [((), backlog.count)])
        yield gauge("parley_oldest_waiting_seconds", "Age of the oldest of them", [((), oldest)])

    def _runs(self) -> Iterator[Metric | Durations]:
        runs = self._parts.runs
        yield counter("parley_runs", "Runs that ended, of chats, tasks and jobs", ("outcome",), _one(runs.runs))
        yield Durations("parley_run_seconds", "Seconds that runs took", runs.seconds)
        yield counter("parley_model_calls", "Calls of models", ("model", "outcome"), runs.model_calls.items())
        yield counter("parley_model_tokens", "Tokens of model calls", ("model", "kind"), runs.tokens.items())
        yield counter("parley_model_cost_usd", "Cost of model calls in US dollars", ("model",), _one(runs.cost))
        yield counter("parley_tool_calls", "Calls of tools", ("tool", "outcome"), runs.tool_calls.items())

    def _deliveries(self) -> Iterator[Metric]:
        tally, by = self._parts.delivery.tally, ("platform",)
        yield counter(
            "parley_deliveries", "Messages sent and edited", ("platform", "outcome"), tally.deliveries.items()
        )
        yield counter("parley_delivery_retries", "Calls of platforms that are repeated", by, _one(tally.retries))
        yield counter("parley_rate_limits", "Calls that a platform refused with a wait", by, _one(tally.rate_limits))

    def _jobs(self) -> Iterator[Metric | Durations]:
        jobs = self._parts.jobs
        yield counter("parley_job_runs", "Jobs that ran", ("outcome",), _one(jobs.runs))
        yield Durations("parley_job_lateness_seconds", "Seconds from when a job was due to its start", jobs.lateness)

    def _state(self) -> Iterator[Metric]:
        about, by = self._about(), ("platform",)
        info = ("version", "model", "node")
        connected = [((each.name,), float(is_connected(each))) for each in self._channels]
        files = {name: self._home / f"{FILE}{suffix}" for name, suffix in (("database", ""), ("wal", "-wal"))}
        sizes = [((name,), _size(file)) for name, file in files.items()]
        yield gauge("parley_info", "Always 1", [((about.version, about.model, self._cluster.name), 1.0)], info)
        yield gauge("parley_started_seconds", "Time of the start, in seconds since 1970", [((), about.started)])
        away = [((each.name,), float(_is_cut_off(each))) for each in self._channels if isinstance(each, KnowsReach)]
        yield gauge("parley_channel_unreachable", "1 if the platform is out of reach of this node", away, by)
        yield gauge("parley_channel_connected", "1 if the platform delivers events", connected, by)
        yield gauge(
            "parley_budget_used_ratio", "Used share of the installation's budgets", self._budget(), ("period", "unit")
        )
        yield gauge("parley_store_bytes", "Size of the database and its write-ahead log", sizes, ("file",))
        yield gauge("parley_disk_free_bytes", "Free space", [((), float(shutil.disk_usage(self._home).free))])

    def _budget(self) -> Samples:
        for budget in self._parts.budgets.of(ALL):
            allowance = budget.allowance
            share = self._parts.budgets.used(budget) / allowance.amount if allowance.amount else 1.0
            yield (allowance.period.value, allowance.unit.value), share


def _nodes(nodes: Sequence[NodeStatus]) -> Iterator[Metric]:
    """Yield the metrics of all nodes, which each of them tells."""
    if nodes:
        by = ("node",)
        yield gauge(
            "parley_node_beat_seconds", "Age of a node's last beat", [((e.name,), e.beat_age) for e in nodes], by
        )
        yield gauge("parley_node_chats", "Chats that a node works on", [((e.name,), e.chats) for e in nodes], by)
        yield gauge("parley_node_runs", "Answers that a node works on", [((e.name,), e.runs) for e in nodes], by)


def _one(counts: Mapping[str, float]) -> Samples:
    """Yield the samples of a metric with one label."""
    for label, value in counts.items():
        yield (label,), value


def _is_cut_off(channel: Channel) -> bool:
    return isinstance(channel, KnowsReach) and channel.reach.is_cut_off


def _size(file: Path) -> float:
    try:
        return float(file.stat().st_size)
    except OSError:
        return 0.0
