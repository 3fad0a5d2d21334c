"""Chats: their agents, their runs, and what comes back to them from jobs."""

from functools import partial

from msgspec.structs import replace

from agent_core.tools.task import task_tool
from channels.base import ChatKey
from channels.capabilities import CatchesUp
from gateway.app.moments import Holding, Moments, Noting, Receiving, Summaries
from gateway.app.parts.agents import AgentFactories
from gateway.app.parts.base import Base
from gateway.app.parts.files import FileParts
from gateway.app.parts.guards import Guards
from gateway.app.parts.jobs import JobParts
from gateway.app.parts.people import PeopleParts
from gateway.app.plugins import run_buttons_of
from gateway.chat.answers import Answers
from gateway.chat.ask_user_tool import QuestionPermissions, ask_user_tool
from gateway.chat.conversation import ChatAgents, Conversation
from gateway.chat.earlier_talk import EarlierTalk
from gateway.chat.gaps import Gaps
from gateway.chat.prompts import ChatPrompts, Media
from gateway.chat.refused_answers import RefusedAnswers
from gateway.chat.run import ChatRuns
from gateway.chat.run_end import RunEnds
from gateway.chat.run_pace import Pace
from gateway.chat.session import ChatSession
from gateway.chat.sessions import Sessions
from gateway.chat.turns import Turns
from gateway.delivery.typing_sign import Typing
from gateway.runs.agents import Agents
from gateway.schedule.jobs.firings import FiringEnd, Firings
from gateway.schedule.jobs.tools import JobTools


class ChatParts:
    """Chats: their agents, their runs, and what comes back to them from jobs."""

    def __init__(
        self,
        base: Base,
        people: PeopleParts,
        files: FileParts,
        guards: Guards,
        agents: AgentFactories,
        jobs: JobParts,
        *,
        moments: Moments,
    ) -> None:
        store, delivery, clock, access = base.store, base.delivery, base.clock, people.access
        self._base, self._zones = base, people.zones
        self.gaps = Gaps(clock, base.channels.names(lambda channel: isinstance(channel, CatchesUp)))
        self.pace = Pace(access, clock)
        self.agents = _chat_agents(base, guards, agents, jobs)
        ends = RunEnds(store, delivery, access, guards.approvals, agents.tasks, jobs=jobs.jobs, owed=jobs.owed)
        answers = Answers(store, delivery, access, base.secrets, clock, offered=run_buttons_of(moments.plugins))
        RefusedAnswers(store, delivery, access, base.current)
        self.runs = ChatRuns(store, agents.runner, answers, ends, jobs.owed, moments.moved)
        failures = base.system.plugins.failures
        receiving = Receiving(moments.plugins, failures, clock)
        holding = Holding(moments.plugins, failures, clock)
        asked = holding.hold if holding.plugins else None
        self._turns = Turns(self.pace, access, base.drain, clock, base.new_id, asked)
        self._typing = Typing(delivery, clock)
        self._notes = jobs.notes
        keeping = Summaries(moments.plugins, failures, clock).keeping
        self._loaded = ChatAgents(self.agents, files.workspaces, store, keeping)
        self._prompts = ChatPrompts(
            partial(EarlierTalk, store=store, is_trusted=access.is_trusted, caught_up=delivery.caught_up),
            files.workspaces,
            Noting(moments.plugins, failures, clock).notes,
            jobs.notes,
            clock,
            secrets=base.secrets,
            media=Media(
                agents.chat_models,
                receiving.hear,
                receiving.read,
                lambda: base.system.plugins.models.samples,
            ),
        )
        self.sessions = Sessions(self._session)
        messages, posts = jobs.firing_messages, jobs.firing_delivery
        end = FiringEnd(store, clock, jobs.work, messages, posts, jobs.notes, tell=self.sessions.receive)
        self.firings = Firings(store, clock, base.drain, base.new_request_id, jobs.work, end, stored=base.stored_events)

    def _session(self, chat: ChatKey) -> ChatSession:
        base = self._base
        conversation = Conversation(
            chat,
            base.delivery.channel(chat),
            base.store,
            self._zones,
            base.current,
            agents=self._loaded,
            prompts=self._prompts,
        )
        return ChatSession(conversation, self.runs, self._turns, self.gaps, self._notes, self._typing)


def _chat_agents(base: Base, guards: Guards, agents: AgentFactories, jobs: JobParts) -> Agents:
    """Return what makes the agents of chats, which may start tasks, ask questions and propose jobs."""
    tools = JobTools(jobs.jobs, base.store, base.delivery, jobs.zone_news, base.current, jobs.destinations)
    parts = replace(
        agents.parts,
        tools=(*agents.parts.tools, task_tool(agents.tasks), ask_user_tool(base.store), *tools.both()),
    )
    return agents.plain.variant(parts, QuestionPermissions(guards.permissions, guards.approvals, guards.gates))
