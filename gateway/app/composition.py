"""A running gateway: its parts, and the order in which they start and stop."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial

import structlog

from channels.base import Channel, ChatKey
from channels.connected import Connected
from channels.text import literal
from gateway.app.app import LEAVE_WITHIN, App
from gateway.app.app_settings import AppSettings, Stored, System
from gateway.app.parts.base import Base
from gateway.app.parts.commands import CommandParts
from gateway.app.parts.events import EventParts
from gateway.app.parts.parts import Parts
from gateway.app.parts.serving import ServingParts
from gateway.app.peers import NoPeers
from gateway.app.shared_state import SharedState
from gateway.permissions.approved_tools import ApprovedTools
from gateway.records.audit import CHANGED
from gateway.runs.agents import AgentParts
from gateway.store.nodes import differences
from gateway.store.store import Store
from gateway.store.topics import Topic
from gateway.texts.about import About
from gateway.texts.plugin_reasons import reason_in
from gateway.texts.say import Language

log = structlog.get_logger(__name__)

WAIT_FOR_SERVERS = 10.0
"""Seconds; applies only if a run is resumed, which may wait for approval of one of the servers' tools."""


class Gateway:
    """A running gateway: its parts, and the order in which they start and stop."""

    def __init__(self, base: Base) -> None:
        """Make all parts, each with those before it. Nothing runs before `begin`."""
        parts = Parts.of(base)
        self.base, self.people, self.files, self.guards = base, parts.people, parts.files, parts.guards
        self.agents, self.jobs, self.chats, self.plugins = parts.agents, parts.jobs, parts.chats, parts.plugins
        self._owed, self._moments = parts.owed, parts.moments
        self.commands = CommandParts(parts)
        self._shared = SharedState(parts, self.commands)
        self.events = EventParts(parts, self.commands, self._shared.moved)
        self.serving = ServingParts(parts, self.commands, self.events)
        self.app = App(
            self.serving.channel_server,
            self.serving.duties,
            base.drain,
            leave=self._leave,
            console=base.console,
            settled=self.settled,
            input_ended=self.guards.approvals.nobody_answers,
        )

    async def begin(self) -> None:
        """Resume what the previous process left, before the channels deliver anything new."""
        self._subscribe()
        self.base.audit.begin()
        await self.agents.live.load()
        await self._connect_servers()
        await self.guards.budgets.load()
        await self.commands.forgetting.catch_up()
        await asyncio.to_thread(self.commands.note_plugins)
        await self.events.moves.start()
        await self.events.dispatcher.start()
        hearing = self.people.supervisor.keep_going("stored events", self._receive_stored)
        self.events.hearing.start(hearing, "stored events")
        await self._tell_of_differences()
        self._tell_of_plugins()

    async def _connect_servers(self) -> None:
        """Begin to connect to the MCP servers that owners have added."""
        await self.base.servers.refresh()
        if self.base.servers.added and await self.base.store.runs.open_ids():
            await self.base.servers.all_tried(WAIT_FOR_SERVERS)

    def _tell_of_plugins(self) -> None:
        """Tell owners of plugins of others that are left out at this start, and record what was approved or refused."""
        plugins, owners, audit = self.base.system.plugins, self.people.owners, self.base.audit
        for name in sorted(plugins.first_seen):
            content = plugins.contents[name]
            details = f"{content.package} {content.version}, {content.code}; PARLEY_PLUGINS names it first"
            audit.found(f"plugins approve {name}", CHANGED, details=details)
        for name, reason in plugins.left_out.items():
            key = "plugin_changed" if name in plugins.changed else "plugin_left_out"
            if name in plugins.changed:
                audit.found(f"plugins load {name}", "denied", details=reason, decision="denied", decided_by="rule")
            said = partial(_reason_in, reason)
            owners.tell(key, show="/plugins", name=literal(name), reason=said)

    async def settled(self) -> None:
        """Wait until every chat is idle, every task ended, and everything delivered."""
        events, sessions, tasks, firings = self.events, self.chats.sessions, self.agents.tasks, self.chats.firings
        while not (
            events.handling.is_idle
            and sessions.are_idle
            and tasks.are_idle
            and self.base.stored_events.empty()
            and events.dispatcher.is_settled
            and events.moves.is_idle
            and firings.are_idle
        ):
            await asyncio.sleep(0)  # for stored events, and chats that come from other processes
            await events.handling.join()
            await events.moves.settled()
            await tasks.settled()
            await firings.settled()
            await sessions.settled()
        await self.guards.approvals.settled()
        await self.guards.budget_notices.settled()
        await self.serving.scheduler.settled()
        await self.base.delivery.settled()
        await self._owed.settled()

    async def settled_in(self, chat: ChatKey) -> None:
        """Wait until nothing runs in a chat, and everything is delivered to it."""
        await self.events.handling.join()
        await self.chats.sessions.of(chat).settled()
        await self.events.handling.join()

    async def deliver_kept(self, chat: ChatKey) -> None:
        """Send what was kept for a chat while nobody could be shown it."""
        kept = [post for post in await self.base.store.outbox.unsent() if post.chat == chat]
        await self.base.delivery.deliver(chat, kept)

    async def close(self) -> None:
        """Cancel all work as it is; the next process continues it."""
        await self.serving.scheduler.close()
        await self.serving.connections.close()
        await asyncio.gather(self._close_chats(), self.people.owners.close(), self.people.stranger_notices.close_all())
        await self.base.settings.model_source.close()
        await self.base.audit.close()

    async def _close_chats(self) -> None:
        await self.events.hearing.stop()
        await self.events.moves.close()
        await self.events.dispatcher.close()
        await self._owed.close()
        await self.events.chat_commands.background.stop()
        await self.events.handling.stop()
        await self.chats.firings.close()
        await self.chats.sessions.close()
        await self.agents.tasks.close()
        self.agents.runner.stop()
        await self.guards.approvals.close()
        await asyncio.gather(self.guards.budget_notices.close(), self.commands.forgetting.close())
        await self._moments.closed()
        await self.base.servers.close()
        await self.base.delivery.close()

    def _subscribe(self) -> None:
        """Subscribe to the changes, requests, gaps and connections of other nodes."""
        self._shared.subscribe()
        signals = self.base.peers.signals
        signals.subscribe(Topic.OWED, self._owed.told)
        signals.subscribe(Topic.GAPS, self.serving.remote_gaps.changed)
        signals.subscribe(Topic.CONNECTED, self.serving.connections.follow)
        signals.subscribe(Topic.COMMANDS, self.events.chat_commands.given)
        signals.subscribe(Topic.ANSWERS, self.events.chat_commands.answered)

    async def _receive_stored(self) -> None:
        """Route the events that parts of this process have stored: ends of tasks, and jobs that people start."""
        while True:
            item = await self.base.stored_events.get()
            if self.base.delivery.knows(item.event.chat):
                self.events.dispatcher.dispatch(item, is_live=False)

    async def _tell_of_differences(self) -> None:
        """Tell the log and the owners what is not the same on all nodes; versions differ during each upgrade."""
        nodes = [] if self.base.node_statuses is None else await self.base.node_statuses()
        found = {what: who for what, who in differences(nodes) if what != "version"}
        for what, who in found.items():
            log.warning("a setting is not the same on all nodes", what=what, nodes=who)
        if found:
            self.people.owners.tell("status_nodes_differ", what=", ".join(found))

    async def _leave(self) -> None:
        """Leave to other processes at once what only one may do, and each chat as soon as its work rests.

        Returns when all work rests, and nothing is done here any more that only one process may do.
        """
        handing_over = asyncio.create_task(self.events.dispatcher.drain(), name="handing chats over")
        try:
            with suppress(TimeoutError):  # what is not left by then is taken over by others at the end
                async with asyncio.timeout(LEAVE_WITHIN):
                    await asyncio.gather(self.base.leases.release_all(), asyncio.shield(handing_over))
            await self.base.leases.wait_handed_over()
            await self.base.drain.rested()
            with suppress(TimeoutError):  # the chat that came to rest last
                async with asyncio.timeout(LEAVE_WITHIN):
                    await asyncio.shield(handing_over)
        finally:
            handing_over.cancel()
            await asyncio.wait([handing_over])


@asynccontextmanager
async def composed(
    settings: AppSettings,
    store: Store,
    channels: Iterable[Channel],
    agent_parts: AgentParts,
    about: About,
    *,
    system: System | None = None,
    approved: ApprovedTools | None = None,
) -> AsyncIterator[Gateway]:
    """Compose the gateway, and resume what the previous process left before the channels deliver anything new.

    Args:
        agent_parts: Model, tools and limits of the agents.
        system: None for that of this machine, without other processes.
        approved: Approval state of MCP tools; None if there are no MCP servers.

    Raises ValueError if the store is a node's and `system` does not have the other nodes: both would answer.
    """
    system = system or System()
    if store.node is not None and isinstance(system.peers, NoPeers):
        raise ValueError("the store belongs to a node: pass `peers` of its `Resources` in `system`")
    stored, approved = await Stored.of(store), approved or ApprovedTools(settings.home / "mcp.json", {})
    connected = Connected.of(channels)
    made = system.plugins.fitting(
        lambda: Gateway(Base(settings, stored, connected, agent_parts, about, system=system, approved=approved))
    )
    await made.begin()
    try:
        yield made
    finally:
        await made.close()


def _reason_in(reason: str, language: Language) -> str:
    return literal(reason_in(reason, language))
