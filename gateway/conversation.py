"""What one chat talks about: its settings, its agent with the history, and what people say as the agent reads it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

from agent_core.agent import Agent
from agent_core.messages import AgentMessage, NotificationMessage, SummaryMessage, UserMessage
from agent_core.skills.shelf import SkillShelf
from channels.base import Channel, ChatKey, Sender, TaskEnded
from gateway.desk import Desk
from gateway.earlier_talk import EarlierTalk
from gateway.prompts import PromptMaker
from gateway.store.rows import Chat, InboxItem, Run
from gateway.tasks.report import notice
from gateway.texts import Language, language_of


class Conversation:
    """One per chat; read from the store when it is first needed."""

    def __init__(self, desk: Desk, key: ChatKey, channel: Channel) -> None:
        self._desk = desk
        self._key = key
        self._channel = channel
        self._chat: Chat | None = None
        """Read once: nobody else changes it."""
        self._agent: Agent | None = None
        self._loading = asyncio.Lock()

    async def settings(self) -> Chat:
        """What holds here until somebody changes it."""
        async with self._loading:
            if self._chat is None:
                self._chat = await self._desk.store.chat(self._key)
        return self._chat

    async def language(self, sender: Sender | None = None, otherwise: str | None = None) -> Language:
        """The chat's own where one was chosen, else that of the person's client, or the tag that is known of them."""
        chat = await self.settings()
        return language_of(chat.language or (sender.language if sender else otherwise), self._desk.language)

    async def speak(self, language: Language) -> None:
        """From now on, everybody here is spoken to in this language."""
        self._chat = replace(await self.settings(), language=language)
        await self._desk.store.save_chat(self._chat)

    async def zone(self) -> ZoneInfo:
        """By whose clocks it goes."""
        return await self._desk.zones.of(self._key)

    async def go_by(self, zone: str | None) -> None:
        """From now on by the clocks of that zone; None: by those of the level above."""
        self._chat = replace(await self.settings(), zone=zone)
        await self._desk.store.save_chat(self._chat)
        await self._desk.zones.changed(self._key, zone)

    async def agent(self) -> Agent:
        """Who answers here as things stand."""
        return await self.agent_of((await self.settings()).session)

    async def agent_of(self, session: str) -> Agent:
        """The chat's agent with the history of that session, made when it is first needed."""
        async with self._loading:
            if self._agent is None or self._agent.session_id != session:
                desk = self._desk
                shelved = await desk.store.skills_of(self._key)
                keep, facts = partial(desk.store.save_skills, self._key), desk.memories.keeper(self._key)
                workspace = desk.workspace(self._key)
                agent = desk.agents.make(self._key, session, workspace, shelved, keep, keep_facts=facts)
                agent.replace_messages(await desk.store.history(session))
                self._agent = agent
        return self._agent

    @property
    def agent_in_memory(self) -> Agent | None:
        return self._agent

    def forget_agent(self) -> None:
        """What it remembers may be wrong; the next one is made from the store."""
        self._agent = None

    async def skills(self) -> SkillShelf:
        """The skills of this chat, and which are loaded."""
        return (await self.agent()).context.skills

    async def tokens(self) -> int:
        """About how much of the model's window the conversation fills."""
        agent = await self.agent()
        return agent.context.tokens(agent.state)

    async def renew(self) -> None:
        """What is said from now on belongs to a new session; skills stay that people hold. `settings` were read."""
        if self._chat is None:
            raise RuntimeError("settings() first: nothing may come between them and the new session")
        self._chat = replace(self._chat, session=self._desk.new_id())
        await self._desk.store.save_chat(self._chat)
        if self._agent is None:
            await self._desk.store.renew_skills(self._key)
        else:
            self._agent.context.skills.new_conversation()

    async def note(self, item: InboxItem) -> None:
        """What was said here without this conversation's agent: from now on it knows. Between two runs only."""
        desk = self._desk
        notice = await desk.firings.notice(item)
        if notice is None:
            await desk.store.settle([item.seq])
            return
        await self.settings()
        while not await self._noted(item, notice):
            if self._agent is not None:
                await self._agent.wait_for_idle()

    async def _noted(self, item: InboxItem, notice: NotificationMessage) -> bool:
        """False: not now, for a summary is being made, which would not have it."""
        async with self._loading:  # nobody reads the history meanwhile
            session, agent = (self._chat.session if self._chat else ""), self._agent
            if agent is not None and agent.is_running:
                return False
            run = Run(notice.id, self._key, session, item.event.sender.id, notice.created_at)
            written = self._desk.store.append(run, 0, notice, [item.seq])
            if agent is not None and agent.session_id == session:
                agent.append_message(notice)
            await written
        return True

    async def prompts(self, run: Run, items: Sequence[InboxItem], agent: Agent) -> list[AgentMessage]:
        """What begins a run: how tasks ended, or what people say, the first of it with what is known of the chat."""
        news: list[AgentMessage] = [notice(item, item.event) for item in items if isinstance(item.event, TaskEnded)]
        if news:
            return news
        known = await self._desk.memories.known(self._key, run.person, agent.state.messages)
        begins = not any(isinstance(each, UserMessage | SummaryMessage) for each in agent.state.messages)
        if begins and self._key.thread is not None:  # it may stand under what is still on its way
            await self._desk.firings.told(self._key.model_copy(update={"thread": None}))
        first = await self.prompt(items[0], known, begins=begins)
        return [first, *[await self.prompt(item) for item in items[1:]]]

    async def prompt(self, item: InboxItem, known: str = "", *, begins: bool = False) -> UserMessage:
        """What somebody said, for the model; see `PromptMaker.make`."""
        desk = self._desk
        talk = EarlierTalk(self._channel, desk.store)
        maker = PromptMaker(
            self._channel,
            desk.workspace(self._key),
            desk.clock,
            await self.zone(),
            desk.about.vision,
            talk,
            desk.secrets,
        )
        return await maker.make(item, known, begins=begins)
