"""The parts of chats and of their jobs: agents, sessions, runs, firings."""

from dataclasses import replace
from functools import cached_property, partial

from agent_core.models.audio import AudioClient
from agent_core.tools.task import task_tool
from channels.base import ChatKey
from gateway.app.foundation import Foundation
from gateway.chat.answers import Answers
from gateway.chat.ask_user_tool import QuestionPermissions, ask_user_tool
from gateway.chat.conversation import ChatAgents, Conversation
from gateway.chat.earlier_talk import EarlierTalk
from gateway.chat.prompts import ChatPrompts, Media
from gateway.chat.run import ChatRuns
from gateway.chat.run_end import RunEnds
from gateway.chat.session import ChatSession
from gateway.chat.sessions import Sessions
from gateway.chat.speech import Speaker
from gateway.chat.transcription import Transcriber
from gateway.chat.turns import Turns
from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.delivery.reactions import Reactions
from gateway.delivery.typing_sign import Typing
from gateway.permissions.audio_spending import AudioSpending
from gateway.runs.agents import Agents
from gateway.runs.handles import Handles
from gateway.schedule.heartbeat.chat_state import ChatStates
from gateway.schedule.heartbeat.heartbeats import Heartbeats
from gateway.schedule.heartbeat.settings import HeartbeatSettings, Offer
from gateway.schedule.jobs.chat_notes import ChatNotes
from gateway.schedule.jobs.firing_delivery import FiringDelivery
from gateway.schedule.jobs.firing_messages import FiringMessages
from gateway.schedule.jobs.firings import FiringEnd, Firings
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.job_runs import JobAgents, JobWork
from gateway.schedule.jobs.jobs import Jobs
from gateway.schedule.jobs.preview import Costs
from gateway.schedule.jobs.run_tools import RunTools
from gateway.schedule.jobs.tools import JobTools
from gateway.schedule.jobs.zone_news import ZoneNews


class Chats(Foundation):
    """The parts of chats and of their jobs. Each is created once, when it is first asked for."""

    # Chats' agents

    @cached_property
    def chat_agents(self) -> Agents:
        jobs = JobTools(self.jobs, self.store, self.delivery, self.zone_news, self.current)
        parts = replace(
            self.agent_parts,
            tools=(*self.agent_parts.tools, task_tool(self.tasks), ask_user_tool(self.store), *jobs.both()),
        )
        return self.base_agents.variant(parts, QuestionPermissions(self.permissions, self.approvals))

    # The schedule

    @cached_property
    def heartbeat_settings(self) -> HeartbeatSettings:
        current, new_id = self.current, self._new_request_id
        return HeartbeatSettings(self.store, self.delivery, self._clock, current, new_id, self.planned.set)

    @cached_property
    def heartbeats(self) -> Heartbeats:
        home, ledger, zone_of = self.settings.home, self.agent_parts.ledger, self.zones.of
        states = ChatStates(self.store, self.delivery, home, ledger, zone_of)
        return Heartbeats(self.store, self._clock, self.current, self.heartbeat_settings, states)

    @cached_property
    def offer(self) -> Offer:
        return Offer(self.store, self.delivery, self.access, self.heartbeat_settings, self.current)

    @cached_property
    def firing_messages(self) -> FiringMessages:
        files = self.run_tools.files
        return FiringMessages(self.store, self.delivery, self.access, self._clock, self.current, files)

    @cached_property
    def firing_delivery(self) -> FiringDelivery:
        return FiringDelivery(self.store, self.delivery, self.access)

    @cached_property
    def run_tools(self) -> RunTools:
        return RunTools(self.store, self.delivery, self.access, self._clock, self.settings.home / OUTGOING)

    @cached_property
    def job_work(self) -> JobWork:
        agents = JobAgents(
            self.base_agents,
            self.rules,
            self.versions,
            self.workspaces.folder,
            records=self.store.run_records,
        )
        runner, store, tools = self.runner, self.store, self.run_tools
        return JobWork(runner, store, agents, tools, self.heartbeats, rights=self.job_rights, clock=self._clock)

    @cached_property
    def job_rights(self) -> JobRights:
        return JobRights(self.store, self.rules, self.current.quotas)

    @cached_property
    def jobs(self) -> Jobs:
        parts = self.agent_parts
        return Jobs(
            store=self.store,
            delivery=self.delivery,
            rights=self.job_rights,
            clock=self._clock,
            costs=Costs(self.chat_models.model_for, [each.spec for each in parts.tools]),
            skills=parts.skills,
            zone_of=self.zones.of,
            new_id=self._new_request_id,
            changed=self.planned.set,
            stop=self.job_work.stop,
        )

    @cached_property
    def zone_news(self) -> ZoneNews:
        return ZoneNews(self.zones, self.delivery)

    @cached_property
    def notes(self) -> ChatNotes:
        return ChatNotes(self.store, self.firing_messages)

    @cached_property
    def firings(self) -> Firings:
        work, messages, delivery = self.job_work, self.firing_messages, self.firing_delivery
        end = FiringEnd(self.store, self._clock, work, messages, delivery, self.notes, tell=self.sessions.receive)
        return Firings(self.store, self._clock, self.drain, self._new_request_id, work, end, stored=self.stored)

    # Chats

    @cached_property
    def typing(self) -> Typing:
        return Typing(self.delivery, self._clock)

    @cached_property
    def reactions(self) -> Reactions:
        return Reactions(self.store.reactions, self.delivery, self._clock, self.current)

    @cached_property
    def turns(self) -> Turns:
        return Turns(self.pace, self.access, self.drain, self._clock, self._new_id)

    @cached_property
    def run_ends(self) -> RunEnds:
        return RunEnds(
            self.store,
            self.delivery,
            self.access,
            self.approvals,
            self.tasks,
            jobs=self.jobs,
            offer=self.offer,
        )

    @cached_property
    def runs(self) -> ChatRuns:
        answers = Answers(self.store, self.delivery, self.access, self.secrets, self._clock)
        return ChatRuns(self.store, self.runner, answers, self.run_ends, self.speaker, self.reactions)

    @cached_property
    def loaded_agents(self) -> ChatAgents:
        return ChatAgents(self.chat_agents, self.workspaces, self.memories, self.store)

    @cached_property
    def audio_spending(self) -> AudioSpending:
        return AudioSpending(self.budgets, self.current, self._clock)

    @cached_property
    def speaker(self) -> Speaker:
        server, outgoing = self.settings.speech, self.settings.home / OUTGOING
        client, spending = AudioClient(server) if server else None, self.audio_spending
        handles = Handles(self._clock, "an answer that is to be spoken")
        return Speaker(client, self.store, self.delivery, self.access, spending, handles=handles, outgoing=outgoing)

    @cached_property
    def transcriber(self) -> Transcriber:
        server = self.settings.transcription
        client = AudioClient(server) if server else None
        return Transcriber(client, self.store, self.access, self.secrets, self.audio_spending)

    @cached_property
    def prompts(self) -> ChatPrompts:
        talk = partial(
            EarlierTalk, store=self.store, is_trusted=self.access.is_trusted, caught_up=self.delivery.caught_up
        )
        return ChatPrompts(
            talk,
            self.workspaces,
            self.memories,
            self.notes,
            self._clock,
            secrets=self.secrets,
            media=Media(self.chat_models, self.transcriber),
        )

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self._session)

    def _session(self, chat: ChatKey) -> ChatSession:
        conversation = Conversation(
            chat,
            self.delivery.channel(chat),
            self.store,
            self.zones,
            self.current,
            agents=self.loaded_agents,
            prompts=self.prompts,
        )
        return ChatSession(conversation, self.runs, self.turns, self.gaps, self.notes, self.typing)
