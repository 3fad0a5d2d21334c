"""Builds what the slash commands use, and the table of all commands."""

from functools import cached_property
from itertools import chain

from channels.base import ChatKey
from channels.commands import CommandSpec
from gateway.app.chats import Chats
from gateway.app.revocation import Revocation
from gateway.commands.answers import AnswerCommands
from gateway.commands.approvals import ApprovalCommands, RuleCommands
from gateway.commands.aside import AsideCommands
from gateway.commands.audit import AuditCommands
from gateway.commands.budget import BudgetCommands
from gateway.commands.command import CommandTable
from gateway.commands.completions import Completions, PeopleCompletions
from gateway.commands.config import ConfigCommands
from gateway.commands.context import ContextCommands
from gateway.commands.conversation import ConversationCommands
from gateway.commands.cron import CronCommands
from gateway.commands.doctor import DoctorCommands
from gateway.commands.export import ExportCommands
from gateway.commands.forget import ForgetCommands
from gateway.commands.group_rules import GroupRules
from gateway.commands.group_tools import GroupToolCommands
from gateway.commands.groups import GroupCommands
from gateway.commands.heartbeat import HeartbeatCommands
from gateway.commands.help import HelpCommands
from gateway.commands.link import LinkCommands
from gateway.commands.mcp import McpCommands
from gateway.commands.memory import MemoryCommands
from gateway.commands.model_status import ModelStatus
from gateway.commands.model_test import ModelTest
from gateway.commands.models import ModelCommands
from gateway.commands.page import PageCommands
from gateway.commands.pair import PairCommands
from gateway.commands.people import PeopleCommands
from gateway.commands.planning import Planning
from gateway.commands.privacy import PrivacyCommands
from gateway.commands.proactive import ProactiveCommands
from gateway.commands.queue import QueueCommands
from gateway.commands.remind import RemindCommands
from gateway.commands.report import ReportCommands
from gateway.commands.retry import RetryCommand
from gateway.commands.reword import RewordCommand
from gateway.commands.search import SearchCommands
from gateway.commands.sessions import SessionCommands
from gateway.commands.skill_archives import SkillArchives
from gateway.commands.skill_install import SkillInstalls
from gateway.commands.skill_levels import SkillLevels
from gateway.commands.skills import SkillCommands
from gateway.commands.status import StatusCommand
from gateway.commands.tasks import TaskCommands
from gateway.commands.undo import UndoCommands
from gateway.commands.usage import UsageCommands
from gateway.commands.voice import VoiceCommands
from gateway.commands.why import WhyCommands
from gateway.commands.zone import ZoneCommands
from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.permissions.roles import Role
from gateway.records.audit_chain import DAYS as AUDIT_DAYS
from gateway.settings.privacy import Privacy, privacy_of
from gateway.upkeep.forgetting import Forgetting
from gateway.upkeep.role_menus import RoleMenus


class Commands(Chats):
    """The parts that only commands use. Each is created once, when it is first asked for."""

    @cached_property
    def commands(self) -> CommandTable:
        planning = Planning(self.jobs, self.zone_news, self._clock)
        about, clock, store, pace = self.about, self._clock, self.store, self.pace
        cron = CronCommands(planning, self.jobs, clock, self.firings, store=store, delivery=self.delivery, pace=pace)
        heartbeat = HeartbeatCommands(
            self.heartbeats, self.workspaces, store, self.firings, pace, clock, access=self.access
        )
        model = ModelStatus(about, self.chat_models, self.chat_agents.chain, self.budgets, clock)
        status = StatusCommand(
            about, clock, self.settings.home, self.approvals, self.tasks, model, nodes=self.node_statuses
        )
        usage = UsageCommands(store.spending, self.access, self.current, self.settings.home / OUTGOING, clock)
        followed = self.revocation.sweep, store.pairing.outcome
        test = ModelTest(self.chat_models, self.spending_of, store.spending, clock, self._new_id)
        rules = GroupRules(self.groups.rules, store.chat_settings, self.audit)
        found = (
            HelpCommands(about, self.current).commands,
            status.commands,
            PairCommands(self.pairing, self.access, self.strangers, clock).commands,
            LinkCommands(self.membership, self.access, self.stranger_notices, *followed).commands,
            PageCommands(self.settings.entrance, self.access, self.current).commands,
            PeopleCommands(self.access, self.roles, self.membership, self.strangers, self.revocation.sweep).commands,
            ConversationCommands(self.tasks, store.outbox).commands,
            RetryCommand(self.chat_models, self.access, store.exchanges).commands,
            RewordCommand(self.access, store.exchanges).commands,
            QueueCommands(store.transcript).commands,
            AsideCommands(self.chat_models, pace, self.access, self.secrets, self._new_id).commands,
            ModelCommands(self.chat_models, self.chat_agents.chain, store.chat_settings, test).commands,
            ZoneCommands(self.zones, self.jobs, store, clock).commands,
            ExportCommands(self.settings.home, self.current, clock, self.secrets).commands,
            ContextCommands(store, pace, clock, self._new_id, self.chat_models).commands,
            SkillCommands(self.skill_installs, SkillLevels(self.store.chat_settings)).commands,
            VoiceCommands(self.speaker, store.chat_settings).commands,
            ApprovalCommands(self.approvals, self.delivery, store.outbox).commands,
            AnswerCommands(self.approvals, store.approvals).commands,
            RuleCommands(store.rules, self.zones).commands,
            McpCommands(self.approved).commands,
            GroupCommands(rules, self.revocation.sweep).commands,
            GroupToolCommands(rules).commands,
            BudgetCommands(self.budgets, store, self.access, self.audit).commands,
            usage.commands,
            TaskCommands(self.tasks, pace, clock).commands,
            SearchCommands(store, self.delivery, self.access, clock, self.current).commands,
            SessionCommands(store.sessions, clock).commands,
            WhyCommands(store, self.delivery, self.access, clock).commands,
            MemoryCommands(self.memories, self.versions).commands,
            UndoCommands(self.versions, self.memories).commands,
            AuditCommands(self.settings.home, is_on=self.current.now.audit).commands,
            ForgetCommands(self.forgetting, self.access, self.roles, clock).commands,
            PrivacyCommands(self._privacy, self.current).commands,
            DoctorCommands(self.delivery).commands,
            ConfigCommands(self.live, self.current, self.access, self.audit, self.secrets).commands,
            RemindCommands(planning, self.jobs, clock).commands,
            ReportCommands(planning, self.jobs, clock).commands,
            cron.commands,
            heartbeat.commands,
            ProactiveCommands(store, self.delivery, self.firing_messages, self.jobs, clock).commands,
        )
        completions = Completions(
            store,
            self.chat_models,
            self.approvals,
            self.tasks,
            self.versions,
            self.jobs,
        )
        people = PeopleCompletions(self.roles, self.strangers)
        suggesters = {**completions.by_command, **people.by_command}
        return CommandTable(chain.from_iterable(found), self.rules, suggesters, look_at=self.membership.look_at)

    def _privacy(self) -> Privacy:
        choices = chain.from_iterable(self.models.now.choices.values())
        return privacy_of(self.current.now, choices, AUDIT_DAYS)

    @cached_property
    def skill_installs(self) -> SkillInstalls:
        archives = SkillArchives(self.workspaces, self._system.fetcher)
        outgoing = self.settings.home / OUTGOING
        return SkillInstalls(self.agent_parts.skills, archives, self._clock, self.secrets, outgoing)

    @cached_property
    def role_menus(self) -> RoleMenus:
        def offered(role: Role) -> list[CommandSpec]:
            return [command.spec for command in self.commands.offered(role)]

        return RoleMenus(self.store.menus, self.roles, self._channels, offered, self._clock)

    @cached_property
    def revocation(self) -> Revocation:
        entrance = self.settings.entrance
        return Revocation(
            self.store,
            self.delivery,
            self.owners,
            self.sessions,
            self.runs,
            self.current,
            entrance=entrance,
        )

    @cached_property
    def forgetting(self) -> Forgetting:
        return Forgetting(
            self.settings.home,
            self.store,
            self.delivery,
            self.audit,
            self._clock,
            backups=self._backups,
            drop=self._drop,
        )

    def _drop(self, chat: ChatKey) -> None:
        self.sessions.forget_agents(chat)
        self.zones.forget()

    def _backups(self) -> int:
        return self.current.now.nightly_backups if self.settings.nightly else 0
