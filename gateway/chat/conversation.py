"""A chat's conversation: its settings, its agent with the history, and the prompts made from users' messages."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from agent_core.agent import Agent
from agent_core.context.compaction.compaction import KeepFacts
from agent_core.messages import AgentMessage, NotificationMessage, SummaryMessage, UserMessage
from agent_core.reasons import TerminalReason
from agent_core.skills.chat_skills import ChatSkills
from channels.base import Channel, ChatKey, Sender, TaskEnded
from gateway.chat.held_history import HeldHistory
from gateway.chat.prompt_notes import PromptNote
from gateway.chat.prompts import ChatPrompts
from gateway.permissions.workspaces import Workspaces
from gateway.runs.agents import Agents
from gateway.runs.tasks.report import notice
from gateway.schedule.zones import Zones
from gateway.settings.current import CurrentSettings
from gateway.store.rows import Chat, InboxItem, Run
from gateway.store.store import Store
from gateway.texts.say import Language, language_of

SKILL, ON, OFF = "skill:", "on", "off"
"""The name of a chat setting that keeps a skill loaded begins with `SKILL`; its values."""


class ChatAgents:
    """Makes agents with the history and the loaded skills of a chat."""

    def __init__(
        self, agents: Agents, workspaces: Workspaces, store: Store, keeping: Callable[[ChatKey], KeepFacts | None]
    ) -> None:
        """`keeping` returns what is told of facts that a summary of a chat finds worth keeping."""
        self._agents = agents
        self._workspaces = workspaces
        self._store = store
        self._keeping = keeping

    async def load(self, chat: ChatKey, session: str) -> Agent:
        """Return an agent with the history of a session."""
        states = await self._store.skills.of(chat)
        keep, facts = partial(self._store.skills.save, chat), self._keeping(chat)
        agent = self._agents.make(chat, session, self._workspaces.folder(chat), states, keep, keep_facts=facts)
        agent.replace_messages(await self._store.transcript.history(session))
        return agent

    async def tune(self, chat: ChatKey, agent: Agent) -> None:
        """Let an idle agent go by the settings in force, and load the skills that the chat's channel, workspace or the
        installation keeps loaded."""
        if not agent.is_running:
            parts = self._agents.parts
            agent.context.persona, agent.loop.limits = parts.persona(), parts.limits()
        settings = self._store.chat_settings
        names = [name for name in await settings.names(SKILL) if await settings.get(chat, name) == ON]
        agent.inherit_skills(frozenset(name.removeprefix(SKILL) for name in names))


class Conversation:
    """Conversation of one chat, loaded from the store on first use."""

    def __init__(
        self,
        key: ChatKey,
        channel: Channel,
        store: Store,
        zones: Zones,
        current: CurrentSettings,
        *,
        agents: ChatAgents,
        prompts: ChatPrompts,
    ) -> None:
        self.key = key
        self.channel = channel
        self._store = store
        self._zones = zones
        self._current = current
        self._agents = agents
        self._prompts = prompts
        self._chat: Chat | None = None
        """Cached, since only this object changes it."""
        self._agent: Agent | None = None
        self._is_driven = False
        """True while a run drives the agent, also while its messages and its answer are being stored."""
        self._is_outdated = False
        """True if the agent is to be loaded again once nothing uses it."""
        self._times_forgotten = 0
        self._loading = asyncio.Lock()
        self._held = HeldHistory()
        self.follows_unread = True
        """True if something that could not be read may stand before the next message. It is looked up in the store, for
        which a message during a run should not wait."""

    async def settings(self) -> Chat:
        """Return the chat's settings."""
        if self._chat is None:
            async with self._loading:
                if self._chat is None:
                    self._chat = await self._store.chats.get(self.key)
        return self._chat

    @property
    def settings_now(self) -> Chat:
        """The chat's settings at this moment. Call `settings` first."""
        if self._chat is None:
            raise RuntimeError("settings() was not called")
        return self._chat

    async def language(self, sender: Sender | None = None, otherwise: str | None = None) -> Language:
        """Return the chat's chosen language, or that of the sender, or of the tag `otherwise`."""
        chat = await self.settings()
        return language_of(chat.language or (sender.language if sender else otherwise), self._current.language)

    async def language_for(self, person: str) -> Language:
        """Return the language in which somebody of the chat is answered, by what they wrote last."""
        return language_of(await self._store.chats.language_of(self.key, person), self._current.language)

    async def speak(self, language: Language) -> None:
        """Set the language for everyone in the chat."""
        self._chat = replace(await self.settings(), language=language)
        await self._store.chats.save(self._chat)

    def zone(self, sender: Sender | None = None) -> ZoneInfo:
        """Return the chat's time zone, or else that of the sender, or of the person whose private chat it is."""
        return self._zones.known(self.key, sender.id if sender else None).zone

    async def go_by(self, zone: str | None) -> None:
        """Set the chat's time zone; None returns to that of the channel or the default."""
        self._chat = replace(await self.settings(), zone=zone)
        await self._store.chats.save_zone(self._chat)
        self._zones.changed(self.key, zone)

    async def agent(self) -> Agent:
        """Return the agent for the current session."""
        return await self.agent_of((await self.settings()).session)

    async def agent_of(self, session: str) -> Agent:
        """Return the agent with the history of a session, creating it if needed."""
        async with self._loading:
            if self._is_outdated:
                self._drop_outdated()
            while self._agent is None or self._agent.session_id != session:
                self._is_outdated = False  # it may become so while it is loaded
                times = self._times_forgotten
                loaded = await self._agents.load(self.key, session)
                if times == self._times_forgotten:  # else the history has changed since it was read
                    self._agent = loaded
            agent = self._agent
        await self._agents.tune(self.key, agent)
        return agent

    @contextmanager
    def driving(self, agent: Agent) -> Iterator[None]:
        """Keep the agent of a run in memory until the run is over, even if it is to be `read_again`."""
        self._agent, self._is_driven = agent, True
        try:
            yield
        finally:
            agent.queues.clear_steering()
            self._is_driven = False

    async def separate_agent(self) -> Agent:
        """Return another agent with the history of the current session. What it does is not recorded in it."""
        return await self._agents.load(self.key, (await self.settings()).session)

    @property
    def agent_in_memory(self) -> Agent | None:
        return self._agent

    @property
    def weight(self) -> int:
        """Estimated size of the history in memory, in bytes."""
        return self._held.weigh(self._agent.messages) if self._agent is not None else 0

    def forget_agent(self) -> None:
        """Drop the agent, whose state may be wrong, also one that is being loaded; the next one is loaded anew."""
        self._agent = None
        self._times_forgotten += 1

    def read_again(self) -> None:
        """Let the agent be loaded from the store again, after its run if one is going on."""
        self._is_outdated = True
        self._drop_outdated()

    def _drop_outdated(self) -> None:
        is_used = self._is_driven or (self._agent is not None and self._agent.is_running)
        if self._is_outdated and not is_used:
            self._agent = None

    async def skills(self) -> ChatSkills:
        """Return the chat's skills, including which are loaded."""
        return (await self.agent()).context.skills

    async def tokens(self) -> int:
        """Return the estimated number of tokens that the conversation takes in the model's context window."""
        agent = await self.agent()
        return agent.context.tokens(agent.state)

    async def switch(self, session: str) -> None:
        """Make this the current session. Skills loaded by people stay loaded. Call `settings` first."""
        self._chat = replace(self.settings_now, session=session)
        await self._store.chats.save(self._chat)
        if self._agent is None:
            await self._store.skills.renew(self.key)
        else:
            self._agent.context.skills.new_conversation()

    async def rewind(self, count: int, event_id: str) -> int:
        """Take the last exchanges out of the history. Return their number. Call only between two runs."""
        async with self._loading:
            session = self._chat.session if self._chat else (await self._store.chats.get(self.key)).session
            taken = await self._store.transcript.rewind(session, count, event_id)
            self._agent = None  # the next one is loaded without them
        return taken

    async def note(self, item: InboxItem, notice: NotificationMessage | None) -> None:
        """Add a message that a job posted to the conversation's history. Call only between two runs.

        `notice` is what the agent is told of it; None for nothing.
        """
        if notice is None:
            await self.settle([item])
            return
        await self.settings()
        while not await self._noted(item, notice):
            if self._agent is not None:
                await self._agent.wait_for_idle()

    async def _noted(self, item: InboxItem, notice: NotificationMessage) -> bool:
        """Return False if it must wait because a summary is being made, which would not include it."""
        async with self._loading:  # the history is not loaded meanwhile
            session, agent = (self._chat.session if self._chat else ""), self._agent
            if agent is not None and agent.is_running:
                return False
            run = Run(notice.id, self.key, session, item.event.sender.id, notice.created_at)
            written = self._store.transcript.append(run, 0, notice, [item.seq])
            if agent is not None and agent.session_id == session:
                agent.append_message(notice)
            await written
        return True

    async def prompts(self, run: Run, items: Sequence[InboxItem], agent: Agent) -> list[AgentMessage]:
        """Return a run's first messages: the reports of tasks, or users' messages, the first with context."""
        news: list[AgentMessage] = [notice(item, item.event) for item in items if isinstance(item.event, TaskEnded)]
        if news:
            return news
        begins = not any(isinstance(each, UserMessage | SummaryMessage) for each in agent.messages)
        if begins and self.key.thread is not None:  # the thread may be under a post still being delivered
            await self._prompts.told(self.key.without_thread)
        notes = await self._prompts.notes_of(self.key, run.person, agent.messages)
        first = await self.prompt(items[0], run, notes, begins=begins)
        return [first, *[await self.prompt(item, run) for item in items[1:]]]

    async def prompt(
        self, item: InboxItem, run: Run | None, notes: Sequence[PromptNote] = (), *, begins: bool = False
    ) -> UserMessage:
        """Return a user's message for the model; see `PromptMaker.make`. `run` answers it."""
        sender = item.event.sender
        language, zone = await self.language(sender), self._zones.known(self.key, sender.id).zone
        maker = self._prompts.maker(self.key, self.channel, zone, language, run)
        follows_unread, self.follows_unread = self.follows_unread, False
        return await maker.make(item, notes, begins=begins, follows_unread=follows_unread)

    # The store, for the chat's session

    async def settle(self, items: Sequence[InboxItem]) -> None:
        """Mark messages as done that need no answer."""
        await self._store.inbox.settle([item.seq for item in items])

    async def reword(self, item: InboxItem) -> None:
        """Store the new text of a message that still waits."""
        await self._store.inbox.reword(item)

    async def last_run(self) -> tuple[Run, TerminalReason | None] | None:
        """Return the last run of the session, and the reason of its end; None as the reason if it has not ended."""
        return await self._store.runs.last((await self.settings()).session)
