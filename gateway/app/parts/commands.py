"""The table of slash commands, and what only they use."""

from collections.abc import Iterable, Sequence
from itertools import chain

import structlog

from channels.base import ChatKey, Sender
from channels.commands import Form, Suggestion, Typed
from gateway.app.listed_plugins import ListedPlugins
from gateway.app.parts.parts import Parts
from gateway.app.plugins import commands_of
from gateway.app.revocation import Revocation
from gateway.commands.answers import AnswerCommands
from gateway.commands.approvals import ApprovalCommands, RuleCommands
from gateway.commands.aside import AsideCommands
from gateway.commands.budget import BudgetCommands
from gateway.commands.command import Command, CommandTable
from gateway.commands.config import ConfigCommands
from gateway.commands.contained import contained
from gateway.commands.context import ContextCommands
from gateway.commands.conversation import ConversationCommands
from gateway.commands.cron import CronCommands
from gateway.commands.forget import ForgetCommands
from gateway.commands.heartbeat import HeartbeatCommands
from gateway.commands.help import HelpCommands
from gateway.commands.link import LinkCommands
from gateway.commands.model_status import ModelStatus
from gateway.commands.model_test import ModelTest
from gateway.commands.models import ModelCommands
from gateway.commands.page import PageCommands
from gateway.commands.pair import PairCommands
from gateway.commands.people import PeopleCommands
from gateway.commands.planning import Planning
from gateway.commands.plugins import PluginCommands
from gateway.commands.proactive import ProactiveCommands
from gateway.commands.queue import QueueCommands
from gateway.commands.recorded import recorded
from gateway.commands.remind import RemindCommands
from gateway.commands.report import ReportCommands
from gateway.commands.retry import RetryCommand
from gateway.commands.reword import RewordCommand
from gateway.commands.sessions import SessionCommands
from gateway.commands.skill_archives import SkillArchives
from gateway.commands.skill_install import SkillInstalls
from gateway.commands.skill_levels import SkillLevels
from gateway.commands.skills import SkillCommands
from gateway.commands.status import StatusCommand
from gateway.commands.tasks import TaskCommands
from gateway.commands.zone import ZoneCommands
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.upkeep.forgetting import Elsewhere, Forgetting

log = structlog.get_logger(__name__)


class CommandParts:
    """The table of slash commands, and what only they use."""

    def __init__(self, parts: Parts) -> None:
        base, people, chats = parts.base, parts.people, parts.chats
        self._parts = parts
        archives = SkillArchives(parts.files.workspaces, base.system.fetcher)
        self._skill_installs = SkillInstalls(
            parts.agents.parts.skills, archives, base.clock, base.secrets, base.outgoing
        )
        self.revocation = Revocation(
            base.store,
            base.delivery,
            people.owners,
            chats.sessions,
            chats.runs,
            base.current,
            entrance=base.settings.entrance,
        )
        people.group_rules.sweep = self.revocation.sweep
        self.forgetting = Forgetting(
            base.home,
            base.store,
            base.delivery,
            base.audit,
            base.clock,
            elsewhere=Elsewhere(parts.moments.erasing, self._drop),
            backups=self._backups,
        )
        self._approved = ApprovedPlugins(base.home)
        self.plugins = ListedPlugins(base.system.plugins, self._approved)
        own = tuple(chain.from_iterable(self._commands()))
        self.plugins.commands = commands_of(parts.plugins, own, base.system.plugins.failures)
        self.plugins.owed = parts.owed.by_owner
        self.plugins.tools = {tool.name: tool for tool in parts.agents.parts.tools}
        given = (*own, *chain.from_iterable(self.plugins.commands.values()))
        commands = [contained(recorded(each, base.audit)) for each in given]
        self.table = CommandTable(
            commands, parts.guards.rules, look_at=people.membership.look_at, absent=self.plugins.absent
        )

    def note_plugins(self) -> None:
        """Keep which plugin has which commands, for a start at which it is not loaded. Blocks."""
        named = {
            name: [each.name for each in commands if not each.hidden]
            for name, commands in self.plugins.commands.items()
        }
        try:
            self._approved.note_commands(named)
        except OSError as error:
            log.warning("the names of the commands of plugins cannot be kept", reason=str(error))

    async def suggest(self, chat: ChatKey, sender: Sender, typed: Typed) -> Sequence[Suggestion]:
        """Return values for the argument of a command that a user is typing."""
        found = await self.table.suggest(self._parts.chats.sessions.of(chat), sender, typed)
        return self._parts.base.secrets.masked(found)

    async def form(self, chat: ChatKey, sender: Sender, line: str) -> Form | None:
        """Return the form for a command that somebody has begun."""
        found = await self.table.form(self._parts.chats.sessions.of(chat), sender, line)
        return None if found is None else self._parts.base.secrets.masked(found)

    def _commands(self) -> Iterable[Sequence[Command]]:
        """Return all commands but those of plugins, in the order of menus and /help."""
        base, people, files = self._parts.base, self._parts.people, self._parts.files
        guards, agents, jobs, chats = self._parts.guards, self._parts.agents, self._parts.jobs, self._parts.chats
        store, delivery, clock, current = base.store, base.delivery, base.clock, base.current
        access, models, pace, home = people.access, agents.chat_models, chats.pace, base.home
        planning = Planning(jobs.jobs, jobs.zone_news, clock, jobs.destinations, is_ai=lambda: base.models.now.is_ai)
        model = ModelStatus(base.about, models, chats.agents.chain, guards.budgets, clock)
        sweep = self.revocation.sweep
        test = ModelTest(models, guards.spending_of, store.spending, clock, base.new_id)
        return (
            HelpCommands().commands,
            StatusCommand(
                base.about, clock, home, guards.approvals, agents.tasks, model, nodes=base.node_statuses
            ).commands,
            PairCommands(people.pairing, access, people.strangers, clock).commands,
            LinkCommands(people.membership, access, people.stranger_notices, sweep, store.pairing.outcome).commands,
            PageCommands(base.settings.entrance, access, current).commands,
            PeopleCommands(access, people.roles, people.membership, people.strangers, sweep).commands,
            ConversationCommands(agents.tasks, store.outbox).commands,
            RetryCommand(models, access, store.exchanges).commands,
            RewordCommand(access, store.exchanges).commands,
            QueueCommands(store.transcript).commands,
            AsideCommands(models, pace, access, base.secrets, base.new_id).commands,
            ModelCommands(models, chats.agents.chain, store.chat_settings, test).commands,
            ZoneCommands(people.zones, jobs.jobs, store, clock).commands,
            ContextCommands(store, pace, clock, base.new_id, models).commands,
            SkillCommands(self._skill_installs, SkillLevels(store.chat_settings)).commands,
            ApprovalCommands(guards.approvals, delivery, store.outbox).commands,
            AnswerCommands(guards.approvals, store.approvals, store.outbox).commands,
            RuleCommands(store.rules, people.zones).commands,
            BudgetCommands(guards.budgets, store, access, base.audit, jobs.jobs).commands,
            TaskCommands(agents.tasks, pace, clock).commands,
            SessionCommands(store.sessions, clock).commands,
            ForgetCommands(self.forgetting, access, people.roles, clock).commands,
            PluginCommands(self.plugins, self._approved, base.audit).commands,
            ConfigCommands(agents.live, current, access, base.audit, base.secrets).commands,
            RemindCommands(planning, jobs.jobs, clock).commands,
            ReportCommands(planning, jobs.jobs, jobs.report_kinds).commands,
            CronCommands(planning, jobs.jobs, chats.firings, jobs.elsewhere, delivery=delivery, pace=pace).commands,
            HeartbeatCommands(
                jobs.heartbeats, files.workspaces, store, chats.firings, pace, clock, access=access
            ).commands,
            ProactiveCommands(store, delivery, jobs.firing_messages, jobs.jobs, clock).commands,
        )

    async def _drop(self, chats: Sequence[ChatKey]) -> None:
        for chat in chats:
            self._parts.chats.sessions.forget_agents(chat)
        await self._parts.people.zones.reload()

    def _backups(self) -> int:
        base = self._parts.base
        return base.current.now.nightly_backups if base.settings.nightly else 0
