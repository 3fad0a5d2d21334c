"""The parts that all others are made with: settings, store, channels, clock, delivery."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from agent_core.loop.model_chain import Candidate
from channels.base import Channel
from channels.connected import Connected
from gateway.app.app_settings import AppSettings, Stored, System
from gateway.cluster.leases import Leases
from gateway.delivery.delivery import Delivery
from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.permissions.approved_tools import ApprovedTools
from gateway.records.audit import AuditLog
from gateway.runs.added_servers import AddedServers
from gateway.runs.agents import AgentParts
from gateway.runs.drain import Drain
from gateway.runs.model_set import CurrentModels, ModelSet
from gateway.store.nodes import NodeStatuses
from gateway.store.rows import InboxItem
from gateway.texts.about import About


class Base:
    """The parts that all others are made with."""

    def __init__(
        self,
        settings: AppSettings,
        stored: Stored,
        channels: Iterable[Channel],
        agent_parts: AgentParts,
        about: About,
        *,
        system: System,
        approved: ApprovedTools,
    ) -> None:
        """Make the parts. The arguments are those of `composed`."""
        self.settings = settings
        self.current = settings.current
        self.stored = stored
        self.store = stored.store
        self.channels = Connected.of(channels)
        """Those that are connected now."""
        self.agent_parts = agent_parts
        self.approved = approved
        self.servers = AddedServers(stored.store.chat_settings, approved, agent_parts.others, agent_parts.described_by)
        self.system = system
        self.clock = system.clock
        self.new_id = system.new_id
        self.new_request_id = system.new_request_id
        self.peers = system.peers
        """The other processes on the database."""
        self.models = settings.models or CurrentModels(
            ModelSet(Candidate(agent_parts.model, agent_parts.llm), about.why)
        )
        self.secrets = settings.secrets or stored.store.secrets
        self.drain = Drain(lambda: self.current.now.drain_seconds)
        self.planned = asyncio.Event()
        """Set when a job may be due earlier than before."""
        self.stored_events: asyncio.Queue[InboxItem] = asyncio.Queue()
        """Events that parts of this process have stored: news of ended tasks, and jobs that people start."""
        self.delivery = Delivery(self.channels, self.store, self.clock, self.secrets, self.peers.sending)
        self.audit = AuditLog(self.home, self.store, self.clock, self.secrets, enabled=self.current.now.audit)
        self._about = about

    @property
    def home(self) -> Path:
        return self.settings.home

    @property
    def outgoing(self) -> Path:
        """The folder of files that wait to be sent."""
        return self.home / OUTGOING

    @property
    def leases(self) -> Leases:
        """The work that this process does alone among all."""
        return self.peers.leases

    @property
    def node_statuses(self) -> NodeStatuses | None:
        """Return what returns the nodes that share the store; None if only one process can use it."""
        return None if self.current.now.database is None else self.store.nodes.seen

    def about(self) -> About:
        """Return the facts about this process, with the model that answers now."""
        return self.models.now.told(self._about)

    def console(self, line: str) -> None:
        """Show a line to the operator."""
        self.system.console(self.secrets.mask(line))
