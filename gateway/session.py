"""One chat: its mailbox, its running agent, and who may change that agent's course."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

import structlog

from agent_core.agent import Agent
from agent_core.messages import Usage
from agent_core.reasons import TerminalReason
from channels.base import Channel, ChatKey, MessageEdited, MessageReceived, OutboundMessage, Sender
from gateway.desk import Desk
from gateway.prompts import PromptMaker, message_id
from gateway.run import ChatRun
from gateway.store.rows import Chat, InboxItem, Post, Run, RunEnd
from gateway.texts import Language, language_of, say
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
        self._waiting: list[InboxItem] = []
        self._steering: dict[str, InboxItem] = {}
        """By the id of their message: given to the running agent, not yet taken by it."""
        self._arriving: dict[int, InboxItem] = {}
        """By number: on the way to the running agent, files still being fetched."""
        self._intake = asyncio.Lock()
        self._held: list[InboxItem] = []
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
        return sum(len(items) for items in (self._waiting, self._steering, self._arriving, self._held))

    async def language(self, sender: Sender | None = None) -> Language:
        """The chat's own where one was chosen, else that of the person's client."""
        chat = await self._settings()
        tag = chat.language or (sender.language if sender else self._sender_language)
        return language_of(tag, self._desk.language)

    async def tokens(self) -> int:
        """About how much of the model's window the conversation fills."""
        agent = await self._agent_of((await self._settings()).session)
        return agent.context.tokens(agent.state)

    async def speak(self, language: Language) -> None:
        """From now on, everybody here is spoken to in this language."""
        self._chat = replace(await self._settings(), language=language)
        await self._desk.store.save_chat(self._chat)

    # What comes in

    def receive(self, item: InboxItem) -> None:
        """A message that is on disk; returns at once. Behind a command it waits until the command has been obeyed."""
        if self._commands:
            self._held.append(item)
            return
        if self._can_steer(item.event.sender) or self._arriving:
            self._arriving[item.seq] = item
            task = asyncio.create_task(self._steer(item.seq))
            self._steer_tasks.add(task)
            task.add_done_callback(self._steer_tasks.discard)
        else:
            self._enqueue(item)

    def begin_command(self) -> None:
        """A command is on its way: it passes the queue, but not what was sent before it."""
        self._commands += 1

    def end_command(self) -> None:
        self._commands -= 1
        if not self._commands:
            held, self._held = self._held, []
            for item in held:
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
        for item in [*self._waiting, *self._steering.values(), *self._arriving.values(), *self._held]:
            if isinstance(item.event, MessageReceived) and item.event.message_id == changed.message_id:
                await self._reword(item, changed)
                return True
        return False

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
        await self._desk.store.settle([item.seq for item in dropped])
        if stopped is Stopped.RUN and self._run is not None:
            await self._run_over.wait()

    def _halt(self, by: Sender) -> tuple[Stopped, list[InboxItem]]:
        """What was stopped, and which messages are not to be answered any more."""
        run = self._run if self._is_open else None
        if run is not None and not self._may_steer(by, run):
            raise PermissionError(by.id)
        dropped = [item for item in [*self._waiting, *self._arriving.values()] if item.event.sender.id == by.id]
        if run is not None:
            dropped.extend(self._steering.values())
            self._steering.clear()
            self._stopping = True
            if self._agent is not None:
                self._agent.queues.clear_steering()
                self._agent.abort()
        gone = {item.seq for item in dropped}
        self._waiting = [item for item in self._waiting if item.seq not in gone]
        self._arriving = {seq: item for seq, item in self._arriving.items() if seq not in gone}
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
        self._waiting.append(item)
        self._waiting.sort(key=lambda waiting: waiting.seq)
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
        return bool(self._unsent or self._unfinished or self._waiting)

    @property
    def _is_open(self) -> bool:
        """Whether there is a run that can still be steered and stopped."""
        over = self._chat_run is not None and self._chat_run.is_over
        return self._run is not None and not self._stopping and not over

    def _can_steer(self, sender: Sender) -> bool:
        """Not past earlier words of one's own that wait for the next run, as they do after a restart."""
        waits = any(item.event.sender.id == sender.id for item in self._waiting)
        return self._run is not None and self._is_open and self._may_steer(sender, self._run) and not waits

    def _may_steer(self, sender: Sender, run: Run) -> bool:
        """Only who started the run, or an owner (D-11)."""
        return sender.id == run.person or self._desk.access.is_owner(self.key, sender)

    async def _process(self, after: float) -> None:
        if after:
            await self._desk.clock.sleep(after)
        limiter = self._desk.delivery.limiter(self.key)
        typing = asyncio.create_task(show_typing(self._channel, self.key, limiter, self._desk.clock))
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
        elif self._waiting:
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
            await self._give_up(run, items or (), type(error).__name__)
        finally:
            self._run = self._chat_run = None
            self._run_over.set()
            # What came too late for this run begins the next.
            self._waiting = sorted([*self._steering.values(), *self._waiting], key=lambda item: item.seq)
            self._steering.clear()

    def _take(self, chat: Chat) -> tuple[Run, list[InboxItem]]:
        items = [item for item in self._waiting if item.event.sender.id == self._waiting[0].event.sender.id]
        self._waiting = [item for item in self._waiting if item not in items]
        event = items[0].event
        replied = event.message_id if isinstance(event, MessageReceived) and self._channel.is_group(self.key) else None
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
            await self._give_up(run, (), "resumed too often")
            return
        agent = await self._agent_of(run.session)
        # A stop may come while files are still fetched, before there is anything to abort.
        unsubscribe = agent.subscribe(lambda _: agent.abort() if self._stopping else None)
        try:
            self._chat_run = ChatRun(self._desk, self._channel, agent, run, await self.language(), self._taken)
            if items is None:
                await self._chat_run.resume()
            else:
                maker = self._prompt_maker()
                await self._chat_run.start([await maker.make(item) for item in items])
        finally:
            unsubscribe()
            agent.queues.clear_steering()

    async def _give_up(self, run: Run, items: Sequence[InboxItem], why: str) -> None:
        """End the run with a word to the person, in the place of its progress if that is to be seen."""
        shown = await self._desk.store.find_post(f"{run.id}:progress:0")
        text = say("error_fatal", await self.language(), run=run.id[:8])
        message = OutboundMessage(markdown=text, reply_to=run.reply_to)
        post = Post(f"{run.id}:error:0", run.id, self.key, message, message_id=shown.message_id if shown else None)
        end = RunEnd(TerminalReason.ERROR, Usage(), "", why)
        await self._desk.store.end_run(run, end, [post], [item.seq for item in items])
        await self._desk.delivery.deliver(self.key, [post])

    async def _steer(self, seq: int) -> None:
        """Hand a message to the running agent; where it comes too late, it waits for the next run."""
        async with self._intake:
            run = self._run
            agent = await self._agent_of(run.session) if run is not None else None
            item = message = None
            while seq in self._arriving and item is not self._arriving[seq]:  # an edit comes in between
                item = self._arriving[seq]
                message = await self._prompt_maker().make(item)
            if self._arriving.pop(seq, None) is None or item is None or message is None:
                return  # a stop dropped it
            if agent is not None and self._run is run and self._can_steer(item.event.sender):
                self._steering[message.id] = item
                agent.steer(message)
            else:
                self._enqueue(item)

    def _taken(self, said: str) -> None:
        self._steering.pop(said, None)

    async def _reword(self, item: InboxItem, changed: MessageEdited) -> None:
        event = item.event.model_copy(update={"text": changed.text})
        reworded = InboxItem(item.seq, event)
        self._waiting = [reworded if waiting.seq == item.seq else waiting for waiting in self._waiting]
        self._held = [reworded if held.seq == item.seq else held for held in self._held]
        if item.seq in self._arriving:
            self._arriving[item.seq] = reworded
        key = message_id(item)
        if key in self._steering and self._agent is not None:
            self._steering[key] = reworded
            self._agent.queues.replace(await self._prompt_maker().make(reworded))
        await self._desk.store.reword(reworded)

    async def _settings(self) -> Chat:
        async with self._loading:
            if self._chat is None:
                self._chat = await self._desk.store.chat(self.key)
        return self._chat

    async def _agent_of(self, session: str) -> Agent:
        """The chat's agent with its history, made when it is first needed."""
        async with self._loading:
            if self._agent is None or self._agent.session_id != session:
                agent = self._desk.make_agent(self.key, session, self._desk.workspace(self.key))
                agent.replace_messages(await self._desk.store.history(session))
                self._agent = agent
        return self._agent

    def _prompt_maker(self) -> PromptMaker:
        desk = self._desk
        return PromptMaker(self._channel, desk.workspace(self.key), desk.clock, desk.zone, desk.about.vision)
