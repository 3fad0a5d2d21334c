"""One chat: its mailbox, its running agent, and who may change that agent's course."""

import asyncio
import contextlib
from collections.abc import Sequence
from enum import StrEnum

import structlog

from agent_core.guests import Guest
from channels.base import Channel, ChatKey, MessageEdited, MessageReceived, ScheduleFired, Sender, TaskEnded
from gateway.conversation import Conversation
from gateway.desk import Desk
from gateway.giving_up import give_up
from gateway.mailbox import Mailbox
from gateway.run import ChatRun
from gateway.store.rows import Chat, InboxItem, Post, Run, inbox_seqs
from gateway.texts import Language
from gateway.typing_sign import show_typing

MOST_RESUMES = 3
"""Lives of the program that may try one run and end badly; a run that outlives more of them may be what ends them."""
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
        self.conversation = Conversation(desk, key, channel)
        self._mail = Mailbox()
        self._intake = asyncio.Lock()
        self._commands = 0
        self.is_cut_short = False
        """A stop has ended what a command had the agent do; that command's answer says so."""
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

    # What comes in

    def receive(self, item: InboxItem) -> None:
        """A message that is on disk; returns at once. Behind a command it waits until the command has been obeyed."""
        if self._commands:
            self._mail.hold(item)
            return
        if isinstance(item.event, TaskEnded | ScheduleFired):  # steers nothing
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
        agent = self.conversation.agent_in_memory
        if self._mail.is_given(item) and agent is not None:
            agent.queues.replace(await self.conversation.prompt(reworded))
        await self._desk.store.reword(reworded)
        return True

    def cut_short(self, by: Sender) -> None:
        """A stop is on its way: it does not wait for what the command before it has the agent do, a summary say."""
        agent = self.conversation.agent_in_memory
        may = not self._channel.is_group(self.key) or self._desk.access.is_owner(self.key, by)
        if self._run is None and agent is not None and agent.is_running and may:
            self.is_cut_short = True
            agent.abort()

    async def stop(self, by: Sender) -> Stopped:
        """Stop the run, and drop what its person sent meanwhile. Raises PermissionError where it is another's."""
        was_cut_short, self.is_cut_short = self.is_cut_short, False
        stopped, dropped = self._halt(by)
        await self._desk.store.settle([item.seq for item in dropped])
        return Stopped.RUN if was_cut_short else stopped

    async def renew(self, by: Sender) -> None:
        """Stop what runs, and begin a new conversation (C-20). Raises PermissionError as `stop` does."""
        await self.conversation.settings()
        stopped, dropped = self._halt(by)
        # At once, so that nothing more begins in the old conversation; the stopped run ends there.
        await self.conversation.renew()
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
            if (agent := self.conversation.agent_in_memory) is not None:
                agent.queues.clear_steering()
                agent.abort()
            return Stopped.RUN, dropped
        return Stopped.WAITING if dropped else Stopped.NOTHING, dropped

    async def close(self) -> None:
        """Leave everything as it is; what is unfinished goes on after the next start."""
        self._closed = True
        run = self._run
        tasks = [task for task in (self._work, *self._steer_tasks) if task]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if run is not None:
            self._desk.store.run_stopped_well(run)

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
        await self._note_down()
        if not self._has_work:
            return
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
        """What an earlier life left first, then what was said unasked, else a run for the oldest message with what its
        sender wrote since."""
        if self._unsent:
            owed, self._unsent = self._unsent, []
            await self._desk.delivery.deliver(self.key, owed)
            return
        chat = await self.conversation.settings()
        if self._unfinished:
            run, items = self._unfinished.pop(0), None
        else:
            await self._desk.firings.told(self.key)
            await self._note_down()
            if not self._mail.has_waiting:
                return
            run, items = self._take(chat)
        self._run, self._run_started, self._stopping = run, self._desk.clock.monotonic(), False
        self._run_over.clear()
        try:
            await self._drive(run, items)
        except Exception as error:  # a mistake of ours ends this run, not the chat, and is not repeated at each start
            log.exception("run failed", run=run.id, chat=str(self.key))
            self.conversation.forget_agent()
            await give_up(self._desk, run, items or (), type(error).__name__, await self._language())
        finally:
            self._run = self._chat_run = None
            self._run_over.set()
            self._mail.take_back()

    async def _note_down(self) -> None:
        """What was said here unasked: no answer to it is wanted, but the next one may be about it. Nothing comes into a
        run that is not over."""
        while not self._unfinished and (notes := self._mail.take_notes()):
            for item in notes:
                with Guest("note"):  # one that cannot be made waits for the next start, and keeps no other
                    await self.conversation.note(item)

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

    async def _language(self) -> Language:
        return await self.conversation.language(otherwise=self._sender_language)

    async def _drive(self, run: Run, items: Sequence[InboxItem] | None) -> None:
        if items is None and await self._desk.store.resume_run(run) > MOST_RESUMES:
            await give_up(self._desk, run, (), "resumed too often", await self._language())
            return
        agent = await self.conversation.agent_of(run.session)
        # A stop may come while files are still fetched, before there is anything to abort.
        unsubscribe = agent.subscribe(lambda _: agent.abort() if self._stopping else None)
        try:
            self._chat_run = ChatRun(self._desk, self._channel, agent, run, await self._language(), self._taken)
            if items is None:
                await self._chat_run.resume()
            else:
                await self._chat_run.start(await self.conversation.prompts(run, items, agent))
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
        agent = await self.conversation.agent_of(run.session) if run is not None else None
        made = message = None
        current = self._mail.arriving(seq)
        while current is not None and current is not made:  # an edit may come in between
            made, message = current, await self.conversation.prompt(current)
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
