"""Reactions on people's messages that show what becomes of them, where the platform and the settings allow it."""

import asyncio
from collections.abc import Iterable, Sequence

import structlog
from msgspec import Struct, field

from agent_core.background import Background
from agent_core.clock import Clock
from agent_core.messages import JsonObject
from agent_core.reasons import TerminalReason
from channels.base import ChannelError, ChatKey, MessageReceived
from channels.capabilities import Emoji, Reacts, TypesByReaction
from gateway.delivery.delivery import Delivery
from gateway.plugins.reactions.settings import ReactionsSettings
from gateway.plugins.reactions.table import LeftReaction
from gateway.plugins.reactions.table import Reactions as Rows
from gateway.settings.current import CurrentSettings
from gateway.store.owed import Owed
from gateway.store.rows import InboxItem, Post, PostState, Run, RunEnd, inbox_seqs
from gateway.store.store import Store

HEARD: Emoji = "👀"
"""A run works on the message."""
STEERED: Emoji = "⚡"
"""The message went to the run in progress."""
WAITS: Emoji = "😴"
"""The message waits for a run of its own."""
DONE: Emoji = "👌"
"""The answer has been sent."""
KIND = "reaction"
"""That of what is owed at the end of a run: the last reaction on each message that it has read."""
UNDER_WAY = (HEARD, STEERED, WAITS)
SHOWN_AFTER = 1.0
"""Seconds before a change is shown, unless it is the last one; a quick answer needs no other reaction."""
PATIENCE = 10.0
"""Seconds for which a try waits for room in the rate limit, and the longest pause before the few that follow."""
AGAIN_SECONDS = 1.0
FEW_TRIES = 5
"""Tries to show what is true while a message waits or is worked on."""
LAST_TRIES = 10
"""Tries to replace a reaction that is not true any more; the next process tries again."""
OWED_SECONDS = 200.0
"""Seconds for which the end of a run counts as not shown; what a platform refuses for longer goes on without that."""
LONGEST_PAUSE = 60.0
"""Longest pause between two of these tries, in seconds, unless the platform asks for a longer one."""
MOST_MESSAGES = 2_000
"""Messages that are followed at a time; while all of them are under way, further ones get no reaction."""

log = structlog.get_logger(__name__)


class _Message(Struct):
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
    doing: "asyncio.Task[None] | None" = None
    """Lets the message have what is wanted."""

    @property
    def is_open(self) -> bool:
        """True if the end of its run is still to be shown."""
        return self.wanted in UNDER_WAY or self.has_row

    @property
    def is_stale(self) -> bool:
        """True if the message may keep a reaction that is wrong from now on."""
        return self.wanted not in UNDER_WAY and bool(self.possible & {*UNDER_WAY})


class Reactions:
    """Sets our one reaction on each message.

    Reactions are cosmetic: one that fails or finds no room is soon dropped. Only the end of what an earlier one shows
    is tried for long, also by the next process.
    """

    def __init__(self, rows: Rows, store: Store, delivery: Delivery, clock: Clock, settings: CurrentSettings) -> None:
        self._rows = rows
        self._store = store
        self._delivery = delivery
        self._clock = clock
        self._settings = settings
        self._messages: dict[int, _Message] = {}
        self._tasks = Background("a reaction failed")

    async def restore(self, chat: ChatKey | None = None) -> None:
        """Take over the reactions that the previous process left, and remove those of messages that were dropped.

        `chat` limits it to the messages of a chat. The last reactions that runs owe are shown by `finish`.
        """
        self._forget_all_in(chat)
        found = await self._rows.left(chat)
        under_way = await self._under_way(chat) if found else set[int]()
        for left in found:
            if not isinstance(self._delivery.on(left.chat.platform), Reacts):
                continue
            message = _Message(left.seq, left.chat, left.message_id, possible={*UNDER_WAY}, is_certain=False)
            message.has_row = True
            if left.seq in under_way:
                self._messages[left.seq] = message
            else:
                self._want(message, None)

    def follow_settings(self) -> bool:
        """Return True if the settings want reactions. If not, let platforms use reactions to show that Parley types."""
        is_on = self._settings.of(ReactionsSettings).on
        for channel in () if is_on else self._delivery.connected:
            if isinstance(channel, TypesByReaction):
                channel.type_by_reaction(on=True)
        return is_on

    def show(self, item: InboxItem, emoji: Emoji | None) -> None:
        """Let a message have this reaction, or none, soon."""
        channel = self._delivery.on(item.event.chat.platform)
        if not isinstance(item.event, MessageReceived) or not isinstance(channel, Reacts):
            return
        if not item.event.message_id:  # its chat has another id, where it has none
            return
        if isinstance(channel, TypesByReaction):
            channel.type_by_reaction(on=False)
        message = self._messages.get(item.seq)
        if message is None and emoji is not None and self._has_room():
            message = self._messages[item.seq] = _Message(item.seq, item.event.chat, item.event.message_id)
        if message is not None:
            self._want(message, emoji)

    def ended(self, run: Run, how: RunEnd) -> Sequence[Owed]:
        """Return what is owed at the end of a run: the last reactions on the messages that it has read.

        May be called from any thread.
        """
        found = (self._messages.get(seq) for seq in how.items)
        ids: JsonObject = {str(each.seq): each.id for each in found if each is not None and each.is_open}
        if not ids:
            return ()
        data: JsonObject = {"messages": ids, "is_whole": how.reason is TerminalReason.COMPLETED}
        return [Owed(KIND, run.id, run.chat, data)]

    async def finish(self, item: Owed) -> Sequence[Post]:
        """Show the end of a run on the messages that it has read. Returns no messages."""
        if not isinstance(self._delivery.on(item.chat.platform), Reacts):
            return ()
        posts = await self._store.outbox.of_run(item.run)
        is_sent = all(post.state is not PostState.FAILED for post in posts if ":answer:" in post.key)
        last = DONE if item.data["is_whole"] and is_sent else None
        doing = []
        for seq, message_id in _messages_of(item):
            message = self._messages.pop(seq, None) or _Message(seq, item.chat, message_id)
            doing.append(self._want(message, last))
        try:
            done, _ = await asyncio.wait(doing, timeout=OWED_SECONDS)
        except asyncio.CancelledError:  # another process goes on
            for each in doing:
                each.cancel()
            raise
        for each in done:
            each.result()  # what failed is tried again
        return ()

    async def close(self) -> None:
        """Drop what is not shown yet; what is shown remains."""
        await self._tasks.stop()

    def _has_room(self) -> bool:
        """Return True if one more message can be followed, having dropped what is over if it must."""
        if len(self._messages) >= MOST_MESSAGES:
            self._messages = {seq: each for seq, each in self._messages.items() if each.is_open}
        return len(self._messages) < MOST_MESSAGES

    def _forget_all_in(self, chat: ChatKey | None) -> None:
        """Forget what another process has worked on meanwhile."""
        for message in [each for each in self._messages.values() if each.chat == chat]:
            del self._messages[message.seq]
            if message.doing is not None:
                message.doing.cancel()

    async def _under_way(self, chat: ChatKey | None) -> set[int]:
        """Return the numbers of the messages that wait, or whose run goes on, or still owes them the last reaction."""
        store = self._store
        seqs = {item.seq for item in await store.inbox.waiting(chat)}
        for run in await store.runs.unfinished(chat):
            seqs.update(inbox_seqs([each.id for each in await store.transcript.said_in(run)]))
        for item in await store.owed.left(chat):
            seqs.update(seq for seq, _ in _messages_of(item) if item.kind == KIND)
        return seqs

    def _want(self, message: _Message, emoji: Emoji | None) -> "asyncio.Task[None]":
        message.wanted = emoji
        if message.doing is None or message.doing.done():
            message.doing = self._tasks.start(self._apply(message), f"react {message.chat}")
        return message.doing

    async def _apply(self, message: _Message) -> None:
        if message.wanted not in {DONE, None}:
            await self._clock.sleep(SHOWN_AFTER)
        while not _has(message, wanted := message.wanted):
            if not await self._set(message) and message.wanted == wanted:
                return

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
            if not message.is_stale and (tried + 1 >= FEW_TRIES or pause > PATIENCE):
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
            return False
        old = sorted(message.possible - {emoji})
        if emoji in UNDER_WAY and not message.has_row:
            message.has_row = True
            await self._rows.add(LeftReaction(message.seq, message.chat, message.id))
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


def _messages_of(item: Owed) -> Iterable[tuple[int, str]]:
    """Yield the numbers and ids of the messages to which a run owes the last reaction."""
    messages = item.data.get("messages")
    if isinstance(messages, dict):
        yield from ((int(seq), str(message_id)) for seq, message_id in messages.items())
