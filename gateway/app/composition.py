"""Builds a running gateway: every part is created here, in `chats` or in `foundation`, with what it uses."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cached_property, partial
from itertools import chain

from channels.base import Channel, ChatKey, Menu, Sender
from channels.capabilities import CatchesUp
from channels.commands import Suggestion
from gateway.app.admission import Admission
from gateway.app.app import App, ChannelServer, Work
from gateway.app.app_settings import AppSettings, Stored, System
from gateway.app.catch_up import CatchUp
from gateway.app.chats import Chats
from gateway.app.command_handler import CommandHandler
from gateway.app.gap_reader import GapReader
from gateway.app.gate import Gate
from gateway.app.handler import ChannelMessageHandler
from gateway.app.recovery import Recovery
from gateway.app.revocation import Revocation
from gateway.app.yes_or_no import PlainWords
from gateway.chat.ask_user import FreeAnswers
from gateway.chat.replies import Replies
from gateway.commands.answers import AnswerCommands
from gateway.commands.approvals import ApprovalCommands, RuleCommands
from gateway.commands.aside import AsideCommands
from gateway.commands.audit import AuditCommands
from gateway.commands.budget import BudgetCommands
from gateway.commands.config import ConfigCommands
from gateway.commands.context import ContextCommands
from gateway.commands.conversation import ConversationCommands
from gateway.commands.cron import CronCommands
from gateway.commands.doctor import DoctorCommands
from gateway.commands.export import ExportCommands
from gateway.commands.forget import ForgetCommands
from gateway.commands.groups import GroupCommands
from gateway.commands.heartbeat import HeartbeatCommands
from gateway.commands.help import HelpCommands
from gateway.commands.link import LinkCommands
from gateway.commands.mcp import McpCommands
from gateway.commands.models import ModelCommands
from gateway.commands.pair import PairCommands
from gateway.commands.people import PeopleCommands
from gateway.commands.planning import Planning
from gateway.commands.privacy import PrivacyCommands
from gateway.commands.proactive import ProactiveCommands
from gateway.commands.queue import QueueCommands
from gateway.commands.remind import RemindCommands
from gateway.commands.report import ReportCommands
from gateway.commands.retry import RetryCommand
from gateway.commands.search import SearchCommands
from gateway.commands.sessions import SessionCommands
from gateway.commands.skill_archives import SkillArchives
from gateway.commands.skill_install import SkillInstalls
from gateway.commands.skill_levels import SkillLevels
from gateway.commands.skills import SkillCommands
from gateway.commands.status import StatusCommand
from gateway.commands.table import CommandTable
from gateway.commands.tasks import TaskCommands
from gateway.commands.undo import UndoCommands
from gateway.commands.usage import UsageCommands
from gateway.commands.voice import VoiceCommands
from gateway.commands.why import WhyCommands
from gateway.commands.zone import ZoneCommands
from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.permissions.approved_tools import ApprovedTools
from gateway.runs.agents import AgentParts
from gateway.runs.drain import DrainedTasks
from gateway.schedule.jobs.digest import Digests
from gateway.schedule.jobs.due_jobs import DueJobs, UnconfirmedReminders
from gateway.schedule.jobs.feedback import Feedback
from gateway.schedule.jobs.missed import MissedSlots
from gateway.schedule.scheduler import Scheduler
from gateway.store.store import Store
from gateway.texts.about import About
from gateway.upkeep.before_restore import BeforeRestore
from gateway.upkeep.forgetting import Forgetting
from gateway.upkeep.nightly_backup import NightlyBackup
from gateway.upkeep.upkeep import Upkeep, UpkeepSettings

MOST_NAMED = 5
"""Most chats named in one message to owners."""


class Composition(Chats):
    """The parts of a gateway. Each is created once, when it is first asked for."""

    # Inbound events

    @cached_property
    def commands(self) -> CommandTable:
        planning = Planning(self.jobs, self._clock)
        about, clock, store, pace = self.about, self._clock, self.store, self.pace
        cron = CronCommands(planning, self.jobs, clock, self.firings, store=store, delivery=self.delivery, pace=pace)
        feedback = Feedback(store, self.announcer, self.jobs, clock)
        heartbeat = HeartbeatCommands(self.heartbeats, self.workspaces, store, self.firings, pace, clock)
        status = StatusCommand(about, clock, self.settings.home, self.approvals, self.tasks, self.chat_agents.chain)
        usage = UsageCommands(store.spending, self.access, self.settings.zone, self.settings.home / OUTGOING, clock)
        found = (
            HelpCommands(about).commands,
            status.commands,
            PairCommands(self.pairing, self.access, clock).commands,
            LinkCommands(self.membership, self.access).commands,
            PeopleCommands(self.access, self.roles, self.membership, self.strangers, self.revocation.sweep).commands,
            ConversationCommands(self.tasks, store.outbox).commands,
            RetryCommand(self.chat_models, self.access, store.exchanges).commands,
            QueueCommands().commands,
            AsideCommands(self.chat_models, pace, self.access, self.secrets, self._new_id).commands,
            ModelCommands(self.chat_models, self.chat_agents.chain, store.chat_settings).commands,
            ZoneCommands(self.zones, self.jobs, store, clock).commands,
            ExportCommands(self.settings.home, about.name, clock, self.secrets).commands,
            ContextCommands(store, pace, clock, self._new_id).commands,
            SkillCommands(self.skill_installs, SkillLevels(self.store.chat_settings)).commands,
            VoiceCommands(self.speaker, store.chat_settings).commands,
            ApprovalCommands(self.approvals, self.delivery, store.outbox).commands,
            AnswerCommands(self.approvals, store.approvals).commands,
            RuleCommands(store.rules, self.zones).commands,
            McpCommands(self.approved).commands,
            GroupCommands(self.groups.rules, store.chat_settings, self.revocation.sweep).commands,
            BudgetCommands(self.budgets, store, self.access).commands,
            usage.commands,
            TaskCommands(self.tasks, pace, clock).commands,
            SearchCommands(store, self.delivery, self.access, clock, about.name).commands,
            SessionCommands(store.sessions, clock).commands,
            WhyCommands(store, self.delivery, clock).commands,
            UndoCommands(self.versions, self.memories).commands,
            AuditCommands(self.settings.home, is_on=self.settings.audit).commands,
            ForgetCommands(self.forgetting, self.access, self.roles, clock).commands,
            PrivacyCommands(self.settings.privacy).commands,
            DoctorCommands(self.delivery).commands,
            ConfigCommands(self.live, self.access, self.audit, self.secrets).commands,
            RemindCommands(planning, self.jobs, clock).commands,
            ReportCommands(planning, self.jobs, clock).commands,
            cron.commands,
            heartbeat.commands,
            ProactiveCommands(store, self.delivery, feedback).commands,
        )
        return CommandTable(chain.from_iterable(found), self.access)

    @cached_property
    def skill_installs(self) -> SkillInstalls:
        archives = SkillArchives(self.workspaces, self._system.fetcher)
        outgoing = self.settings.home / OUTGOING
        return SkillInstalls(self.agent_parts.skills, archives, self._clock, self.secrets, outgoing)

    @cached_property
    def handling(self) -> DrainedTasks:
        return DrainedTasks("handling an event failed", self.drain, "commands")

    @cached_property
    def handler(self) -> ChannelMessageHandler:
        words = PlainWords(self.store, self.delivery, self._clock)
        replies = Replies(self.store, self.delivery, self.access)
        admission = Admission(
            self.store,
            self.delivery,
            Gate(self.access, self.store.standings, self.revocation),
            words,
            commands=self.commands,
            before_restore=self.before_restore,
            strangers=self.strangers,
        )
        answers = FreeAnswers(self.approvals, self.store, self.delivery)
        commands = CommandHandler(
            self.commands, self.sessions, words, replies, self.gaps, self.handling, answers=answers
        )
        return ChannelMessageHandler(
            admission,
            self.sessions,
            commands,
            self.firings,
            replies=replies,
            pace=self.pace,
            tasks=self.handling,
        )

    async def _suggest(self, chat: ChatKey, sender: Sender, command: str, typed: str) -> Sequence[Suggestion]:
        """Return values for the argument of a command that a user is typing."""
        return await self.commands.suggest(self.sessions.of(chat), sender, command, typed)

    async def _receive_ends_of_tasks(self) -> None:
        while True:
            item = await self.ended.get()
            if not self.delivery.knows(item.event.chat):
                continue
            if self.access.may_speak(item.event.chat, item.event.sender):
                self.sessions.receive(item)
            else:
                await self.store.inbox.settle([item.seq])

    @cached_property
    def revocation(self) -> Revocation:
        language = self.settings.language
        return Revocation(self.store, self.delivery, self.owners, self.sessions, self.run_ends, language)

    # Beside the channels

    @cached_property
    def scheduler(self) -> Scheduler:
        missed = MissedSlots(self.store, self.delivery, self._clock, self.settings.language, self._new_request_id)
        due = DueJobs(
            self.store,
            self.access,
            self._clock,
            self.handler.accept,
            missed,
            platforms=[channel.name for channel in self._channels],
            tick=self.heartbeats.tick,
        )
        digests = Digests(
            self.store, self.delivery, self.access, self.announcer, self.firing_delivery, self.run_tools.files
        )
        unconfirmed = UnconfirmedReminders(self.store, self.delivery)
        return Scheduler(due, missed, unconfirmed, digests, self.heartbeat_settings, self._clock, planned=self.planned)

    @cached_property
    def before_restore(self) -> BeforeRestore:
        return BeforeRestore(self.store, self.owners, self.settings.zone, self._stored.restored)

    @cached_property
    def upkeep(self) -> Upkeep:
        home, zone = self.settings.home, self.settings.zone
        backup = NightlyBackup(home, zone, self._clock, self.store, self.owners, self.secrets)
        return Upkeep(
            self.store,
            self._clock,
            backup,
            self.before_restore,
            self.versions,
            outgoing=home / OUTGOING,
            settings=self._upkeep_settings,
        )

    def _upkeep_settings(self) -> UpkeepSettings | None:
        """Return the settings of nightly work, as they are now."""
        if self.settings.upkeep is None or self.settings.loaded is None:
            return self.settings.upkeep
        return UpkeepSettings(self.live.now.backups, self.live.now.keep_days)

    def _backups(self) -> int:
        settings = self._upkeep_settings()
        return settings.backups if settings is not None else 0

    @cached_property
    def forgetting(self) -> Forgetting:
        def drop(chat: ChatKey) -> None:
            if self.delivery.knows(chat):
                self.sessions.of(chat).conversation.forget_agent()

        return Forgetting(
            self.settings.home, self.store, self.delivery, self.audit, self._clock, backups=self._backups, drop=drop
        )

    # The app

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

    async def _tell_of_tools(self) -> None:
        """Notify owners of tool descriptions that no owner has approved."""
        while True:
            name = await self.approved.changed.get()
            self.owners.tell("mcp_changed", show=f"/mcp {name}", name=name)

    @cached_property
    def app(self) -> App:
        loops: dict[str, Work] = {
            "upkeep": self.upkeep.run,
            "search index": self.store.search.catch_up,
            "MCP tools": self._tell_of_tools,
            "pairing": self.pairing.run,
            "strangers": partial(self.strangers.run, self.handler.accept),
        }
        scheduler, every = self.scheduler, self.settings.tick_every
        if every is not None:
            loops["what is due"] = partial(scheduler.run, every)
        catch_up, menu = self.catch_up, Menu(self.commands.specs, self._suggest)
        channels = ChannelServer(self._channels, self.handler, menu, self.supervisor, catch_up)
        return App(
            channels,
            self.supervisor,
            self.drain,
            loops=loops,
            console=self.console,
            settled=self.settled,
            input_ended=self.approvals.nobody_answers,
        )

    # Its life

    async def begin(self) -> None:
        """Resume what the previous process left, before the channels deliver anything new."""
        self.audit.begin()
        await self.budgets.load()
        await self.live.load()
        await self.forgetting.catch_up()
        recovery = Recovery(
            self.store,
            self.delivery,
            self.approvals,
            self.tasks,
            self.firings,
            sessions=self.sessions,
            handler=self.handler,
        )
        await recovery.run()
        self.reactions.begin()
        await self.revocation.sweep()  # before any of it goes on
        self._hearing.start(self._receive_ends_of_tasks(), "ends of tasks")

    async def settled(self) -> None:
        """Wait until every chat is idle, every task ended, and everything delivered."""
        while not (
            self.handling.is_idle
            and self.sessions.are_idle
            and self.tasks.are_idle
            and self.ended.empty()
            and self.firings.are_idle
        ):
            await asyncio.sleep(0)  # for the ends of tasks
            await self.handling.join()
            await self.tasks.settled()
            await self.firings.settled()
            await self.sessions.settled()
        await self.speaker.background.join()
        await self.approvals.settled()
        await self.budget_notices.settled()
        await self.scheduler.settled()
        await self.delivery.settled()

    async def close(self) -> None:
        """Cancel all work as it is; the next process continues it."""
        await self.scheduler.close()
        await asyncio.gather(self._close_chats(), self.owners.close(), self.stranger_notices.close_all())
        await self.audit.close()

    async def _close_chats(self) -> None:
        await self._hearing.stop()
        await self.speaker.background.stop()
        self.firings.stop_notes()
        await self.handling.stop()
        await self.sessions.close()
        await self.tasks.close()
        await self.firings.close()
        self.runner.stop()
        await self.approvals.close()
        await asyncio.gather(self.budget_notices.close(), self.reactions.close(), self.forgetting.close())
        await self.delivery.close()


@asynccontextmanager
async def composed(
    settings: AppSettings,
    store: Store,
    channels: Sequence[Channel],
    parts: AgentParts,
    about: About,
    *,
    system: System | None = None,
    approved: ApprovedTools | None = None,
) -> AsyncIterator[Composition]:
    """Compose the gateway, and resume what the previous process left before the channels deliver anything new.

    Args:
        parts: Model, tools and limits of the agents.
        system: None for that of this machine.
        approved: Approval state of MCP tools; None if there are no MCP servers.
    """
    made = Composition(
        settings,
        await Stored.of(store),
        channels,
        parts,
        about,
        system=system or System(),
        approved=approved or ApprovedTools(settings.home / "mcp.json", {}),
    )
    _ = made.app  # every part exists before the first one begins
    await made.begin()
    try:
        yield made
    finally:
        await made.close()
