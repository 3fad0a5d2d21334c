"""One chat: its mailbox, its running agent, and who may change that agent's course."""

import asyncio
import contextlib
from collections.abc import Sequence

import structlog

from agent_core.agent import Agent
from channels.base import Channel, ChannelError, ChatKey, MessageEdited, MessageReceived, Sender, ShowsTyping
from gateway.desk import Desk
from gateway.prompts import PromptMaker, message_id
from gateway.run import ChatRun
from gateway.store.rows import Chat, InboxItem, Run
from gateway.texts import Language, language_of

log = structlog.get_logger(__name__)


class ChatSession:
    """Runs one thing at a time. Messages of whoever started the run steer it; others' wait for a run of their own."""

    def __init__(self, desk: Desk, key: ChatKey, channel: Channel) -> None:
        self.key = key
        self._desk = desk
        self._channel = channel
        self.obeying = asyncio.Lock()
        """Held while a command is obeyed: one at a time, in order."""
        self._agent: Agent | None = None
        self._waiting: list[InboxItem] = []
        self._steering: dict[str, InboxItem] = {}
        """By the id of their message: given to the running agent, not yet taken by it."""
        self._intake = asyncio.Lock()
        self._held: list[InboxItem] = []
        self._commands = 0
        self._unfinished: list[Run] = []
        self._run: Run | None = None
        self._run_started = 0.0
        self._stopping = False
        self._work: asyncio.Task[None] | None = None
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
        return len(self._waiting) + len(self._steering) + len(self._held)

    async def language(self, sender: Sender | None = None) -> Language:
        """The chat's own where one was chosen, else that of the person's client."""
        chat = await self._desk.store.chat(self.key)
        tag = chat.language or (sender.language if sender else self._sender_language)
        return language_of(tag, self._desk.language)

    # What comes in

    def receive(self, item: InboxItem) -> None:
        """A message that is on disk; returns at once. Behind a command it waits until the command has been obeyed."""
        if self._commands:
            self._held.append(item)
            return
        self._sender_language = item.event.sender.language
        if self._run is not None and self._may_steer(item.event.sender, self._run):
            task = asyncio.create_task(self._steer(item))
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

    def restore(self, run: Run) -> None:
        """Go on with a run of an earlier life before anything new."""
        self._unfinished.append(run)
        self._wake()

    async def edited(self, changed: MessageEdited) -> bool:
        """The person edited a message; True if it still waited and now says so."""
        for items in (self._waiting, list(self._steering.values())):
            for item in items:
                if isinstance(item.event, MessageReceived) and item.event.message_id == changed.message_id:
                    await self._reword(item, changed)
                    return True
        return False

    async def stop(self, by: Sender) -> bool:
        """Stop the run and drop what its person sent meanwhile; False where nothing runs.

        Raises PermissionError where the run is another person's.
        """
        if self._run is None or self._agent is None:
            return False
        if not self._may_steer(by, self._run):
            raise PermissionError(by.id)
        dropped = [*self._steering.values(), *(item for item in self._waiting if item.event.sender.id == by.id)]
        self._steering.clear()
        self._waiting = [item for item in self._waiting if item not in dropped]
        self._agent.queues.clear_steering()
        self._stopping = True
        self._agent.abort()
        await self._desk.store.settle([item.seq for item in dropped])
        return True

    async def renew(self, by: Sender) -> None:
        """Stop what runs, and begin a new conversation (C-20). Raises PermissionError as `stop` does."""
        await self.stop(by)
        if self._agent is not None:
            await self._agent.wait_for_idle()
        chat = await self._desk.store.chat(self.key)
        await self._desk.store.save_chat(Chat(self.key, session=self._desk.new_id(), language=chat.language))
        self._agent = None

    async def close(self) -> None:
        """Leave everything as it is; what is unfinished goes on after the next start."""
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

    def _wake(self) -> None:
        if self._work is None:
            self._work = asyncio.create_task(self._process(), name=f"chat {self.key}")

    def _may_steer(self, sender: Sender, run: Run) -> bool:
        """Only who started the run, or an owner (D-11)."""
        return sender.id == run.person or self._desk.access.is_owner(self.key, sender)

    async def _process(self) -> None:
        typing = asyncio.create_task(self._show_typing())
        try:
            while self._unfinished or self._waiting:
                await self._next()
        except Exception:  # one chat's failure must not end the others; what it left is resumed at the next start
            log.exception("a chat's work failed", chat=str(self.key))
            self._agent = None
        finally:
            self._work = None
            self._run = None
            typing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await typing

    async def _next(self) -> None:
        """One run: an unfinished one first, else the oldest message with what its sender wrote since."""
        chat = await self._desk.store.chat(self.key)
        if self._unfinished:
            run = self._unfinished.pop(0)
            agent = await self._agent_of(run.session)
            await self._drive(agent, run, None)
            return
        items = [item for item in self._waiting if item.event.sender.id == self._waiting[0].event.sender.id]
        self._waiting = [item for item in self._waiting if item not in items]
        event = items[0].event
        replied = event.message_id if isinstance(event, MessageReceived) and self._channel.is_group(self.key) else None
        run = Run(
            id=self._desk.new_id(),
            chat=self.key,
            session=chat.session,
            person=event.sender.id,
            started=self._desk.clock.time(),
            reply_to=replied,
        )
        await self._drive(await self._agent_of(chat.session), run, items)

    async def _drive(self, agent: Agent, run: Run, items: Sequence[InboxItem] | None) -> None:
        self._run = run
        self._run_started = self._desk.clock.monotonic()
        self._stopping = False
        # A stop may come while files are still fetched, before there is anything to abort.
        unsubscribe = agent.subscribe(lambda _: agent.abort() if self._stopping else None)
        try:
            chat_run = ChatRun(self._desk, self._channel, agent, run, await self.language(), self._taken)
            if items is None:
                await chat_run.resume()
            else:
                maker = self._prompt_maker()
                await chat_run.start([await maker.make(item) for item in items])
        finally:
            unsubscribe()
            self._run = None
            # What came too late for this run begins the next.
            agent.queues.clear_steering()
            self._waiting = sorted([*self._steering.values(), *self._waiting], key=lambda item: item.seq)
            self._steering.clear()

    async def _steer(self, item: InboxItem) -> None:
        async with self._intake:
            message = await self._prompt_maker().make(item)
            if self._agent is not None and self._agent.is_running and self._run is not None:
                self._steering[message.id] = item
                self._agent.steer(message)
            else:
                self._enqueue(item)

    def _taken(self, said: str) -> None:
        self._steering.pop(said, None)

    async def _reword(self, item: InboxItem, changed: MessageEdited) -> None:
        event = item.event.model_copy(update={"text": changed.text})
        reworded = InboxItem(item.seq, event)
        self._waiting = [reworded if waiting.seq == item.seq else waiting for waiting in self._waiting]
        key = message_id(item)
        if key in self._steering and self._agent is not None:
            self._steering[key] = reworded
            self._agent.queues.replace(await self._prompt_maker().make(reworded))
        await self._desk.store.reword(reworded)

    async def _agent_of(self, session: str) -> Agent:
        """The chat's agent with its history, made when it is first needed."""
        if self._agent is None or self._agent.session_id != session:
            self._agent = self._desk.make_agent(self.key, session, self._desk.workspace(self.key))
            self._agent.replace_messages(await self._desk.store.history(session))
        return self._agent

    def _prompt_maker(self) -> PromptMaker:
        desk = self._desk
        return PromptMaker(self._channel, desk.workspace(self.key), desk.clock, desk.zone, desk.about.vision)

    async def _show_typing(self) -> None:
        """Say at once, and again as often as the platform needs, that an answer is on its way."""
        if not isinstance(self._channel, ShowsTyping):
            return
        limiter = self._desk.delivery.limiter(self.key)
        every = self._channel.limits.typing_every.total_seconds()
        while True:
            try:
                if not limiter.is_held(self.key):
                    await self._channel.typing(self.key)
            except ChannelError as error:
                limiter.hold(self.key, error.retry_after or 0.0)
                if error.permanent:
                    return
            await self._desk.clock.sleep(every)
