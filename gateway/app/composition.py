"""Builds a running gateway: every part is created here, in `commands`, `chats` or `foundation`, with what it uses."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cached_property, partial

import structlog

from channels.base import Channel, ChatKey, Menu, Sender
from channels.capabilities import CatchesUp
from channels.commands import Suggestion, Typed
from gateway.app.admission import Admission
from gateway.app.app import LEAVE_WITHIN, App
from gateway.app.app_settings import AppSettings, Stored, System
from gateway.app.catch_up import CatchUp
from gateway.app.channel_server import ChannelServer
from gateway.app.chat_commands import ChatCommands
from gateway.app.command_handler import CommandHandler, TypedAnswers
from gateway.app.connections import Connections, Life
from gateway.app.duties import Duties
from gateway.app.event_tasks import EventTasks
from gateway.app.gap_reader import GapReader
from gateway.app.gate import Gate
from gateway.app.handler import ChannelMessageHandler
from gateway.app.languages import Languages
from gateway.app.local_chats import LocalChats, Resumed, Working
from gateway.app.metrics import Cluster, Parts, Vitals
from gateway.app.peers import NoPeers
from gateway.app.recovery import Recovery
from gateway.app.remote_gaps import RemoteGaps
from gateway.app.router import EventRouter
from gateway.app.shared_state import SharedState
from gateway.app.yes_or_no import PlainWords
from gateway.app.zone_answers import ZoneAnswers
from gateway.chat.ask_user_tool import FreeAnswers
from gateway.chat.replies import Replies
from gateway.cluster.leases import Work
from gateway.cluster.protocols import Dispatcher
from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.permissions.approved_tools import ApprovedTools
from gateway.runs.agents import AgentParts
from gateway.schedule.jobs.digest import Digests
from gateway.schedule.jobs.due_jobs import DueJobs
from gateway.schedule.jobs.missed import MissedSlots
from gateway.schedule.scheduler import Scheduler
from gateway.store.nodes import differences
from gateway.store.store import Store
from gateway.store.topics import Topic
from gateway.texts.about import About
from gateway.upkeep.before_restore import BeforeRestore
from gateway.upkeep.damage import Damage
from gateway.upkeep.mcp_notices import McpNotices
from gateway.upkeep.nightly_backup import NightlyBackup
from gateway.upkeep.upkeep import Upkeep

log = structlog.get_logger(__name__)

MOST_NAMED = 5
"""Most chats named in one message to owners."""


class Composition(SharedState):
    """The parts of a gateway. Each is created once, when it is first asked for."""

    # Inbound events

    @cached_property
    def handling(self) -> EventTasks:
        return EventTasks(self.drain, self._clock)

    @cached_property
    def words(self) -> PlainWords:
        return PlainWords(self.store, self.delivery, self._clock)

    @cached_property
    def admission(self) -> Admission:
        return Admission(
            self.store,
            self.delivery,
            Gate(self.access, self.store.standings, self.revocation, self.role_menus),
            self.words,
            commands=self.commands,
            before_restore=self.before_restore,
            strangers=self.strangers,
        )

    @cached_property
    def handler(self) -> ChannelMessageHandler:
        return ChannelMessageHandler(self.admission, Languages(self._stored.seen), self.zones, self.dispatcher)

    @cached_property
    def router(self) -> EventRouter:
        replies = Replies(self.store, self.delivery, self.access)
        answers = TypedAnswers(
            self.words,
            ZoneAnswers(self.store, self.delivery, self._clock),
            FreeAnswers(self.approvals, self.store, self.delivery),
        )
        commands = CommandHandler(self.commands, self.sessions, answers, replies, self.gaps, tasks=self.handling)
        return EventRouter(
            self.sessions,
            commands,
            self.firings,
            access=self.access,
            replies=replies,
            pace=self.pace,
            tasks=self.handling,
        )

    @cached_property
    def dispatcher(self) -> Dispatcher:
        resumed = Resumed(self.recovery, self.reactions, self.speaker, self.revocation)
        working = Working(self.sessions, self.tasks, self.firings, self.approvals, self.drain)
        here = LocalChats(self.router, self.words, self.delivery, working, resumed)
        return self.peers.dispatcher(here, self._channels)

    @cached_property
    def chat_commands(self) -> ChatCommands:
        rows, dispatcher = self.store.page_commands, self.dispatcher
        return ChatCommands(self.commands, self.sessions, self.delivery, rows, dispatcher, clock=self._clock)

    async def _suggest(self, chat: ChatKey, sender: Sender, typed: Typed) -> Sequence[Suggestion]:
        """Return values for the argument of a command that a user is typing."""
        return await self.commands.suggest(self.sessions.of(chat), sender, typed)

    async def _receive_stored(self) -> None:
        """Route the events that parts of this process have stored: ends of tasks, and jobs that people start."""
        while True:
            item = await self.stored.get()
            if self.delivery.knows(item.event.chat):
                self.dispatcher.dispatch(item, is_live=False)

    # Beside the channels

    @cached_property
    def scheduler(self) -> Scheduler:
        missed = MissedSlots(self.store, self.delivery, self._clock, self.current, self._new_request_id)
        due = DueJobs(
            self.store,
            self.job_rights,
            self._clock,
            self.handler.accept,
            missed,
            platforms=self._channels.names(),
            tick=self.heartbeats.tick,
        )
        digests = Digests(self.store, self.delivery, self.access, self.firing_messages, self.firing_delivery)
        return Scheduler(due, missed, digests, self._clock, self.planned)

    @cached_property
    def before_restore(self) -> BeforeRestore:
        return BeforeRestore(self.store, self.owners, self.current, self._stored.restored)

    @cached_property
    def upkeep(self) -> Upkeep:
        home = self.settings.home
        backup = NightlyBackup(home, self.current, self._clock, self.store, self.owners, self.secrets)
        return Upkeep(
            self.store,
            self._clock,
            backup,
            self.before_restore,
            self.versions,
            outgoing=home / OUTGOING,
            current=self.current if self.settings.nightly else None,
        )

    # The app

    def subscribe(self) -> None:
        """Subscribe to the changes, requests, gaps and connections of other nodes."""
        super().subscribe()
        self.peers.signals.subscribe(Topic.GAPS, self.remote_gaps.changed)
        self.peers.signals.subscribe(Topic.CONNECTED, self.connections.follow)
        self.peers.signals.subscribe(Topic.COMMANDS, self.chat_commands.given)
        self.peers.signals.subscribe(Topic.ANSWERS, self.chat_commands.answered)

    @cached_property
    def remote_gaps(self) -> RemoteGaps:
        return RemoteGaps(self.gaps, self.store.read_marks, self.dispatcher, self._channels, self.leases, self._hearing)

    def catch_up(self, name: str, channel: CatchesUp) -> CatchUp:
        """Return what reads the missed messages of a platform."""
        reader = GapReader(
            name=name,
            channel=channel,
            inbox=partial(self.handler.accept, is_live=False),
            store=self.store,
            clock=self._clock,
            gaps=self.gaps,
            tell=self._tell_of_gaps,
        )
        people = self.roles.on(name)
        return CatchUp(channel, self.handler.accept, reader, self.store, self._clock, self.pace, people=people)

    def _tell_of_gaps(self, reason: str, chats: Sequence[ChatKey]) -> None:
        named = ", ".join(map(str, chats[:MOST_NAMED])) + (" ..." if len(chats) > MOST_NAMED else "")
        self.owners.tell("gap_not_read", count=len(chats), chats=named, reason=reason)

    @cached_property
    def channel_server(self) -> ChannelServer:
        menu = Menu(self.commands.specs, self._suggest)
        return ChannelServer(self._channels, self.handler, menu, self.supervisor, self.catch_up, leases=self.leases)

    @cached_property
    def recovery(self) -> Recovery:
        return Recovery(
            self.store,
            self.delivery,
            self.approvals,
            self.tasks,
            self.firings,
            sessions=self.sessions,
            router=self.router,
        )

    @cached_property
    def connections(self) -> Connections:
        life = Life(self.dispatcher, self.gaps, self.roles, self.peers)
        return Connections(self.channel_server, self.live, self.delivery, self.store, life, clock=self._clock)

    @cached_property
    def app(self) -> App:
        tools = McpNotices(self.approved, self.owners)
        loops: dict[str, Work] = {
            "upkeep": self.upkeep.run,
            "damage": Damage(self.store, self.delivery, self.owners, self.current).tell,
            "search index": self.store.search.catch_up,
            "MCP tools": tools.tell_of_changes,
            "unusable MCP tools": tools.tell_of_unusable,
            "pairing": self.pairing.run,
            "menus": self.role_menus.run,
            "strangers": partial(self.strangers.run, self.handler.accept),
        }
        scheduler, every = self.scheduler, self.settings.tick_every
        if every is not None:
            loops["what is due"] = partial(scheduler.run, every)
        return App(
            self.channel_server,
            Duties(loops, self.supervisor, self.leases),
            self.drain,
            leave=self._leave,
            console=self.console,
            settled=self.settled,
            input_ended=self.approvals.nobody_answers,
        )

    @cached_property
    def vitals(self) -> Vitals:
        tallies = self.admission.accepted, self.runner.tally, self.delivery, self.firings.tally
        return Vitals(
            Parts(*tallies, self.budgets, self.drain),
            self.store,
            self._channels,
            home=self.settings.home,
            about=self.about,
            cluster=Cluster(
                self.leases, "" if self.node_statuses is None else self.current.now.node, self.node_statuses
            ),
            clock=self._clock,
        )

    # Its life

    async def _leave(self) -> None:
        """Leave to other processes at once what only one may do, and each chat as soon as its work rests.

        Returns when all work rests, and nothing is done here any more that only one process may do.
        """
        handing_over = asyncio.create_task(self.dispatcher.drain(), name="handing chats over")
        try:
            with suppress(TimeoutError):  # what is not left by then is taken over by others at the end
                async with asyncio.timeout(LEAVE_WITHIN):
                    await asyncio.gather(self.leases.release_all(), asyncio.shield(handing_over))
            await self.leases.wait_handed_over()
            await self.drain.rested()
            with suppress(TimeoutError):  # the chat that came to rest last
                async with asyncio.timeout(LEAVE_WITHIN):
                    await asyncio.shield(handing_over)
        finally:
            handing_over.cancel()
            await asyncio.wait([handing_over])

    async def begin(self) -> None:
        """Resume what the previous process left, before the channels deliver anything new."""
        self.audit.begin()
        await self.live.load()
        await self.budgets.load()
        await self.forgetting.catch_up()
        await self.dispatcher.start()
        hearing = self.supervisor.keep_going("stored events", self._receive_stored)
        self._hearing.start(hearing, "stored events")
        await self._tell_of_differences()

    async def _tell_of_differences(self) -> None:
        """Tell the log and the owners what is not the same on all nodes; versions differ during each upgrade."""
        nodes = [] if self.node_statuses is None else await self.node_statuses()
        found = {what: who for what, who in differences(nodes) if what != "version"}
        for what, who in found.items():
            log.warning("a setting is not the same on all nodes", what=what, nodes=who)
        if found:
            self.owners.tell("status_nodes_differ", what=", ".join(found))

    async def settled(self) -> None:
        """Wait until every chat is idle, every task ended, and everything delivered."""
        while not (
            self.handling.is_idle
            and self.sessions.are_idle
            and self.tasks.are_idle
            and self.stored.empty()
            and self.dispatcher.is_settled
            and self.firings.are_idle
        ):
            await asyncio.sleep(0)  # for stored events, and chats that come from other processes
            await self.handling.join()
            await self.tasks.settled()
            await self.firings.settled()
            await self.sessions.settled()
        await self.speaker.background.join()
        await self.approvals.settled()
        await self.budget_notices.settled()
        await self.scheduler.settled()
        await self.delivery.settled()

    async def settled_in(self, chat: ChatKey) -> None:
        """Wait until nothing runs in a chat, and everything is delivered to it."""
        await self.handling.join()
        await self.sessions.of(chat).settled()
        await self.handling.join()

    async def deliver_kept(self, chat: ChatKey) -> None:
        """Send what was kept for a chat while nobody could be shown it."""
        kept = [post for post in await self.store.outbox.unsent() if post.chat == chat]
        await self.delivery.deliver(chat, kept)

    async def close(self) -> None:
        """Cancel all work as it is; the next process continues it."""
        await self.scheduler.close()
        await self.connections.close()
        await asyncio.gather(self._close_chats(), self.owners.close(), self.stranger_notices.close_all())
        await self.settings.model_source.close()
        await self.audit.close()

    async def _close_chats(self) -> None:
        await self._hearing.stop()
        await self.dispatcher.close()
        await self.speaker.background.stop()
        await self.chat_commands.background.stop()
        await self.handling.stop()
        await self.firings.close()
        await self.sessions.close()
        await self.tasks.close()
        self.runner.stop()
        await self.approvals.close()
        await asyncio.gather(self.budget_notices.close(), self.reactions.close(), self.forgetting.close())
        await self.delivery.close()


@asynccontextmanager
async def composed(
    settings: AppSettings,
    store: Store,
    channels: Iterable[Channel],
    parts: AgentParts,
    about: About,
    *,
    system: System | None = None,
    approved: ApprovedTools | None = None,
) -> AsyncIterator[Composition]:
    """Compose the gateway, and resume what the previous process left before the channels deliver anything new.

    Args:
        parts: Model, tools and limits of the agents.
        system: None for that of this machine, without other processes.
        approved: Approval state of MCP tools; None if there are no MCP servers.

    Raises ValueError if the store is a node's and `system` does not have the other nodes: both would answer.
    """
    system = system or System()
    if store.node is not None and isinstance(system.peers, NoPeers):
        raise ValueError("the store belongs to a node: pass `peers` of its `Resources` in `system`")
    made = Composition(
        settings,
        await Stored.of(store),
        channels,
        parts,
        about,
        system=system,
        approved=approved or ApprovedTools(settings.home / "mcp.json", {}),
    )
    _ = made.app, made.vitals  # every part exists before the first one begins
    made.subscribe()
    await made.begin()
    try:
        yield made
    finally:
        await made.close()
