"""Reactions on people's messages that show what becomes of them, where the platform and the settings allow it."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from agent_core.background import Background
from agent_core.clock import Clock
from channels.base import ChannelError, ChatKey, MessageReceived
from channels.capabilities import Emoji, Reacts, TypesByReaction
from gateway.delivery.delivery import Delivery
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
MOST_MESSAGES = 2_000

log = structlog.get_logger(__name__)


@dataclass
class _Message:
    chat: ChatKey
    id: str
    wanted: Emoji | None = None
    possible: set[Emoji] = field(default_factory=set)
    """Reactions of ours that the message may have, if any; more than one if the outcome of a call is unknown."""
    is_certain: bool = True
    """True if the message surely has what `possible` holds."""
    is_busy: bool = False


class Reactions:
    """Sets our one reaction on each message. Reactions are cosmetic: one that fails or finds no room is dropped."""

    def __init__(self, delivery: Delivery, clock: Clock, platforms: Iterable[str] = ()) -> None:
        """`platforms` are those on which messages get reactions."""
        self._delivery = delivery
        self._clock = clock
        self._channels: dict[str, Reacts] = {}
        for name in platforms:
            channel = delivery.on(name)
            if isinstance(channel, Reacts):
                self._channels[name] = channel
            if isinstance(channel, TypesByReaction):
                channel.stop_typing_by_reaction()
        self._messages: OrderedDict[int, _Message] = OrderedDict()
        self._restored = 0
        """Number of the newest message that the previous process left, which may have its reaction."""
        self._is_begun = False
        self._tasks = Background("a reaction failed")

    def begin(self) -> None:
        """Record that messages of the previous process have been passed on, and that later ones are new."""
        self._is_begun = True

    def show(self, item: InboxItem, emoji: Emoji | None) -> None:
        """Let a message have this reaction, or none, soon."""
        if not isinstance(item.event, MessageReceived) or item.event.chat.platform not in self._channels:
            return
        if not self._is_begun:
            self._restored = max(self._restored, item.seq)
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
        is_restored = item.seq <= self._restored
        return _Message(
            event.chat, event.message_id, possible=set(UNDER_WAY if is_restored else ()), is_certain=not is_restored
        )

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
        limiter, until = self._delivery.limiter(message.chat), self._clock.monotonic() + PATIENCE
        try:
            while await limiter.offer(message.chat, within=until - self._clock.monotonic()):
                if await self._react(message):
                    return True
                await self._clock.sleep(AGAIN_SECONDS)
        except ChannelError as error:
            log.info("no reaction", chat=str(message.chat), reason=error.reason)
        return False

    async def _react(self, message: _Message) -> bool:
        """Set what is wanted now. Return False if the platform's rate limit has no room. Raises ChannelError."""
        channel, emoji = self._channels[message.chat.platform], message.wanted
        old = sorted(message.possible - {emoji})
        message.is_certain = False
        for other in old[1:]:  # one by one, so that a repetition goes on where this try ends
            if not await channel.react(message.chat, message.id, None, instead_of={other}):
                return False
            message.possible.discard(other)
        message.possible |= {emoji} if emoji else set()
        done = await channel.react(message.chat, message.id, emoji, instead_of=set(old[:1]))
        if done:
            message.possible, message.is_certain = {emoji} if emoji else set(), True
        return done


def _has(message: _Message, emoji: Emoji | None) -> bool:
    return message.is_certain and message.possible == ({emoji} if emoji else set())
