"""One chat: its mailbox, its running agent, and who may change that agent's course."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial

import structlog

from agent_core.agent import Agent
from agent_core.messages import AgentMessage
from agent_core.skills.shelf import SkillShelf
from channels.base import Channel, ChatKey, MessageEdited, MessageReceived, Sender, TaskEnded
from gateway.desk import Desk
from gateway.earlier_talk import EarlierTalk
from gateway.giving_up import give_up
from gateway.mailbox import Mailbox
from gateway.prompts import PromptMaker
from gateway.run import ChatRun
from gateway.store.rows import Chat, InboxItem, Post, Run, inbox_seqs
from gateway.task_report import notice
from gateway.texts import Language, language_of
from gateway.typing_sign import show_typing

MOST_RESUMES = 3
"""Lives of the program that may try one run; a run that outlives more of them may be what ends them."""
PAUSE = 5.0
"""Seconds until a chat is tried again whose work could not even be read."""

log = structlog.get_logger(__name__)


class Stopped(StrEnum):
    """What a stop found."""

    NOTHING = "nothing"
    RUN = "run"
    """Its own message will say so."""
    WAITING = "waiting"
    """Only messages that had not been begun."""


class ChatSession:
    """Runs one thing at a time. Messages of whoever started the run steer it; others' wait for a run of their own."""

    def __init__(self, desk: Desk, key: ChatKey, channel: Channel) -> None:
        self.key = key
        self._desk = desk
        self._channel = channel
        self.obeying = asyncio.Lock()
        """Held while a command is obeyed: one at a time, in order."""
        self._chat: Chat | None = None
        """Read once: nobody else changes it."""
        self._agent: Agent | None = None
        self._loading = asyncio.Lock()
        self._mail = Mailbox()
        self._intake = asyncio.Lock()
        self._commands = 0
        self._unsent: list[Post] = []
        self._unfinished: list[Run] = []
        self._run: Run | None = None
        self._chat_run: ChatRun | None = None
        self._run_over = asyncio.Event()
        self._run_started = 0.0
        self._stopping = False
        self._work: asyncio.Task[None] | None = None
        self._closed = False
        self._steer_tasks: set[asyncio.Task[None]] = set()
        self._sender_language: str | None = None

    # What others may know

    @property
    def is_idle(self) -> bool:
        return self._work is None and not self._steer_tasks and not self._commands

    @property
    def running_for(self) -> float | None:
        """Seconds since the run began, or None while idle."""
        return self._desk.clock.monotonic() - self._run_started if self._run else None

    @property
    def waiting_count(self) -> int:
        return len(self._mail)

    async def language(self, sender: Sender | None = None) -> Language:
        """The chat's own where one was chosen, else that of the person's client."""
        chat = await self._settings()
        tag = chat.language or (sender.language if sender else self._sender_language)
        return language_of(tag, self._desk.language)

    async def tokens(self) -> int:
        """About how much of the model's window the conversation fills."""
        agent = await self.agent()
        return agent.context.tokens(agent.state)

    async def agent(self) -> Agent:
        """Who answers here as things stand, for commands."""
        return await self._agent_of((await self._settings()).session)

    async def skills(self) -> SkillShelf:
        """The skills of this chat, and which are loaded."""
        return (await self.agent()).context.skills

    async def speak(self, language: Language) -> None:
        """From now on, everybody here is spoken to in this language."""
        self._chat = replace(await self._settings(), language=language)
        await self._desk.store.save_chat(self._chat)

    # What comes in

    def receive(self, item: InboxItem) -> None:
        """A message that is on disk; returns at once. Behind a command it waits until the command has been obeyed."""
        if self._commands:
            self._mail.hold(item)
            return
        if isinstance(item.event, TaskEnded):  # steers nothing
            self._enqueue(item)
            return
        if self._can_steer(item.event.sender) or self._mail.has_arriving:
            self._mail.arrive(item)
            task = asyncio.create_task(self._steer(item.seq))
            self._steer_tasks.add(task)
            task.add_done_callback(self._steered)
        else:
            self._enqueue(item)

    def begin_command(self) -> None:
        """A command is on its way: it passes the queue, but not what was sent before it."""
        self._commands += 1

    def end_command(self) -> None:
        self._commands -= 1
        if not self._commands:
            for item in self._mail.release():
                self.receive(item)

    def owe(self, post: Post) -> None:
        """An earlier life did not send this; it comes before anything new."""
        self._unsent.append(post)
        self._wake()

    def restore(self, run: Run) -> None:
        """Go on with a run of an earlier life before anything new."""
        self._unfinished.append(run)
        self._wake()

    async def edited(self, changed: MessageEdited) -> bool:
        """The person edited a message; True if it still waited and now says so."""
        item = self._mail.find(changed.message_id)
        if item is None:
            return False
        reworded = InboxItem(item.seq, item.event.model_copy(update={"text": changed.text}))
        self._mail.replace(reworded)
        if self._mail.is_given(item) and self._agent is not None:
            self._agent.queues.replace(await self._prompt_maker().make(reworded))
        await self._desk.store.reword(reworded)
        return True

    async def stop(self, by: Sender) -> Stopped:
        """Stop the run, and drop what its person sent meanwhile. Raises PermissionError where it is another's."""
        stopped, dropped = self._halt(by)
        await self._desk.store.settle([item.seq for item in dropped])
        return stopped

    async def renew(self, by: Sender) -> None:
        """Stop what runs, and begin a new conversation (C-20). Raises PermissionError as `stop` does."""
        chat = await self._settings()
        stopped, dropped = self._halt(by)
        # At once, so that nothing more begins in the old conversation; the stopped run ends there.
        self._chat = replace(chat, session=self._desk.new_id())
        await self._desk.store.save_chat(self._chat)
        if self._agent is None:
            await self._desk.store.renew_skills(self.key)
        else:
            self._agent.context.skills.new_conversation()
        await self._desk.store.settle([item.seq for item in dropped])
        if stopped is Stopped.RUN and self._run is not None:
            await self._run_over.wait()

    def _halt(self, by: Sender) -> tuple[Stopped, list[InboxItem]]:
        """What was stopped, and which messages are not to be answered any more."""
        run = self._run if self._is_open else None
        if run is not None and not self._may_steer(by, run):
            raise PermissionError(by.id)
        dropped = self._mail.drop(by.id, with_given=run is not None)
        if run is not None:
            self._stopping = True
            if self._agent is not None:
                self._agent.queues.clear_steering()
                self._agent.abort()
        if run is not None:
            return Stopped.RUN, dropped
        return Stopped.WAITING if dropped else Stopped.NOTHING, dropped

    async def close(self) -> None:
        """Leave everything as it is; what is unfinished goes on after the next start."""
        self._closed = True
        tasks = [task for task in (self._work, *self._steer_tasks) if task]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def settled(self) -> None:
        """Return when nothing runs and nothing waits, except for commands."""
        while tasks := [task for task in (self._work, *self._steer_tasks) if task]:
            await asyncio.wait(tasks)

    # How it works

    def _enqueue(self, item: InboxItem) -> None:
        self._mail.wait(item)
        self._wake()

    def _wake(self, after: float = 0.0) -> None:
        if self._work is None and not self._closed:
            self._work = asyncio.create_task(self._process(after), name=f"chat {self.key}")
            self._work.add_done_callback(self._rested)

    def _rested(self, work: "asyncio.Task[None]") -> None:
        """Work that could not be read is tried again later; nobody's message waits for ever."""
        self._work = None
        if not work.cancelled():
            if error := work.exception():
                log.error("a chat's work failed", chat=str(self.key), exc_info=error)
            if self._has_work:
                self._wake(PAUSE if error else 0.0)

    @property
    def _has_work(self) -> bool:
        return bool(self._unsent or self._unfinished) or self._mail.has_waiting

    @property
    def _is_open(self) -> bool:
        """Whether there is a run that can still be steered and stopped."""
        over = self._chat_run is not None and self._chat_run.is_over
        return self._run is not None and not self._stopping and not over

    @property
    def _is_asking(self) -> bool:
        """Whether it is people's turn."""
        return self._chat_run is not None and self._chat_run.is_waiting

    def _can_steer(self, sender: Sender) -> bool:
        """Not past earlier words of one's own that wait for the next run, as they do after a restart."""
        waits = self._mail.has_waiting_from(sender.id)
        return self._run is not None and self._is_open and self._may_steer(sender, self._run) and not waits

    def _may_steer(self, sender: Sender, run: Run) -> bool:
        """Only who started the run, or an owner (D-11)."""
        return sender.id == run.person or self._desk.access.is_owner(self.key, sender)

    async def _process(self, after: float) -> None:
        if after:
            await self._desk.clock.sleep(after)
        limiter = self._desk.delivery.limiter(self.key)
        typing = asyncio.create_task(
            show_typing(self._channel, self.key, limiter, self._desk.clock, lambda: not self._is_asking)
        )
        try:
            while self._has_work:
                await self._next()
        finally:
            typing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await typing

    async def _next(self) -> None:
        """What an earlier life left first, else a run for the oldest message with what its sender wrote since."""
        if self._unsent:
            owed, self._unsent = self._unsent, []
            await self._desk.delivery.deliver(self.key, owed)
            return
        chat = await self._settings()
        if self._unfinished:
            run, items = self._unfinished.pop(0), None
        elif self._mail.has_waiting:
            run, items = self._take(chat)
        else:
            return
        self._run, self._run_started, self._stopping = run, self._desk.clock.monotonic(), False
        self._run_over.clear()
        try:
            await self._drive(run, items)
        except Exception as error:  # a mistake of ours ends this run, not the chat, and is not repeated at each start
            log.exception("run failed", run=run.id, chat=str(self.key))
            self._agent = None
            await give_up(self._desk, run, items or (), type(error).__name__, await self.language())
        finally:
            self._run = self._chat_run = None
            self._run_over.set()
            self._mail.take_back()

    def _take(self, chat: Chat) -> tuple[Run, list[InboxItem]]:
        items = self._mail.take()
        event = items[0].event
        replied = event.reply_to if isinstance(event, TaskEnded) else None
        if isinstance(event, MessageReceived) and self._channel.is_group(self.key):
            replied = event.message_id
        self._sender_language = event.sender.language
        run = Run(
            id=self._desk.new_id(),
            chat=self.key,
            session=chat.session,
            person=event.sender.id,
            started=self._desk.clock.time(),
            reply_to=replied,
        )
        return run, items

    async def _drive(self, run: Run, items: Sequence[InboxItem] | None) -> None:
        if items is None and await self._desk.store.resume_run(run) > MOST_RESUMES:
            await give_up(self._desk, run, (), "resumed too often", await self.language())
            return
        agent = await self._agent_of(run.session)
        # A stop may come while files are still fetched, before there is anything to abort.
        unsubscribe = agent.subscribe(lambda _: agent.abort() if self._stopping else None)
        try:
            self._chat_run = ChatRun(self._desk, self._channel, agent, run, await self.language(), self._taken)
            if items is None:
                await self._chat_run.resume()
            else:
                await self._chat_run.start(await self._prompts(run, items, agent))
        finally:
            unsubscribe()
            agent.queues.clear_steering()

    async def _steer(self, seq: int) -> None:
        """Hand a message to the running agent; where it comes too late, or cannot be, it waits for the next run."""
        async with self._intake:
            try:
                await self._hand_over(seq)
            finally:
                if left := self._mail.arriving(seq):
                    self._mail.arrived(seq)
                    self._enqueue(left)

    async def _hand_over(self, seq: int) -> None:
        run = self._run
        agent = await self._agent_of(run.session) if run is not None else None
        made = message = None
        current = self._mail.arriving(seq)
        while current is not None and current is not made:  # an edit may come in between
            made, message = current, await self._prompt_maker().make(current)
            current = self._mail.arriving(seq)
        if current is None or message is None or agent is None or self._run is not run:
            return
        if self._can_steer(current.event.sender):
            self._mail.arrived(seq)
            self._mail.give(current)
            agent.steer(message)

    def _steered(self, task: "asyncio.Task[None]") -> None:
        self._steer_tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a message could not be handed to the running agent", chat=str(self.key), exc_info=error)

    def _taken(self, said: str) -> None:
        for seq in inbox_seqs([said]):
            self._mail.taken(seq)

    async def _settings(self) -> Chat:
        async with self._loading:
            if self._chat is None:
                self._chat = await self._desk.store.chat(self.key)
        return self._chat

    async def _agent_of(self, session: str) -> Agent:
        """The chat's agent with its history, made when it is first needed."""
        async with self._loading:
            if self._agent is None or self._agent.session_id != session:
                desk = self._desk
                shelved = await desk.store.skills_of(self.key)
                keep, facts = partial(desk.store.save_skills, self.key), desk.memories.keeper(self.key)
                workspace = desk.workspace(self.key)
                agent = desk.agents.make(self.key, session, workspace, shelved, keep, keep_facts=facts)
                agent.replace_messages(await desk.store.history(session))
                self._agent = agent
        return self._agent

    async def _prompts(self, run: Run, items: Sequence[InboxItem], agent: Agent) -> list[AgentMessage]:
        news: list[AgentMessage] = [notice(item, item.event) for item in items if isinstance(item.event, TaskEnded)]
        if news:
            return news
        known = await self._desk.memories.known(self.key, run.person, agent.state.messages)
        maker = self._prompt_maker()
        return [await maker.make(item, "" if number else known) for number, item in enumerate(items)]

    def _prompt_maker(self) -> PromptMaker:
        desk = self._desk
        talk = EarlierTalk(self._channel, desk.store)
        return PromptMaker(
            self._channel, desk.workspace(self.key), desk.clock, desk.zone, desk.about.vision, talk, desk.secrets
        )
