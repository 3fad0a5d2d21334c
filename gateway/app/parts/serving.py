"""The served channels, the scheduler, and the work beside them."""

from collections.abc import Sequence
from functools import partial

from channels.base import ChatKey, Menu
from channels.capabilities import CatchesUp
from gateway.app.catch_up import CatchUp
from gateway.app.channel_server import ChannelServer
from gateway.app.connections import Connections, Life
from gateway.app.duties import Duties
from gateway.app.gap_reader import GapReader
from gateway.app.metrics import Cluster, Counted, Metrics
from gateway.app.parts.commands import CommandParts
from gateway.app.parts.events import EventParts
from gateway.app.parts.parts import Parts
from gateway.app.plugin_routes import routes_of
from gateway.app.plugins import duties_of, screens_of
from gateway.app.readiness import Readiness
from gateway.app.remote_gaps import RemoteGaps
from gateway.cluster.leases import Work
from gateway.plugin import Running
from gateway.schedule.jobs.digest import Digests
from gateway.schedule.jobs.due_jobs import DueJobs
from gateway.schedule.jobs.missed import MissedSlots
from gateway.schedule.scheduler import Scheduler
from gateway.upkeep.damage import Damage
from gateway.upkeep.mcp_notices import McpNotices
from gateway.upkeep.nightly_backup import NightlyBackup
from gateway.upkeep.upkeep import Upkeep

MOST_NAMED = 5
"""Most chats named in one message to owners."""


class ServingParts:
    """The served channels, the scheduler, and the work beside them."""

    def __init__(self, parts: Parts, commands: CommandParts, events: EventParts) -> None:
        base, people, chats = parts.base, parts.people, parts.chats
        self._parts, self._accept = parts, events.handler.accept
        self.remote_gaps = RemoteGaps(
            chats.gaps, base.store.read_marks, events.dispatcher, base.channels, base.leases, events.hearing
        )
        menu = Menu(base.secrets.masked(commands.table.specs), commands.suggest, commands.form)
        self.channel_server = ChannelServer(
            base.channels, events.handler, menu, people.supervisor, self._catch_up, leases=base.leases
        )
        life = Life(events.dispatcher, chats.gaps, people.roles, base.peers, base.system.plugins.digests)
        self.connections = Connections(
            self.channel_server, parts.agents.live, base.delivery, base.store, life, clock=base.clock
        )
        self.scheduler = _scheduler(parts, events)
        self.upkeep = _upkeep(parts, events)
        self.readiness = Readiness(base.store, base.channels, base.leases, base.drain, base.home)
        self.metrics = _metrics(parts, events)
        running = Running(commands.table, self.metrics.read, parts.agents.errands)
        self.screens = screens_of(parts.plugins)
        """The screens of plugins, by the plugin's name."""
        commands.plugins.screens = self.screens
        failures = base.system.plugins.failures
        self.routes = routes_of(parts.plugins, running, failures)
        commands.plugins.duties = duties_of(parts.plugins, running, failures)
        self.duties = Duties(self._loops(), people.supervisor, base.leases, commands.plugins.duties)

    def _loops(self) -> dict[str, Work]:
        """Return what runs beside the channels, once among all processes, by the name under which it is reported."""
        base, people = self._parts.base, self._parts.people
        tools = McpNotices(base.approved, people.owners)
        loops: dict[str, Work] = {
            "upkeep": self.upkeep.run,
            "damage": Damage(base.store, base.delivery, people.owners, base.current).tell,
            "search index": base.store.search.catch_up,
            "MCP tools": tools.tell_of_changes,
            "unusable MCP tools": tools.tell_of_unusable,
            "pairing": people.pairing.run,
            "strangers": partial(people.strangers.run, self._accept),
        }
        if base.settings.tick_every is not None:
            loops["what is due"] = partial(self.scheduler.run, base.settings.tick_every)
        return loops

    def _catch_up(self, name: str, channel: CatchesUp) -> CatchUp:
        """Return what reads the missed messages of a platform."""
        base, chats = self._parts.base, self._parts.chats
        reader = GapReader(
            name=name,
            channel=channel,
            inbox=partial(self._accept, is_live=False),
            store=base.store,
            clock=base.clock,
            gaps=chats.gaps,
            tell=self._tell_of_gaps,
        )
        people = self._parts.people.roles.on(name)
        return CatchUp(channel, self._accept, reader, base.store, base.clock, chats.pace, people=people)

    def _tell_of_gaps(self, reason: str, chats: Sequence[ChatKey]) -> None:
        named = ", ".join(map(str, chats[:MOST_NAMED])) + (" ..." if len(chats) > MOST_NAMED else "")
        self._parts.people.owners.tell("gap_not_read", count=len(chats), chats=named, reason=reason)


def _scheduler(parts: Parts, events: EventParts) -> Scheduler:
    base, jobs = parts.base, parts.jobs
    missed = MissedSlots(base.store, base.delivery, base.clock, base.current, base.new_request_id)
    due = DueJobs(
        base.store,
        jobs.rights,
        base.clock,
        events.handler.accept,
        missed,
        platforms=base.channels.names(),
        tick=jobs.heartbeats.tick,
    )
    digests = Digests(
        base.store, base.delivery, parts.people.access, jobs.firing_messages, jobs.firing_delivery, owed=parts.owed
    )
    return Scheduler(due, missed, digests, base.clock, base.planned)


def _upkeep(parts: Parts, events: EventParts) -> Upkeep:
    base, owners = parts.base, parts.people.owners
    backup = NightlyBackup(base.home, base.current, base.clock, base.store, owners, base.secrets)
    return Upkeep(
        base.store,
        base.clock,
        backup,
        events.before_restore,
        parts.files.versions,
        outgoing=base.outgoing,
        current=base.current if base.settings.nightly else None,
    )


def _metrics(parts: Parts, events: EventParts) -> Metrics:
    base = parts.base
    tallies = events.admission.accepted, parts.agents.runner.tally, base.delivery, parts.chats.firings.tally
    return Metrics(
        Counted(*tallies, parts.guards.budgets),
        base.store,
        base.channels,
        home=base.home,
        about=base.about,
        cluster=Cluster("" if base.node_statuses is None else base.current.now.node, base.node_statuses),
        clock=base.clock,
    )
