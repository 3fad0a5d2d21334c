"""What was said while nobody listened: read from the platform's history once it can be heard again.

It goes through the same door as everything else, so what was heard after all is dropped as a duplicate.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

import structlog

from agent_core.clock import Clock
from channels.base import (
    Accepted,
    CatchesUp,
    ChannelError,
    ChatKey,
    FindsPrivateChats,
    InboundEvent,
    Inbox,
    NotTakenIn,
)
from gateway.store.rows import LastHeard
from gateway.store.store import Store

ACTIVE_WITHIN = 7 * 24 * 3600.0
"""Seconds since somebody wrote, after which a chat is not looked into any more."""
OLDEST = 24 * 3600.0
"""Seconds after which nobody waits for an answer."""
MOST_CHATS = 200
AT_ONCE = 4
"""Chats that are read at the same time; the channel keeps to its platform's pace."""
MOST_PEOPLE = 20
"""Whose private chats are looked up; platforms mind it where a bot opens many."""
MOST_MESSAGES = 100
"""Of one chat."""
IN_TIME = 1.5
"""Seconds that a new message waits for older ones of its chat; platforms want to hear within three that it arrived."""
MOST_TRIES = 5
FIRST_DELAY = 1.0

T = TypeVar("T")
log = structlog.get_logger(__name__)


class CatchUp:
    """Stands between a channel and the inbox: `accept` is the channel's inbox, `run` catches up after every gap."""

    def __init__(
        self,
        *,
        name: str,
        channel: CatchesUp,
        people: Sequence[str],
        inbox: Inbox,
        late_inbox: Inbox,
        store: Store,
        clock: Clock,
    ) -> None:
        """`people`: the ids of those whose private chats are looked for. `late_inbox` takes what is brought in late."""
        self._name = name
        self._channel = channel
        self._people = people[:MOST_PEOPLE]
        self._inbox = inbox
        self._late_inbox = late_inbox
        self._store = store
        self._clock = clock
        self._listed = asyncio.Event()
        """Set while it is known which chats are behind."""
        self._behind: dict[ChatKey, asyncio.Event] = {}
        self._awaited: set[ChatKey] = set()
        """Those of them where somebody speaks again."""

    async def accept(self, event: InboundEvent) -> Accepted:
        """Behind what was said before it in its chat, unless that takes long."""
        if self._behind or not self._listed.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(IN_TIME):
                    await self._older(event.chat)
        return await self._inbox(event)

    async def run(self) -> None:
        """Until cancelled. However it ends, nobody waits for it any more."""
        try:
            await self._run()
        finally:
            self._listed.set()
            while self._behind:
                self._behind.popitem()[1].set()

    async def _run(self) -> None:
        while True:
            await self._channel.gap()
            self._listed.clear()
            now = self._clock.time()
            marks: dict[ChatKey, str | None] = {**await self._never_heard()}
            marks |= places(await self._store.last_heard(self._name, now - ACTIVE_WITHIN, MOST_CHATS))
            oldest = max(now - OLDEST, await self._store.born())
            self._behind = {chat: asyncio.Event() for chat in marks}
            self._listed.set()
            found = 0
            # A chat before its threads: where only those were heard, their marks are its own.
            for chats in ([each for each in marks if each.thread is None], [each for each in marks if each.thread]):
                readers = (self._read_all(chats, marks, oldest) for _ in range(AT_ONCE))
                found += sum(await asyncio.gather(*readers))
            if found:
                log.info("caught up", channel=self._name, messages=found)

    async def _read_all(self, chats: list[ChatKey], marks: dict[ChatKey, str | None], oldest: float) -> int:
        """Take from the chats, those first where somebody speaks; how many messages were new."""
        found = 0
        while chats:
            chat = next((each for each in chats if each in self._awaited), chats[0])
            chats.remove(chat)
            found += await self._catch_up(chat, marks[chat], oldest)
            self._behind.pop(chat).set()
            self._awaited.discard(chat)
        return found

    async def _older(self, chat: ChatKey) -> None:
        await self._listed.wait()
        for place in (chat, _outside_of_threads(chat)):
            if place in self._behind:
                self._awaited.add(place)
                await self._behind[place].wait()

    async def _never_heard(self) -> dict[ChatKey, None]:
        """The private chats of those who may speak, for the first words of one who wrote while nobody listened."""
        channel = self._channel
        if not isinstance(channel, FindsPrivateChats):
            return {}
        found = await asyncio.gather(*(self._private_chat(channel, person) for person in self._people))
        return {chat: None for chat in found if chat is not None}

    async def _private_chat(self, channel: FindsPrivateChats, person: str) -> ChatKey | None:
        try:
            return await channel.private_chat(person)
        except ChannelError as error:
            log.debug("private chat not found", channel=self._name, person=person, reason=error.reason)
            return None

    async def _catch_up(self, chat: ChatKey, after: str | None, oldest: float) -> int:
        """How many messages of the chat were new."""
        said = await self._try(chat, partial(self._channel.history, chat, after=after, most=MOST_MESSAGES))
        new = 0
        for event in said or ():
            if event.at >= oldest and not event.sender.is_bot:
                new += await self._try(chat, partial(self._late_inbox, event)) is Accepted.NEW
        return new

    async def _try(self, chat: ChatKey, attempt: Callable[[], Awaitable[T]]) -> T | None:
        """None where it is given up."""
        delay = FIRST_DELAY
        for _ in range(MOST_TRIES):
            try:
                return await attempt()
            except (ChannelError, NotTakenIn) as error:
                if isinstance(error, ChannelError) and error.permanent:  # a chat that is gone, as it was the last time
                    log.debug("not caught up", chat=str(chat), reason=error.reason)
                    break
                told = error.retry_after if isinstance(error, ChannelError) else None
                log.info("not caught up yet", chat=str(chat), reason=str(error))
            await self._clock.sleep(delay if told is None else told)
            delay *= 2
        return None


def places(heard: Sequence[LastHeard]) -> dict[ChatKey, str]:
    """Where to look, and behind which message. A chat is looked into before its threads; one of which only threads were
    heard, behind the newest message in those."""
    marks: dict[ChatKey, str] = {}
    for each in heard:  # the newest first
        marks.setdefault(_outside_of_threads(each.chat), each.message_id)
    own = {each.chat: each.message_id for each in heard}
    return {**marks, **own}


def _outside_of_threads(chat: ChatKey) -> ChatKey:
    return chat if chat.thread is None else chat.model_copy(update={"thread": None})
