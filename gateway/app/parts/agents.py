"""The factories of agents, the models that these use, and background tasks."""

from msgspec.structs import replace

from agent_core.tools.tool import Tool
from gateway.app.moments import Moments
from gateway.app.parts.base import Base
from gateway.app.parts.files import FileParts
from gateway.app.parts.guards import Guards
from gateway.app.parts.people import PeopleParts
from gateway.app.plugins import tools_of
from gateway.chat.send_file_tool import send_file_tool
from gateway.permissions.budgets import by_scope
from gateway.runs.agents import Agents
from gateway.runs.chat_models import ChatModels
from gateway.runs.errands import ErrandRights, Errands
from gateway.runs.model_set import ModelSet
from gateway.runs.runner import Runner
from gateway.runs.tasks.tasks import Tasks
from gateway.runs.tasks.workers import Workers
from gateway.runs.toolbox import RESERVED
from gateway.settings.settings import Settings
from gateway.upkeep.live_settings import LiveModels, LiveSettings


class AgentFactories:
    """The factories of agents, the models that these use, and background tasks."""

    def __init__(self, base: Base, people: PeopleParts, files: FileParts, guards: Guards, moments: Moments) -> None:
        store, clock, secrets, access = base.store, base.clock, base.secrets, people.access
        self._base, self._budgets, self._moments = base, guards.budgets, moments
        self.chat_models = ChatModels(base.models, store.chat_settings, access, secrets, base.current, clock)
        guards.budgets.cheaper = self.chat_models.cheaper
        models = LiveModels(base.models, base.settings.model_source)
        self.live = LiveSettings(base.current, store.chat_settings, secrets, models, self._apply)
        self.runner = Runner(store, base.audit, base.drain, self.chat_models, base.peers.sending.wait_fresh)
        tools: tuple[Tool, ...] = (*base.agent_parts.tools, send_file_tool(store, base.delivery, base.outgoing))
        failures, own = base.system.plugins.failures, {each.name for each in tools}
        tools = (*tools, *tools_of(moments.plugins, failures, own, RESERVED))
        base.servers.taken = RESERVED.union(each.name for each in tools)
        self.parts = replace(
            base.agent_parts,
            tools=tools,
            others=base.servers.offered,
            described_by=base.servers.origin,
            keeper_of=files.versions.of,
            spending_of=guards.spending_of,
            zone_of=people.zones.of,
            ledger=files.workspaces.ledger,
        )
        """The parts of all agents, without the tools that start something in a chat."""
        self.of_tasks = Agents(
            self.parts.for_tasks,
            guards.permissions,
            secrets,
            clock,
            base.new_id,
            chain=self.chat_models.chain,
        )
        workers = Workers(
            self.runner,
            store,
            self.of_tasks,
            guards.approvals,
            clock,
            workspace=files.workspaces.folder,
            ended=base.stored_events,
        )
        self.tasks = Tasks(workers, store, access, clock, current=base.current, new_id=base.new_request_id)
        self.plain = Agents(
            self.parts,
            guards.permissions,
            secrets,
            clock,
            base.new_id,
            samples=lambda: base.models.now.samples,
            chain=self.chat_models.chain,
        )
        """Makes the agents of jobs and errands; those of chats have more tools."""
        self.errands = Errands(
            self.runner,
            store,
            self.plain,
            ErrandRights(guards.rules, guards.asking, guards.approvals),
            files.workspaces,
            clock,
            sending=base.peers.sending,
        )

    async def _apply(self, before: Settings, models: ModelSet) -> None:
        """Let the parts that keep something of the settings and models go by the new ones."""
        base = self._base
        self.chat_models.use(models)
        self._budgets.cheaper = self.chat_models.cheaper
        self._budgets.defaults = by_scope(base.current.allowances)
        if before.log_level != base.current.now.log_level:
            base.system.set_log_level(base.current.now.log_level)
        await self._budgets.use_zone(base.current.zone)
        self._budgets.wake()
        self._moments.settings_changed()
