"""A chat's session: its mailbox, its current run, and the users who may steer that run."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import structlog

from agent_core.agent import Agent
from agent_core.background import Background
from agent_core.file_handles import lacks_handles
from agent_core.log_errors import Bulkhead
from agent_core.loop.spending import Spending
from agent_core.reasons import TerminalReason
from channels.base import MessageEdited, ScheduleFired, Sender, TaskEnded
from channels.capabilities import CatchesUp
from gateway.chat.arrivals import Arrivals
from gateway.chat.asides import Asides
from gateway.chat.conversation import Conversation
from gateway.chat.current_run import CurrentRun
from gateway.chat.gaps import Gaps
from gateway.chat.holds import Hold, Why
from gateway.chat.mailbox import Mailbox
from gateway.chat.open_runs import OpenRuns
from gateway.chat.run import ChatRun, ChatRuns
from gateway.chat.stops import Stops
from gateway.chat.turns import Asked, Turns
from gateway.delivery.typing_sign import Typing
from gateway.runs.handles import Handles
from gateway.runs.runner import Attempt
from gateway.runs.stop_and_continue import Continuing
from gateway.schedule.jobs.chat_notes import ChatNotes
from gateway.store.rows import InboxItem, Post, Run
from gateway.texts.say import Language

PAUSE = 5.0
"""Seconds until a chat is tried again after an error outside a run."""
TYPING_AFTER = 3.0
"""Seconds before the typing indicator is shown to a user whose message waits for a gap."""

log = structlog.get_logger(__name__)


class ChatSession:
    """Runs one thing at a time. Messages of the run's user steer it; those of others wait for runs of their own."""

    def __init__(
        self, conversation: Conversation, runs: ChatRuns, turns: Turns, gaps: Gaps, notes: ChatNotes, typing: Typing
    ) -> None:
        self.key = conversation.key
        self.conversation = conversation
        self._runs = runs
        self._turns = turns
        self._notes = notes
        self._typing = typing
        self._channel = conversation.channel
        self.obeying = asyncio.Lock()  # runs commands one at a time, in order
        self.holds = turns.holds()
        self.open_runs = OpenRuns(self.holds)
        self.mail = Mailbox(turns.pace.waiting, self.holds, runs.moved)
        self._intake = asyncio.Lock()
        has_gap = partial(gaps.holds, self.key) if isinstance(self._channel, CatchesUp) else bool  # bool() is False
        self.arrivals = Arrivals(self.mail, has_gap)
        self._gaps = gaps
        self._is_awaiting_gap = False
        self._unsent: list[Post] = []
        self.current = CurrentRun(turns)
        self.stops = Stops(conversation, runs, turns, mail=self.mail, current=self.current, open_runs=self.open_runs)
        self._handles = Handles(turns.clock)
        self.asides = Asides(partial(turns.access.may_act_for, self.key))
        self._work: asyncio.Task[None] | None = None
        self._closed = False
        self._background = Background("a chat's work failed")

    # State for other modules

    @property
    def is_idle(self) -> bool:
        return self._background.is_idle and not self.arrivals.has_commands and not self.asides.are_open

    @property
    def running_for(self) -> float | None:
        """Seconds since the run began, or None while idle or when only the delivery of the last answer is left."""
        return self.current.seconds(has_more=self.mail.has_waiting)

    # Input

    def receive(self, item: InboxItem, *, passes_gap: bool = False) -> None:
        """Take a stored message; returns at once.

        It waits for commands in progress, and for a history gap to be read unless `passes_gap`, as a button press does.
        """
        self._let_in(self.arrivals.receive(item, passes_gap=passes_gap))

    def lift(self, hold: Hold) -> None:
        """Let go on what waited for a command, or for an answer to be told from a message, and for nothing else."""
        self._let_in(self.arrivals.end(hold))
        if hold.why.keeps_runs:
            self._wake()

    def can_stop(self, sender: Sender) -> bool:
        """Return True if there is a run or a question aside that the user may stop."""
        return self.stops.can_stop(sender) or self.asides.may_be_stopped_by(sender)

    def owe(self, post: Post) -> None:
        """Deliver a post that the previous process left unsent, before anything new."""
        self._unsent.append(post)
        self._wake()

    def restore(self, run: Run) -> None:
        """Resume a run of the previous process before anything new."""
        self.open_runs.restored.append(run)
        self._wake()

    async def edited(self, changed: MessageEdited) -> bool:
        """Apply an edit to a message that still waits. Return True if there was one."""
        item = self.mail.find(changed.message_id)
        if item is None or item.event.sender.id != changed.sender.id:  # nobody speaks with another's rights
            return False
        reworded = InboxItem(item.seq, item.event.model_copy(update=changed.new_words), item.model)
        self.mail.replace(reworded)
        agent = self.conversation.agent_in_memory
        if self.mail.is_given(item) and agent is not None:
            agent.queues.replace(await self.conversation.prompt(reworded, self.current.run))
        await self.conversation.reword(reworded)
        return True

    async def continuing(self, by: Sender, run: str, ended: Callable[[TerminalReason], bool]) -> Continuing:
        """Check if a user may continue the chat's last run. `ended` tests its reason; `run` is a prefix of its id."""
        if self.open_runs.restored or self.mail.has_waiting or self.mail.has_arriving:
            return Continuing.NOTHING
        last = await self.conversation.last_run()
        if last is None or last[1] is None or not (ended(last[1]) and last[0].id.startswith(run)):
            return Continuing.NOTHING
        current = self.current.run
        if current is not None and current.id != last[0].id:  # a run has ended although its answer is being sent
            return Continuing.NOTHING
        return Continuing.POSSIBLE if self._turns.may_steer(by, last[0]) else Continuing.NOT_YOURS

    async def close(self) -> None:
        """Cancel all work as it is; unfinished runs are resumed after the next start."""
        self._closed = True
        await self._background.stop()

    async def settled(self) -> None:
        """Wait until nothing runs and nothing waits, except for commands."""
        await self._background.join()

    # Implementation

    def _let_in(self, items: Sequence[InboxItem]) -> None:
        """Let each message steer the current run if it may, or queue it for a run of its own."""
        for item in items:
            is_report = isinstance(item.event, TaskEnded | ScheduleFired)
            if not is_report and (self._can_steer(item.event.sender) or self.mail.has_arriving):
                self.mail.arrive(item)
                self._background.start(self._steer(item.seq), f"steer {self.key}")
            else:
                self.enqueue(item)
        if self.arrivals.await_gap and not self._is_awaiting_gap:
            self._is_awaiting_gap = True
            waiting = self._background.start(self._gap_read(), f"gap {self.key}")
            waiting.add_done_callback(self._past_gap)

    async def _gap_read(self) -> None:
        """Wait until the gap before messages is read or given up."""
        async with self._typing.shown(self.key, after=TYPING_AFTER):
            await self._gaps.closed(self.key)

    def _past_gap(self, waiting: "asyncio.Task[None]") -> None:
        self._is_awaiting_gap = False
        if not waiting.cancelled():
            if waiting.exception():
                self._gaps.give_up(self.key)
            self._let_in(self.arrivals.gap_read())

    def enqueue(self, item: InboxItem, *, is_first: bool = False) -> None:
        """Let a message wait for a run of its own; `is_first`: before others, as it is answered again."""
        self.mail.wait(item, is_first=is_first)
        self._wake()

    def _wake(self) -> None:
        """Go on with the chat's work, unless something holds it until somebody lifts that, and wakes the chat again."""
        hold = self.holds.on_all
        if self._work is None and not self._closed and (hold is None or not hold.is_endless):
            self._work = self._background.start(self._process(), f"chat {self.key}")
            self._work.add_done_callback(self._rested)

    def _rested(self, work: "asyncio.Task[None]") -> None:
        """Wake the chat again if work is left, after a pause if it failed with an error outside a run."""
        self._work = None
        if not work.cancelled() and self._is_work_left:
            if work.exception():
                self.holds.set(Hold(Why.TROUBLE, until=self._turns.clock.monotonic() + PAUSE))
            self._wake()

    @property
    def _is_work_left(self) -> bool:
        return bool(self._unsent) or self.open_runs.has_next or self.mail.has_waiting

    @property
    def _has_work(self) -> bool:
        return self._is_work_left and self.holds.on_all is None

    def _can_steer(self, sender: Sender) -> bool:
        """Return True if the sender may steer the run and has no earlier message waiting, as after a restart."""
        return self.current.may_be_steered_by(sender) and not self.mail.has_waiting_from(sender.id)

    async def _process(self) -> None:
        while (hold := self.holds.on_all) and not hold.is_endless:
            await self.holds.over(hold, self._turns.clock)
        await self._note_down()
        if not self._has_work:
            return
        async with self._typing.shown(self.key, self.current.is_busy):
            while True:
                if (turn := await self._next_turn()) is not None:
                    await self._attempt(*turn)
                if not self._has_work:
                    return

    async def _next_turn(self) -> tuple[Run, Sequence[InboxItem]] | None:
        """Return the run that comes next: an unfinished one, or a new one for these messages. Unsent posts and jobs'
        posts come before it. None if they were all, or the run has to wait."""
        if self._unsent:
            owed, self._unsent = self._unsent, []
            await self._runs.deliver_left(self.key, owed)
            return None
        await self.conversation.settings()
        if self.holds.on_all:
            return None
        if (unfinished := self.open_runs.next()) is not None:
            return unfinished, ()
        if self.key in self._notes.posted_in:
            await self._notes.told(self.key)
        await self._note_down()
        if self._turns.asked is not None and await self._is_held(self._turns.asked):
            return None
        items, hold = self.mail.next_turn()
        if hold is not None and not hold.is_endless:
            log.debug("a run waits", chat=str(self.key), why=hold.why.value)
            await self.holds.over(hold, self._turns.clock)
        if not items:
            return None
        now = self.conversation.settings_now  # another session may have begun while the messages waited
        return self._turns.new_run(now, items[0], in_group=self._channel.is_group(self.key)), items

    async def _is_held(self, asked: Asked) -> bool:
        """Return True if messages wait for a run, and a plugin lets them."""
        hold = await asked(self.key) if self.mail.has_waiting else None
        if hold is not None:
            log.debug("a plugin lets a chat wait", chat=str(self.key), why=hold.text)
            self.holds.set(hold)
        return hold is not None

    async def _attempt(self, run: Run, items: Sequence[InboxItem]) -> None:
        """Drive a run as the current one. An internal error ends it, not the chat, and is not repeated at each start;
        one for want of file handles lets it wait for them, and go on."""
        self.current.begin(run, items)
        try:
            with self._runs.runner.tracked(run):
                try:
                    with self._runs.runner.drain.unit(run.id, self.key):
                        agent, attempt, goes_on = await self._begun(run, items)
                        if agent is not None:
                            with self.conversation.driving(agent):
                                chat_run = await self._prepared(run, items, agent, attempt, goes_on=goes_on)
                                await chat_run.drive()
                            if chat_run.is_left:
                                await self._make_way(run, agent.loop.models.spending)
                    self._handles.over(run.id)
                except Exception as error:  # noqa: BLE001 (it is logged, or waited for)
                    await self._failed(run, items, error)
        finally:
            self.current.end()
            self.mail.take_back()

    async def _failed(self, run: Run, items: Sequence[InboxItem], error: Exception) -> None:
        """Give up a run after an error, or let it go on once there are file handles if it lacked those."""
        self.conversation.forget_agent()
        if lacks_handles(error):
            await self._runs.store.runs.note_shutdown([run.id])  # no crash is counted when it goes on
        if await self._handles.awaited(run.id, error):
            await self._go_on_with(run)
            return
        self._handles.over(run.id)
        log.error("run failed", run=run.id, chat=str(self.key), exc_info=error)
        self._runs.runner.tally.runs[TerminalReason.ERROR.value] += 1
        await self._runs.ends.give_up(run, items, type(error).__name__, await self._language())

    async def _go_on_with(self, run: Run) -> None:
        """Let a run that waited go on next, unless a user has stopped it meanwhile. If none of its messages is stored,
        they wait in the mailbox for another run."""
        if self.current.is_stopping:
            await self._runs.ends.stop(run, await self._language())
        else:
            self.open_runs.restored.insert(0, run)

    async def _note_down(self) -> None:
        """Add messages posted by jobs to the history, for later answers to refer to; never during a run."""
        while not self.open_runs.restored and (notes := self.mail.take_notes()):
            for item in notes:
                with Bulkhead("note"):  # a failed one waits for the next start, and does not block others
                    await self.conversation.note(item, await self._notes.notice(item))

    async def _language(self) -> Language:
        if self.current.language is None and self.current.run is not None:  # an earlier process began it
            return await self.conversation.language_for(self.current.run.person)
        return await self.conversation.language(otherwise=self.current.language)

    async def _begun(self, run: Run, items: Sequence[InboxItem]) -> tuple[Agent | None, Attempt, bool]:
        """Return the agent of a run, what the run has said so far, and True if it was paused and goes on.

        There is no agent if it has ended already.
        """
        if items:
            return await self.conversation.agent_of(run.session), Attempt((), is_stuck=False), False
        attempt = await self._runs.runner.resume(run)
        goes_on = not attempt.is_stuck and await self._runs.store.runs.take_up(run)
        language = await self._language()
        agent = await self._runs.resuming(self.conversation, run, attempt, language, goes_on=goes_on)
        return agent, attempt, goes_on

    async def _prepared(
        self, run: Run, items: Sequence[InboxItem], agent: Agent, attempt: Attempt, *, goes_on: bool
    ) -> ChatRun:
        """Return what drives a run, with its first messages."""
        language, in_group = await self._language(), self._channel.is_group(self.key)
        driven = ChatRun(self._runs, agent, run, language, self.mail.taken, makes_way=in_group)
        self.current.drive(driven)
        if goes_on:
            await self._steer_with_later_words(run)
        driven.prompts = await self.conversation.prompts(run, items, agent) if items else []
        driven.earlier = attempt.said
        return driven

    async def _make_way(self, run: Run, spending: Spending) -> None:
        """Let others go on while a run waits for room in a budget. Messages of its user wait with it, and no others."""
        left = await self._runs.store.runs.pause(run, self._turns.new_id)
        self.open_runs.restored.extend(left.runs)
        for item in await self._runs.store.inbox.new_among(left.items):
            self.enqueue(item)
        self.conversation.forget_agent()  # the next one does not know the run
        if self.current.is_stopping:
            await self._runs.ends.stop(run, await self._language())
            return
        wait = self._background.start(spending.room(), f"room for {run.id}")
        self.open_runs.pause(run, wait)
        wait.add_done_callback(self._there_is_room)

    def _there_is_room(self, _: "asyncio.Task[None]") -> None:
        self.holds.changed.set()
        self._wake()

    async def _steer_with_later_words(self, run: Run) -> None:
        """Pass on what the user of a run has written while it was paused."""
        for item in self.mail.take_words(run.person):
            self.mail.arrive(item)
            await self._steer(item.seq)

    async def _steer(self, seq: int) -> None:
        """Pass a message to the running agent. If it is too late or fails, the message waits for the next run, and so
        do those of its sender that are behind it."""
        async with self._intake:
            try:
                await self._hand_over(seq)
            finally:
                for late in self.mail.take_late(seq):
                    self.enqueue(late)

    async def _hand_over(self, seq: int) -> None:
        run = self.current.run
        agent = await self.conversation.agent_of(run.session) if run is not None else None
        made = message = None
        current = self.mail.arriving(seq)
        while current is not None and current is not made:  # an edit may come in between
            made, message = current, await self.conversation.prompt(current, run)
            current = self.mail.arriving(seq)
        if current is None or message is None or agent is None or self.current.run is not run:
            return
        if self._can_steer(current.event.sender):
            self.mail.arrived(seq)
            self.mail.give(current)
            agent.steer(message)
