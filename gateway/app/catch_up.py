"""Reads messages missed while disconnected from the platform's history.

Each chat has a mark up to which it was read without a gap. Messages newer than a gap are stored at once, do not move
the mark, and wait until the gap is read. All messages go through the same inbox, which drops duplicates.
"""

import asyncio
import sqlite3
from collections.abc import Sequence

import structlog

from agent_core.background import set_within
from agent_core.clock import Clock
from channels.base import Accepted, Addressed, ChannelError, ChatKey, InboundEvent, Inbox, MessageReceived, NotTakenIn
from channels.capabilities import CatchesUp, FindsPrivateChats, Gap
from gateway.app.gap_reader import OLDEST, OVERLAP, GapReader
from gateway.chat.run_pace import Pace
from gateway.store.read_marks import NotedGap, ReadMark
from gateway.store.store import Store

ACTIVE_WITHIN = 30 * 24 * 3600.0
"""Seconds of silence after which a chat is not read until somebody writes there again."""
NOTED_WITHIN = 3.0
"""Longest time in seconds for which a message is not stored because the gaps are just being noted."""
MOST_CHATS = 1_000
MOST_KNOWN = 10_000
"""Most chats whose marks are kept in memory."""
MOST_PEOPLE = 20
"""Most users whose private chats are looked up, since platforms object to bots that open many."""

log = structlog.get_logger(__name__)


class CatchUp:
    """Inbox between a channel and the gateway; `run` reads missed messages after every gap."""

    def __init__(
        self,
        channel: CatchesUp,
        inbox: Inbox,
        reader: GapReader,
        store: Store,
        clock: Clock,
        pace: Pace,
        *,
        people: Sequence[str],
    ) -> None:
        """Create the inbox.

        Args:
            reader: Reads the gaps of the platform's chats.
            people: Ids of users whose private chats are looked up.
        """
        self._name = reader.name
        self._channel = channel
        self._people = people
        self._inbox = inbox
        self._store = store
        self._clock = clock
        self._pace = pace
        self._reader = reader
        self._since = 0.0
        """Time before which nothing is read."""
        self._unheard_until = 0.0
        """Time until which an unknown chat may have a gap."""
        self._known: dict[ChatKey, float] = {}
        """Mark of each known chat: the time up to which it was read without a gap."""
        self._noted = asyncio.Event()
        """Set once the rows say which chats have a gap. Messages are stored after that, so that all nodes see the gap
        before the message."""
        self._has_run = False
        self._reads = False
        """True while this process reads what is missed. Only then it knows that nothing was missed before a message."""

    def begin(self) -> None:
        """Read what is missed here from now on; each gap is noted when it is known."""
        self._reads = True

    async def listen(self) -> None:
        """Note that there may be a gap in all chats, before anything is heard of the platform."""
        self._reads = True
        self._begin_gap(Gap())
        await self._note_gaps(Gap())

    def leave(self) -> None:
        """Leave the gaps to another process."""
        self._reads, self._unheard_until = False, 0.0
        self._noted.set()
        self._reader.leave()

    async def accept(self, event: InboundEvent) -> Accepted:
        """Store an event at once. A message moves its chat's mark if there is no gap before it.

        Raises NotTakenIn, or sqlite3.Error; the chat has a gap then, so that later messages wait for this one.
        """
        if not isinstance(event, MessageReceived):
            return await self._inbox(event)
        await self._until_noted()
        outside = event.chat.without_thread
        self._find_gaps(event, outside)
        above = {chat for chat in {event.chat, outside} if self._reader.has_gap(chat)}
        try:
            accepted = await self._inbox(event)
        except (NotTakenIn, sqlite3.Error):
            self._reader.note(event.chat, event.at - OVERLAP)
            raise
        if accepted is Accepted.NEW:
            for chat in {event.chat, outside}:
                if not self._reads:
                    await self._meet(chat, event)
                elif chat not in above or chat not in self._known:
                    await self._move(chat, event)
        return accepted

    async def _until_noted(self) -> None:
        """Wait until the rows say which chats have a gap; the next gap may begin while this one is noted."""
        until = self._clock.monotonic() + NOTED_WITHIN
        while not self._noted.is_set() and (left := until - self._clock.monotonic()) > 0:
            await set_within(self._noted, left, self._clock)

    async def _meet(self, chat: ChatKey, event: MessageReceived) -> None:
        """Let the process that reads the history know of a chat: it reads there from a day before its first message."""
        if chat not in self._known:
            self._remember(chat, event.at)
            await self._store.read_marks.meet(chat, event.at - OLDEST, _person(chat, event))

    async def _move(self, chat: ChatKey, event: MessageReceived) -> None:
        """Move the mark of a chat, or of the channel around its thread. A first mark is on disk when this returns."""
        is_first = chat not in self._known
        self._remember(chat, event.at)
        moved = self._store.read_marks.move(chat, event.at, _person(chat, event), later=not is_first)
        if is_first:
            await moved

    async def run(self) -> None:
        """Catch up after every gap, until cancelled. Run again after an error, it treats all chats as having a gap."""
        is_again, self._has_run = self._has_run, True
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._reader.run())
            while True:
                gap = Gap() if is_again else await self._channel.gap()
                is_again = False
                self._begin_gap(gap)  # at once, so that messages from now on wait behind the gap
                self._reader.begin(await self._note_gaps(gap), self._since, gap.concerns)
                # In the background, so that the next gap is noticed at once.
                if gap.private:
                    tasks.create_task(self._look_for_people())

    def _begin_gap(self, gap: Gap) -> None:
        self._noted.clear()
        self._reader.reopen(gap.concerns)

    async def _note_gaps(self, gap: Gap) -> dict[ChatKey, NotedGap]:
        """Note the chats that may have a gap: all known ones that it concerns. Returns all gaps that they have."""
        now = self._clock.time()
        active_since = now - ACTIVE_WITHIN
        self._pace.listens(self._name)
        self._since = max(now - OLDEST, await self._store.created_at())
        marks = with_outsides(await self._store.read_marks.newest(self._name, active_since, MOST_CHATS))
        concerned = {chat: at for chat, at in marks.items() if gap.concerns(chat)}
        noted = await self._store.read_marks.open_gaps(self._name, concerned, active_since, gap.concerns)
        self._known = {chat: found.at for chat, found in noted.items()} | marks
        self._unheard_until = now + OLDEST if marks else 0.0
        self._noted.set()
        return noted

    async def _look_for_people(self) -> None:
        """Read the private chats of authorised users who never wrote before, in case they did while disconnected.

        They are looked for one by one, so that whoever needs a private chat meanwhile waits behind one call at most.
        """
        channel = self._channel
        if not isinstance(channel, FindsPrivateChats):
            return
        heard = await self._store.read_marks.people(self._name, self._clock.time() - ACTIVE_WITHIN)
        unheard = [person for person in self._people if person not in heard][:MOST_PEOPLE]
        for person in unheard:
            await self._look_for(channel, person)

    async def _look_for(self, channel: FindsPrivateChats, person: str) -> None:
        chat = await self._private_chat(channel, person)
        if chat is not None:
            self._store.read_marks.move(chat, self._since, person)
            if chat not in self._known:
                self._reader.note(chat, self._since)

    async def _private_chat(self, channel: FindsPrivateChats, person: str) -> ChatKey | None:
        while True:
            try:
                return await channel.private_chat(person)
            except ChannelError as error:
                log.debug("private chat not found", channel=self._name, person=person, reason=error.reason)
                if error.retry_after is None:
                    return None
                await self._clock.sleep(error.retry_after)

    def _find_gaps(self, event: MessageReceived, outside: ChatKey) -> None:
        """Mark an unknown chat as having a gap, unless it is a thread that the message begins."""
        if self._clock.time() >= self._unheard_until:
            return
        begins_thread = event.chat.thread == event.message_id
        for chat in {outside} if begins_thread else {event.chat, outside}:
            if chat not in self._known:
                self._reader.note(chat, self._since)
                self._remember(chat, self._since)

    def _remember(self, chat: ChatKey, at: float) -> None:
        self._known[chat] = at
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]


def with_outsides(marks: Sequence[ReadMark]) -> dict[ChatKey, float]:
    """Return the time up to which each chat was read, latest first.

    A channel of which only threads have marks counts as read up to the latest of those.
    """
    found = {each.chat: each.at for each in marks}
    for each in marks:
        found.setdefault(each.chat.without_thread, each.at)
    return dict(sorted(found.items(), key=lambda pair: pair[1], reverse=True))


def _person(chat: ChatKey, event: MessageReceived) -> str | None:
    """Return the sender's id if the chat is private."""
    return event.sender.id if event.addressed is Addressed.DIRECT and chat == event.chat else None
