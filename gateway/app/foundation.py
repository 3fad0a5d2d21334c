"""The parts that chats and jobs share: messages, people, files, permissions, agents."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from agent_core.background import Background
from agent_core.clock import Clock
from agent_core.loop.model_chain import Candidate
from agent_core.tools.memory import memory_tools
from agent_core.workspace.provenance import FileLedger
from channels.base import Channel, ChatKey
from channels.capabilities import CatchesUp
from channels.connected import Connected
from gateway.app.app_settings import AppSettings, Stored, System
from gateway.app.channel_server import Supervisor
from gateway.chat.gaps import Gaps
from gateway.chat.memories import Memories
from gateway.chat.run_pace import Pace
from gateway.chat.search_tool import search_tool
from gateway.chat.send_file_tool import send_file_tool
from gateway.cluster.leases import Leases
from gateway.delivery.delivery import Delivery
from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.permissions.access import Access, GroupAccess
from gateway.permissions.agent_spending import AgentSpending
from gateway.permissions.approvals import Approvals
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.budget_notices import BudgetNotices
from gateway.permissions.budgets import BudgetRules, Budgets
from gateway.permissions.groups import Groups
from gateway.permissions.ledger import Ledger
from gateway.permissions.membership import Membership
from gateway.permissions.pairing import Pairing
from gateway.permissions.permissions import ChatPermissions, RecordedPermissions
from gateway.permissions.policy import Policy
from gateway.permissions.roles import Roles
from gateway.permissions.room import OwnRoom, SharedRoom
from gateway.permissions.rules import Rules
from gateway.permissions.workspaces import Versions, Workspaces
from gateway.records.audit import AuditLog
from gateway.runs.agents import AgentParts, Agents, masked
from gateway.runs.chat_models import ChatModels
from gateway.runs.drain import Drain
from gateway.runs.model_set import CurrentModels, ModelSet
from gateway.runs.runner import Runner
from gateway.runs.tasks.tasks import Tasks
from gateway.runs.tasks.workers import Workers
from gateway.schedule.zones import Zones
from gateway.settings.settings import Settings
from gateway.store.nodes import NodeStatuses
from gateway.store.rows import InboxItem
from gateway.store.shared_spending import SharedSpending
from gateway.texts.about import About
from gateway.upkeep.live_settings import LiveModels, LiveSettings
from gateway.upkeep.owners import Owners, PairingCode
from gateway.upkeep.readers import Readers
from gateway.upkeep.stranger_notices import StrangerNotices
from gateway.upkeep.strangers import Strangers


class Foundation:
    """The parts that chats and jobs share. Each is created once, when it is first asked for."""

    def __init__(
        self,
        settings: AppSettings,
        stored: Stored,
        channels: Iterable[Channel],
        parts: AgentParts,
        about: About,
        *,
        system: System,
        approved: ApprovedTools,
    ) -> None:
        self.settings = settings
        self.current = settings.current
        self.store = stored.store
        self.models = settings.models or CurrentModels(ModelSet(Candidate(parts.model, parts.llm), about.why))
        self._about = about
        self.approved = approved
        self.secrets = settings.secrets or stored.store.secrets
        self.drain = Drain(lambda: self.current.now.drain_seconds)
        self.planned = asyncio.Event()
        """Set when a job may be due earlier than before."""
        self.stored: asyncio.Queue[InboxItem] = asyncio.Queue()
        """Events that parts of this process have stored: news of ended tasks, and jobs that people start."""
        self.peers = system.peers
        """The other processes on the database."""
        self._hearing = Background("routing stored events failed")
        self._stored = stored
        self._channels = Connected.of(channels)
        self._parts = parts
        self._clock = system.clock
        self._new_id = system.new_id
        self._new_request_id = system.new_request_id
        self._system = system

    @property
    def clock(self) -> Clock:
        return self._clock

    def about(self) -> About:
        """Return the facts about this process, with the model that answers now."""
        return self.models.now.told(self._about)

    @property
    def node_statuses(self) -> NodeStatuses | None:
        """Return what returns the nodes that share the store; None if only one process can use it."""
        return None if self.current.now.database is None else self.store.nodes.seen

    @property
    def channels(self) -> Connected:
        """The channels that are connected now."""
        return self._channels

    def console(self, line: str) -> None:
        """Show a line to the operator."""
        self._system.console(self.secrets.mask(line))

    # Settings

    @property
    def leases(self) -> Leases:
        """The work that this process does alone among all."""
        return self.peers.leases

    @cached_property
    def live(self) -> LiveSettings:
        models = LiveModels(self.models, self.settings.model_source)
        return LiveSettings(self.current, self.store.chat_settings, self.secrets, models, self._apply)

    async def _apply(self, before: Settings, models: ModelSet) -> None:
        """Let the parts that keep something of the settings and models go by the new ones."""
        self.chat_models.use(models)
        if before.log_level != self.current.now.log_level:
            self._system.set_log_level(self.current.now.log_level)
        await self.budgets.use_zone(self.current.zone)
        self.budgets.wake()

    # Messages and people

    @cached_property
    def delivery(self) -> Delivery:
        return Delivery(self._channels, self.store, self._clock, self.secrets, self.peers.sending)

    @cached_property
    def roles(self) -> Roles:
        return Roles(self.settings.people, self._stored.people)

    @cached_property
    def groups(self) -> GroupAccess:
        return GroupAccess(Groups(self._stored.group_rules), dict(self._stored.standings))

    @cached_property
    def access(self) -> Access:
        stored = self._stored
        return Access(self.roles, self._channels, stored.spoken_in, self._clock, groups=self.groups, seen=stored.seen)

    @cached_property
    def owners(self) -> Owners:
        readers = Readers(self.roles, self.access, self.delivery)
        return Owners(self.roles, readers, self.store, self.delivery, self.current, self._new_id)

    @cached_property
    def membership(self) -> Membership:
        return Membership(self.access, self.roles, self.store, self.audit, self._clock, self._new_id)

    @cached_property
    def pairing(self) -> Pairing:
        public = self._channels.names(lambda channel: not channel.limits.is_local)
        show = PairingCode(public, self.owners, self.current, self.console)
        return Pairing(self.store.pairing, self.membership, self.roles, self._clock, public, show)

    @cached_property
    def stranger_notices(self) -> StrangerNotices:
        return StrangerNotices(self.store, self.delivery, self.owners, self.current)

    @cached_property
    def strangers(self) -> Strangers:
        who = self.access, self.membership, self.pairing, self.stranger_notices
        return Strangers(self.store, *who, clock=self._clock, new_id=self._new_request_id)

    @cached_property
    def supervisor(self) -> Supervisor:
        return Supervisor(self.owners, self._clock)

    @cached_property
    def zones(self) -> Zones:
        return Zones(self.store, self.current, self.access)

    @cached_property
    def pace(self) -> Pace:
        return Pace(self.access, self._clock)

    @cached_property
    def gaps(self) -> Gaps:
        return Gaps(self._clock, self._channels.names(lambda channel: isinstance(channel, CatchesUp)))

    # Files, records and permissions

    @cached_property
    def versions(self) -> Versions:
        return Versions(self.settings.home, self._clock, quotas=self.current.quotas)

    @cached_property
    def workspaces(self) -> Workspaces:
        return Workspaces(self.settings.home, self.versions, FileLedger(self.settings.home / "provenance"))

    @cached_property
    def memories(self) -> Memories:
        home, shared = self.settings.home, self.current.now.shared_memory
        return Memories(home, self._clock, self.current, self.delivery, self.access, self.versions, shared=shared)

    @cached_property
    def audit(self) -> AuditLog:
        home, enabled = self.settings.home, self.current.now.audit
        return AuditLog(home, self.store, self._clock, self.secrets, enabled=enabled)

    @cached_property
    def approvals(self) -> Approvals:
        new_id, hold = self._new_request_id, self.drain.hold
        return Approvals(self.store, self.delivery, self.access, self._clock, self.current, new_id, hold=hold)

    @cached_property
    def rules(self) -> Rules:
        return Rules(self._parts.policy or Policy(), self.access)

    @cached_property
    def permissions(self) -> RecordedPermissions:
        parts = self._parts
        decided = ChatPermissions(
            self.rules,
            self.approvals,
            self.versions,
            self.store,
            parts.skills,
            sandbox=parts.sandbox,
            network=parts.network,
        )
        return RecordedPermissions(decided, self.store.run_records)

    @cached_property
    def budget_notices(self) -> BudgetNotices:
        return BudgetNotices(self.store, self.delivery, self.access, self.owners, self.current)

    @cached_property
    def budgets(self) -> Budgets:
        def cheaper() -> Candidate | None:
            found = self.models.now.cheaper
            return found and masked(found, self.secrets)

        ledger, spending = Ledger(self.current.zone, self.roles.linked), self.store.spending
        shared = SharedRoom(ledger, spending, self._clock) if isinstance(spending, SharedSpending) else None
        return Budgets(
            self.store,
            self._clock,
            self._new_id,
            shared or OwnRoom(ledger, spending, self._clock),
            self.budget_notices,
            BudgetRules(self.current.allowances, cheaper),
            hold=self.drain.hold,
        )

    def spending_of(self, chat: ChatKey, job: str) -> AgentSpending:
        """Return what charges the model calls of a chat, and of a job if it is not empty."""
        return AgentSpending(self.budgets, self.access, self.current, chat, job)

    # Agents and tasks

    @cached_property
    def chat_models(self) -> ChatModels:
        rows, access = self.store.chat_settings, self.access
        return ChatModels(self.models, rows, access, self.secrets, self.current, self._clock)

    @cached_property
    def runner(self) -> Runner:
        return Runner(self.store, self.audit, self.drain, self.chat_models, self.peers.sending.wait_fresh)

    @cached_property
    def agent_parts(self) -> AgentParts:
        """The parts of all agents, without the tools that start something in a chat."""
        home = self.settings.home
        own = (
            send_file_tool(self.store, self.delivery, home / OUTGOING),
            search_tool(self.store, self.delivery, self.access),
            *memory_tools(self.memories.of_call),
        )
        ledger = self.workspaces.ledger
        return replace(
            self._parts,
            tools=(*self._parts.tools, *own),
            keeper_of=self.versions.of,
            spending_of=self.spending_of,
            zone_of=self.zones.of,
            ledger=ledger,
        )

    @cached_property
    def task_agents(self) -> Agents:
        return Agents(
            self.agent_parts.for_tasks,
            self.permissions,
            self.secrets,
            self._clock,
            self._new_id,
            chain=self.chat_models.chain,
        )

    @cached_property
    def tasks(self) -> Tasks:
        workers = Workers(
            self.runner,
            self.store,
            self.task_agents,
            self.approvals,
            self._clock,
            workspace=self.workspaces.folder,
            ended=self.stored,
        )
        new_id = self._new_request_id
        return Tasks(workers, self.store, self.access, self._clock, current=self.current, new_id=new_id)

    @cached_property
    def base_agents(self) -> Agents:
        return Agents(
            self.agent_parts,
            self.permissions,
            self.secrets,
            self._clock,
            self._new_id,
            is_demo=lambda: self.models.now.is_demo,
            chain=self.chat_models.chain,
        )
