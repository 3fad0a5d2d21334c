"""Builds a running gateway: every part is created here or in `foundation`, with what it uses."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property, partial

from agent_core.tools.task import task_tool
from channels.base import Channel, ChatKey
from channels.capabilities import CatchesUp
from gateway.app.app import App, ChannelServer, Work
from gateway.app.app_settings import AppSettings, Stored, System
from gateway.app.catch_up import CatchUp
from gateway.app.foundation import Foundation
from gateway.app.gap_reader import GapReader
from gateway.app.handler import ChannelMessageHandler
from gateway.chat.answers import Answers
from gateway.chat.chat_agents import ChatAgents
from gateway.chat.chat_prompts import ChatPrompts
from gateway.chat.conversation import Conversation
from gateway.chat.earlier_talk import EarlierTalk
from gateway.chat.run import ChatRuns
from gateway.chat.run_end import RunEnds
from gateway.chat.session import ChatSession
from gateway.chat.sessions import Sessions
from gateway.chat.turns import Turns
from gateway.commands.desk import Desk
from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.delivery.typing_sign import Typing
from gateway.permissions.approved_tools import ApprovedTools
from gateway.runs.agents import AgentParts, Agents
from gateway.schedule.heartbeat.chat_state import ChatStates
from gateway.schedule.heartbeat.heartbeats import Heartbeats
from gateway.schedule.heartbeat.settings import HeartbeatSettings, Offer
from gateway.schedule.jobs.chat_notes import ChatNotes
from gateway.schedule.jobs.digest import Digests
from gateway.schedule.jobs.due_jobs import DueJobs, UnconfirmedReminders
from gateway.schedule.jobs.firing_delivery import FiringDelivery
from gateway.schedule.jobs.firing_messages import Announcer, FiringMessages
from gateway.schedule.jobs.firings import FiringEnd, Firings
from gateway.schedule.jobs.job_runs import JobAgents, JobRuns, JobWork
from gateway.schedule.jobs.jobs import Jobs
from gateway.schedule.jobs.missed import MissedSlots
from gateway.schedule.jobs.preview import Costs
from gateway.schedule.jobs.run_tools import RunTools
from gateway.schedule.jobs.tools import JobTools
from gateway.schedule.scheduler import Scheduler
from gateway.store.store import Store
from gateway.texts.about import About
from gateway.upkeep.before_restore import BeforeRestore
from gateway.upkeep.nightly_backup import NightlyBackup
from gateway.upkeep.upkeep import Upkeep

MOST_NAMED = 5
"""Most chats named in one message to owners."""


class Composition(Foundation):
    """The parts of a gateway. Each is created once, when it is first asked for."""

    # Chats' agents

    @cached_property
    def chat_agents(self) -> Agents:
        jobs = JobTools(self.jobs, self.store, self.delivery, self.settings.language)
        parts = replace(self.agent_parts, tools=(*self.agent_parts.tools, task_tool(self.tasks), *jobs.both()))
        return self.base_agents.variant(parts, self.permissions)

    # The schedule

    @cached_property
    def heartbeat_settings(self) -> HeartbeatSettings:
        language, new_id = self.settings.language, self._new_request_id
        return HeartbeatSettings(self.store, self.delivery, self._clock, language, new_id, self.planned.set)

    @cached_property
    def heartbeats(self) -> Heartbeats:
        after = ChatStates(self.store, self.delivery, self.settings.home, self.agent_parts.ledger)
        return Heartbeats(
            self.store, self._clock, self.settings.language, self.zones.of, self.heartbeat_settings, after
        )

    @cached_property
    def offer(self) -> Offer | None:
        if not self.settings.offers_heartbeat:
            return None
        return Offer(self.store, self.delivery, self.access, self.heartbeat_settings, self.settings.language)

    @cached_property
    def announcer(self) -> Announcer:
        return Announcer(self.store, self._clock, self.settings.language)

    @cached_property
    def saying(self) -> FiringDelivery:
        return FiringDelivery(self.store, self.delivery, self.access)

    @cached_property
    def run_tools(self) -> RunTools:
        return RunTools(self.store, self.delivery, self.access, self._clock, self.settings.home / OUTGOING)

    @cached_property
    def job_runs(self) -> JobRuns:
        agents = JobAgents(self.base_agents, self.rules, self.versions, self.workspaces.folder)
        return JobRuns(self.runner, self.store, agents, self.run_tools, self._clock)

    @cached_property
    def jobs(self) -> Jobs:
        parts = self.agent_parts
        return Jobs(
            store=self.store,
            delivery=self.delivery,
            access=self.access,
            clock=self._clock,
            costs=Costs(parts.model, [each.spec for each in parts.tools]),
            skills=parts.skills,
            zone_of=self.zones.of,
            new_id=self._new_request_id,
            changed=self.planned.set,
            stop=self.job_runs.stop,
        )

    @cached_property
    def notes(self) -> ChatNotes:
        return ChatNotes(self.store, self.announcer, self.run_tools.files)

    @cached_property
    def firings(self) -> Firings:
        work = JobWork(self.job_runs, self.heartbeats, self.access)
        messages = FiringMessages(
            self.store, self.delivery, self.access, self.announcer, self.run_tools.files, self.secrets
        )
        end = FiringEnd(self.store, self._clock, work, messages, self.saying, self.notes, tell=self.sessions.receive)
        return Firings(self.store, self._clock, self.drain, self._new_request_id, work, end)

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
        digests = Digests(self.store, self.delivery, self.access, self.announcer, self.saying, self.run_tools.files)
        unconfirmed = UnconfirmedReminders(self.store, self.delivery)
        return Scheduler(due, missed, unconfirmed, digests, self.heartbeat_settings, self._clock, planned=self.planned)

    # Upkeep

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
            settings=self.settings.upkeep,
        )

    # Chats

    @cached_property
    def desk(self) -> Desk:
        return Desk(
            self.store,
            self.runner,
            self.delivery,
            self.access,
            self.pace,
            self.gaps,
            self.approvals,
            self._clock,
            self._new_id,
            self.chat_agents,
            self.settings.home,
            self.zones,
            self.settings.language,
            self.about,
            self.secrets,
            self.memories,
            self.versions,
            self.tasks,
            self.jobs,
            self.heartbeats,
            self.before_restore,
            self.drain,
            self.approved,
        )

    @cached_property
    def typing(self) -> Typing:
        return Typing(self.delivery, self._clock)

    @cached_property
    def turns(self) -> Turns:
        return Turns(self.pace, self.access, self.drain, self._clock, self._new_id)

    @cached_property
    def runs(self) -> ChatRuns:
        answers = Answers(self.store, self.delivery, self.access, self.secrets, self._clock)
        ends = RunEnds(
            self.store,
            self.delivery,
            self.access,
            self.approvals,
            self.tasks,
            jobs=self.jobs,
            offer=self.offer,
        )
        return ChatRuns(self.runner, answers, ends)

    @cached_property
    def loaded_agents(self) -> ChatAgents:
        return ChatAgents(self.chat_agents, self.workspaces, self.memories, self.store)

    @cached_property
    def prompts(self) -> ChatPrompts:
        return ChatPrompts(
            self._talk,
            self.workspaces,
            self.memories,
            self.notes,
            self._clock,
            secrets=self.secrets,
            vision=self.about.vision,
        )

    def _talk(self, channel: Channel) -> EarlierTalk:
        return EarlierTalk(channel, self.store, self.access.may_speak, self.delivery.caught_up)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self._session)

    def _session(self, chat: ChatKey) -> ChatSession:
        conversation = Conversation(
            chat,
            self.delivery.channel(chat),
            self.store,
            self.zones,
            self.settings.language,
            agents=self.loaded_agents,
            prompts=self.prompts,
        )
        return ChatSession(conversation, self.runs, self.turns, self.gaps, self.notes, self.typing)

    @cached_property
    def handler(self) -> ChannelMessageHandler:
        return ChannelMessageHandler(self.desk, self.sessions, self.firings, self.ended)

    # The app

    def catch_up(self, name: str, channel: CatchesUp) -> CatchUp:
        """Return what reads the missed messages of a platform."""
        reader = GapReader(
            name=name,
            channel=channel,
            inbox=self.handler.accept_late,
            store=self.store,
            clock=self._clock,
            gaps=self.gaps,
            tell=self._tell_of_gaps,
        )
        people = self.settings.people.on(name)
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
        loops: dict[str, Work] = {"upkeep": self.upkeep.run, "MCP tools": self._tell_of_tools}
        if self.settings.tick_every is not None:
            loops["what is due"] = partial(self.scheduler.run, self.settings.tick_every)
        channels = ChannelServer(self._channels, self.handler, self.supervisor, self.catch_up)
        return App(
            self.handler,
            self.scheduler,
            channels,
            self.supervisor,
            self.drain,
            loops=loops,
            console=self.console,
        )


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
        Stored(store, await store.chats.spoken_in(), await store.restores.last()),
        channels,
        parts,
        about,
        system=system or System(),
        approved=approved or ApprovedTools(settings.home / "mcp.json", {}),
    )
    app = made.app  # every part exists before the first one begins
    made.audit.begin()
    await app.handler.recover()
    try:
        yield made
    finally:
        await made.scheduler.close()
        await asyncio.gather(app.handler.close(), made.owners.close())
        await made.audit.close()
