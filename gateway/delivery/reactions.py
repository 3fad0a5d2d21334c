"""Reactions on people's messages that show what becomes of them, where the platform and the settings allow it."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from agent_core.background import Background
from agent_core.clock import Clock
from channels.base import ChannelError, ChatKey, MessageReceived
from channels.capabilities import Emoji, Reacts, TypesByReaction
from gateway.delivery.delivery import Delivery
from gateway.settings.current import CurrentSettings
from gateway.store.reactions import Fate
from gateway.store.reactions import Reactions as Rows
from gateway.store.rows import InboxItem

HEARD: Emoji = "👀"
"""A run works on the message."""
STEERED: Emoji = "⚡"
"""The message went to the run in progress."""
WAITS: Emoji = "😴"
"""The message waits for a run of its own."""
DONE: Emoji = "👌"
"""The answer has been sent."""
UNDER_WAY = (HEARD, STEERED, WAITS)
SHOWN_AFTER = 1.0
"""Seconds before a change is shown, unless it is the last one; a quick answer needs no other reaction."""
PATIENCE = 10.0
"""Seconds after which a reaction that the rate limit has no room for is dropped."""
AGAIN_SECONDS = 1.0
LAST_TRIES = 10
"""Tries to replace a reaction that is not true any more; the next process tries again."""
LONGEST_PAUSE = 60.0
"""Longest pause between two of these tries, in seconds, unless the platform asks for a longer one."""
MOST_MESSAGES = 2_000

log = structlog.get_logger(__name__)


@dataclass
class _Message:
    seq: int
    chat: ChatKey
    id: str
    wanted: Emoji | None = None
    possible: set[Emoji] = field(default_factory=set)
    """Reactions of ours that the message may have, if any; more than one if the outcome of a call is unknown."""
    is_certain: bool = True
    """True if the message surely has what `possible` holds."""
    has_row: bool = False
    """True if a row says that the message may have a reaction, for the next process."""
    is_busy: bool = False

    @property
    def is_stale(self) -> bool:
        """True if the message may keep a reaction that is wrong from now on."""
        return self.wanted not in UNDER_WAY and bool(self.possible & {*UNDER_WAY})


class Reactions:
    """Sets our one reaction on each message.

    Reactions are cosmetic: one that fails or finds no room is dropped. Only the end of what an earlier one shows is
    tried repeatedly, also by the next process.
    """

    def __init__(self, rows: Rows, delivery: Delivery, clock: Clock, current: CurrentSettings) -> None:
        """Messages get reactions while the settings say so."""
        self._rows = rows
        self._delivery = delivery
        self._clock = clock
        self._current = current
        self._messages: OrderedDict[int, _Message] = OrderedDict()
        self._tasks = Background("a reaction failed")

    async def restore(self, chat: ChatKey | None = None) -> None:
        """Take over the reactions that the previous process left, and end those of messages that are done.

        `chat` limits it to the messages of a chat.
        """
        for left in await self._rows.left(chat):
            if not isinstance(self._delivery.on(left.chat.platform), Reacts):
                continue
            message = _Message(left.seq, left.chat, left.message_id, possible={*UNDER_WAY}, is_certain=False)
            message.has_row = True
            if left.fate is Fate.OPEN:
                self._messages[left.seq] = message
            else:
                self._want(message, DONE if left.fate is Fate.ANSWERED else None)

    def show(self, item: InboxItem, emoji: Emoji | None) -> None:
        """Let a message have this reaction, or none, soon."""
        channel = self._delivery.on(item.event.chat.platform)
        if not isinstance(item.event, MessageReceived) or not isinstance(channel, Reacts):
            return
        is_on = self._current.now.reactions
        if isinstance(channel, TypesByReaction):
            channel.type_by_reaction(on=not is_on)
        if not is_on:
            return
        message = self._messages.get(item.seq)
        if message is None:
            if emoji is None:
                return
            message = self._messages[item.seq] = self._known(item, item.event)
        self._want(message, emoji)

    def ended(self, seqs: Sequence[int], *, answered: bool) -> None:
        """Show the end of a run on the messages that it has read, given by their numbers in the inbox."""
        for seq in seqs:
            if message := self._messages.pop(seq, None):
                self._want(message, DONE if answered else None)

    async def close(self) -> None:
        """Drop what is not shown yet; what is shown remains."""
        await self._tasks.stop()

    def _known(self, item: InboxItem, event: MessageReceived) -> _Message:
        if len(self._messages) >= MOST_MESSAGES:
            self._messages.popitem(last=False)
        return _Message(item.seq, event.chat, event.message_id)

    def _want(self, message: _Message, emoji: Emoji | None) -> None:
        message.wanted = emoji
        if not message.is_busy:
            message.is_busy = True
            self._tasks.start(self._apply(message), f"react {message.chat}")

    async def _apply(self, message: _Message) -> None:
        try:
            if message.wanted not in {DONE, None}:
                await self._clock.sleep(SHOWN_AFTER)
            while not _has(message, wanted := message.wanted):
                if not await self._set(message) and message.wanted == wanted:
                    return
        finally:
            message.is_busy = False

    async def _set(self, message: _Message) -> bool:
        """Set the wanted reaction. Return False if it is dropped."""
        for tried in range(LAST_TRIES):
            pause = min(2.0**tried, LONGEST_PAUSE)
            try:
                if await self._offer(message):
                    return True
            except ChannelError as error:
                log.info("no reaction", chat=str(message.chat), reason=error.reason)
                if error.permanent:
                    await self._forget(message)
                    return False
                pause = max(error.retry_after or 0.0, pause)
            if not message.is_stale:
                return False
            await self._clock.sleep(pause)
        return False

    async def _offer(self, message: _Message) -> bool:
        """Set the wanted reaction as soon as there is room. Return False if there is none. Raises ChannelError."""
        limiter, until = self._delivery.limiter(message.chat), self._clock.monotonic() + PATIENCE
        while await limiter.offer(message.chat, within=until - self._clock.monotonic()):
            if await self._react(message):
                return True
            await self._clock.sleep(AGAIN_SECONDS)
        return False

    async def _forget(self, message: _Message) -> None:
        if message.has_row:
            message.has_row = False
            await self._rows.remove(message.seq)

    async def _react(self, message: _Message) -> bool:
        """Set what is wanted now. Return False if the platform's rate limit has no room. Raises ChannelError."""
        channel, emoji = self._delivery.on(message.chat.platform), message.wanted
        if not isinstance(channel, Reacts):
            return True
        old = sorted(message.possible - {emoji})
        if emoji in UNDER_WAY and not message.has_row:
            message.has_row = True
            await self._rows.add(message.seq, message.chat, message.id)
        message.is_certain = False
        for other in old[1:]:  # one by one, so that a repetition goes on where this try ends
            if not await channel.react(message.chat, message.id, None, instead_of={other}):
                return False
            message.possible.discard(other)
        message.possible |= {emoji} if emoji else set()
        done = await channel.react(message.chat, message.id, emoji, instead_of=set(old[:1]))
        if done:
            message.possible, message.is_certain = {emoji} if emoji else set(), True
            if emoji not in UNDER_WAY:
                await self._forget(message)
        return done


def _has(message: _Message, emoji: Emoji | None) -> bool:
    return message.is_certain and message.possible == ({emoji} if emoji else set())
