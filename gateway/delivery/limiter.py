"""Rate limits per chat: a short burst, then a steady pace, and none while the platform demands a pause.

If a platform counts the calls of all chats together, more important calls go first.
"""

import asyncio
import heapq
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count

from msgspec import Struct

from agent_core.clock import Clock
from channels.base import Channel, ChatKey
from gateway.delivery.sending import Sending, SendsAlways
from gateway.store.rows import Post

REMEMBERED = 1_000
"""Number of chats above which idle ones are dropped."""
MOMENT = 1e-6
"""Seconds below which a delay is a rounding error."""
STEP_BACK = 1.0
"""Seconds for which progress pauses while the calls of all chats together exceed the limit."""
EDIT_WITHIN = 5.0
"""Longest acceptable wait for the last edit of a progress message; beyond it none is posted."""
BURST_OF_EDITS = 0.2
"""Share of a minute's edits that may be made at once. The rest is spread, so that no minute exceeds the limit."""
BURST_OF_STREAMS = 0.5
"""The same for streams that begin: a run whose stream would have to wait is shown by edits."""

Place = tuple[str, str, str, str | None]
"""Unit whose calls a platform counts together."""


class Priority(IntEnum):
    """Importance of a call; smaller values go first."""

    ANSWER = 0
    QUESTION = 1
    UNASKED = 2
    """A reminder or a report, which no user is waiting for."""
    PROGRESS = 3
    COSMETIC = 4
    """A change without information for users, such as folding the progress message."""


def priority_of(post: Post) -> Priority:
    if post.is_progress:
        return Priority.COSMETIC
    if post.is_question:
        return Priority.QUESTION
    return Priority.UNASKED if post.is_unprompted else Priority.ANSWER


class _Bucket(Struct):
    most: float
    every: float
    """Seconds per token; 0 for no limit."""
    filled_at: float
    tokens: float
    held_until: float = 0.0
    edits_held_until: float = 0.0

    def fill(self, now: float) -> None:
        gained = (now - self.filled_at) / self.every if self.every else self.most
        self.tokens = min(self.most, self.tokens + gained)
        self.filled_at = now

    def share(self, most: float, every: float, now: float) -> None:
        """Go by another limit from now on. A larger one is not full at once: others may have used what is added."""
        if (most, every) != (self.most, self.every):
            self.fill(now)
            self.tokens *= min(1.0, most / self.most)
            self.most, self.every = most, every

    def delay(self, calls: float, now: float) -> float:
        """Return the seconds until `calls` calls may be made."""
        self.fill(now)
        return _rounded(max((calls - self.tokens) * self.every, self.held_until - now, 0.0))

    def hold(self, until: float) -> None:
        self.held_until = max(self.held_until, until)


@dataclass(order=True)
class _Ticket:
    """A place in the queue."""

    priority: Priority
    number: int
    chat: ChatKey = field(compare=False)
    is_first: asyncio.Event = field(compare=False, default_factory=asyncio.Event)


class _Line:
    """Priority queue for a rate limit shared by all chats; calls of equal priority go in order of arrival.

    Of several processes that send, each keeps to its share of the limit.
    """

    def __init__(self, *, per_second: float, burst: float, clock: Clock, sending: Sending) -> None:
        self._clock = clock
        self._sending = sending
        self._limit = per_second, burst
        self._bucket = _Bucket(most=burst, every=1 / per_second, filled_at=clock.monotonic(), tokens=burst)
        self._tickets: list[_Ticket] = []
        """Heap; only its first ticket waits for the rate limit."""
        self._chats: Counter[ChatKey] = Counter()
        """Number of tickets by chat."""
        self._numbers = count()

    def _share(self) -> None:
        """Keep to the share of this process among those that send now."""
        (per_second, burst), processes = self._limit, self._sending.processes
        self._bucket.share(max(1.0, burst / processes), processes / per_second, self._clock.monotonic())

    @property
    def waiting(self) -> int:
        return len(self._tickets)

    def delay(self, calls: float = 1) -> float:
        """Return the seconds until `calls` calls may be made."""
        self._share()
        return self._bucket.delay(calls, self._clock.monotonic())

    def has_to_spare(self, owed: int) -> bool:
        """Return True if a less important call may be made.

        That needs an empty queue, and enough of the burst left for the edits owed and for a few answers, or all of a
        small burst, as that of one among many processes.
        """
        self._share()
        most = self._bucket.most
        return not self._tickets and not self.delay(min(most, 1 + max(most / 2, min(owed, most - 1))))

    def hold(self, seconds: float) -> None:
        self._bucket.hold(self._clock.monotonic() + seconds)

    def take(self) -> None:
        self._bucket.tokens -= 1

    def give_back(self) -> None:
        self._bucket.tokens += 1

    def hurry(self, chat: ChatKey, priority: Priority) -> None:
        """Raise the priority of a chat's waiting calls because a more urgent one waits behind them."""
        if chat not in self._chats:
            return
        for ticket in self._tickets:
            if ticket.chat == chat:
                ticket.priority = min(ticket.priority, priority)
        heapq.heapify(self._tickets)
        self._call_first()

    async def wait(self, chat: ChatKey, priority: Priority) -> None:
        """Wait until a call may be made, and count it."""
        if not self._tickets and not self.delay():
            self.take()
            return
        ticket = _Ticket(priority, next(self._numbers), chat)
        heapq.heappush(self._tickets, ticket)
        self._chats[chat] += 1
        try:
            while True:
                if self._tickets[0] is not ticket:
                    ticket.is_first.clear()
                    await ticket.is_first.wait()
                elif (delay := self.delay()) > 0:
                    await self._clock.sleep(delay)
                else:
                    self.take()
                    return
        finally:
            self._leave(ticket)

    def _leave(self, ticket: _Ticket) -> None:
        if self._tickets[0] is ticket:
            heapq.heappop(self._tickets)
        else:
            self._tickets.remove(ticket)
            heapq.heapify(self._tickets)
        self._chats[ticket.chat] -= 1
        if not self._chats[ticket.chat]:
            del self._chats[ticket.chat]
        self._call_first()

    def _call_first(self) -> None:
        if self._tickets:
            self._tickets[0].is_first.set()


class ChatLimiter:
    """Rate limiter of one channel, per chat and, where the platform counts so, over all chats."""

    def __init__(self, channel: Channel, clock: Clock, sending: Sending | None = None) -> None:
        """`sending` tells how many processes send; None: only this one."""
        sending = sending or SendsAlways()
        self._channel = channel
        self._clock = clock
        self._chats: dict[Place, _Bucket] = {}
        self._sweep_at = REMEMBERED
        limits = channel.limits
        self._all = _Line(
            per_second=limits.calls_per_second, burst=limits.calls_per_second, clock=clock, sending=sending
        )
        self._edits = _line(limits.edits_per_minute, BURST_OF_EDITS, clock, sending)
        self._appends = _line(limits.appends_per_minute, BURST_OF_EDITS, clock, sending)
        self._streams = _line(limits.streams_per_minute, BURST_OF_STREAMS, clock, sending)
        self._shown: set[str] = set()
        """Runs with a progress message, each of which is owed one more edit."""
        self._answering: set[str] = set()
        """Runs for which that edit will be the answer."""

    def delay(self, chat: ChatKey, *, keep: int = 0, edit: bool = False, append: bool = False) -> float:
        """Return the seconds until a call to the chat may be made that leaves `keep` calls for more important ones.

        `append` stands for one that adds to a stream.
        """
        owed = 0 if append and self._appends else len(self._shown)
        lines = [
            line.delay() if not keep or line.has_to_spare(owed) else STEP_BACK
            for line in self._lines(edit=edit, append=append)
        ]
        return max(self._chat_delay(chat, keep, edit=edit), *lines)

    def show(self, run: str) -> bool:
        """Return True if a run's progress may be posted: its last edit can be made soon, and is reserved."""
        if run not in self._shown and any(
            line.delay(2 + len(self._shown)) > EDIT_WITHIN for line in self._lines(edit=True)
        ):
            return False
        self._shown.add(run)
        return True

    def begin_stream(self) -> bool:
        """Count a stream that begins now; return False if the platform allows no further one yet."""
        if self._streams is None:
            return True
        if self._streams.delay() > 0:
            return False
        self._streams.take()
        return True

    def answer(self, run: str) -> None:
        """Count the run's edit as an answer's, so that many runs deciding at the same time see each other."""
        self._answering.add(run)

    def settled(self, run: str) -> None:
        """Release the edit reserved for the run."""
        self._shown.discard(run)
        self._answering.discard(run)

    def edit_queue(self, chat: ChatKey) -> float:
        """Return the seconds that an answer's edit would wait, but a new message would not."""
        others = self._edits.delay(1 + max(self._edits.waiting, len(self._answering))) if self._edits else 0.0
        return max(others, self._bucket(chat).edits_held_until - self._clock.monotonic())

    def queue(self) -> float:
        """Return the seconds that a call of the lowest priority would wait for those of other chats."""
        return self._all.delay(1 + self._all.waiting)

    def take(self, chat: ChatKey, *, edit: bool = False, append: bool = False) -> None:
        """Count a call made now."""
        self._bucket(chat).tokens -= 1
        for line in self._lines(edit=edit, append=append):
            line.take()

    async def wait(self, chat: ChatKey, *, edit: bool = False, priority: Priority = Priority.ANSWER) -> None:
        """Wait until the chat may be written to, and count the call."""
        keep = int(priority is Priority.COSMETIC)
        while True:
            while (delay := self._chat_delay(chat, keep, edit=edit)) > 0:
                await self._clock.sleep(delay)
            for line in self._lines(edit=edit):
                await line.wait(chat, priority)
            if not self._chat_delay(chat, keep, edit=edit):  # the platform may have demanded a pause meanwhile
                self._bucket(chat).tokens -= 1
                return
            for line in self._lines(edit=edit):
                line.give_back()

    async def offer(self, chat: ChatKey, *, within: float) -> bool:
        """Count a call that may be dropped, taking no place in a queue.

        Return False if more important calls leave no room for it within so many seconds.
        """
        until = self._clock.monotonic() + within
        while self._clock.monotonic() + (delay := self.delay(chat, keep=1)) <= until:
            if not delay:
                self.take(chat)
                return True
            await self._clock.sleep(delay)
        return False

    def hurry(self, chat: ChatKey, priority: Priority) -> None:
        """Raise the priority of the chat's waiting calls, since order within a chat is kept."""
        for line in self._lines(edit=True):
            line.hurry(chat, priority)

    def hold(self, chat: ChatKey, seconds: float, *, edit: bool = False, append: bool = False) -> None:
        """Pause calls to this chat.

        `edit` means that the platform refused an edit and named the delay. If it counts edits over all chats, then
        edits in all chats pause, and nothing else. The same holds for `append`, a part of a stream. If it lets edits
        wait by themselves, those in this chat pause.
        """
        line = self._appends if append and self._appends else self._edits if edit else None
        until = self._clock.monotonic() + seconds
        if line is not None:
            line.hold(seconds)
        elif edit and self._channel.limits.edits_wait_alone:
            bucket = self._bucket(chat)
            bucket.edits_held_until = max(bucket.edits_held_until, until)
        else:
            self._bucket(chat).hold(until)

    def is_held(self, chat: ChatKey) -> bool:
        """Return True while the platform's pause for this chat lasts."""
        bucket = self._chats.get(self._place(chat))
        return bucket is not None and bucket.held_until > self._clock.monotonic()

    def _lines(self, *, edit: bool, append: bool = False) -> tuple[_Line, ...]:
        if append and self._appends:
            return self._appends, self._all
        return (self._edits, self._all) if edit and self._edits else (self._all,)

    def _chat_delay(self, chat: ChatKey, keep: int = 0, *, edit: bool = False) -> float:
        bucket, now = self._bucket(chat), self._clock.monotonic()
        delay = bucket.delay(1 + keep, now)
        return max(delay, _rounded(bucket.edits_held_until - now)) if edit else delay

    def _place(self, chat: ChatKey) -> Place:
        thread = None if self._channel.limits.threads_share_pace else chat.thread
        return chat.platform, chat.account, chat.chat, thread

    def _every(self, chat: ChatKey) -> float:
        limits = self._channel.limits
        every = limits.edit_every_in_groups if self._channel.is_group(chat) else limits.edit_every
        return every.total_seconds()

    def _bucket(self, chat: ChatKey) -> _Bucket:
        place = self._place(chat)
        if (bucket := self._chats.get(place)) is not None:
            return bucket
        now, burst = self._clock.monotonic(), self._channel.limits.burst
        if len(self._chats) >= self._sweep_at:
            self._forget_rested(now)
        bucket = self._chats[place] = _Bucket(most=burst, every=self._every(chat), filled_at=now, tokens=burst)
        return bucket

    def _forget_rested(self, now: float) -> None:
        """Drop full buckets, which are the same as new ones."""
        self._chats = {
            place: bucket
            for place, bucket in self._chats.items()
            if bucket.delay(bucket.most, now) > 0 or bucket.edits_held_until > now
        }
        self._sweep_at = max(REMEMBERED, 2 * len(self._chats))


def _line(per_minute: float | None, share: float, clock: Clock, sending: Sending) -> _Line | None:
    """Return the line for a limit of all chats, of which `share` may be used at once; None if there is no limit."""
    if per_minute is None:
        return None
    burst = share * per_minute
    return _Line(per_second=(per_minute - burst) / 60, burst=burst, clock=clock, sending=sending)


def _rounded(delay: float) -> float:
    return delay if delay > MOMENT else 0.0
