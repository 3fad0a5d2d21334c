"""Getting messages to people: noted first, then sent, each exactly once as far as the platform allows.

A post with a `message_id` is an edit, and an edit may be made any number of times. Any other post is a send, and has
a key that is the same however often it is tried.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakValueDictionary

import structlog

from agent_core.clock import Clock
from channels.base import AccountRefused, Channel, ChannelError, ChatKey, Posted
from channels.text import visible
from gateway.limiter import ChatLimiter
from gateway.secrets import Secrets
from gateway.sending import Voice
from gateway.store.rows import Post, PostState
from gateway.store.store import Store

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
GIVE_UP_AFTER = 24 * 3600.0
"""Seconds after which a message that a platform did not take is no news any more."""

log = structlog.get_logger(__name__)


class _Attempts:
    """Decides after each failed call whether and when there is another."""

    def __init__(self, give_up_at: float, *, may_have_arrived: bool) -> None:
        self._give_up_at = give_up_at
        self._delay = FIRST_DELAY
        self._lost_answers = 0
        self.may_have_arrived = may_have_arrived
        """Whether an earlier try, in this life or the last, may have had its effect."""

    def wait_after(self, error: ChannelError, now: float, *, repeatable: bool) -> float | None:
        """Seconds, or None to give up. A send whose answer was lost may have had its effect: where that shows twice, it
        is made once more, not again and again."""
        self._lost_answers += error.ambiguous and not repeatable
        self.may_have_arrived |= error.ambiguous
        if error.permanent or now > self._give_up_at or self._lost_answers > 1:
            return None
        wait = self._delay if error.retry_after is None else error.retry_after
        self._delay = min(self._delay * 2, LONGEST_DELAY)
        return wait


class Delivery:
    """Sends what the store's outbox holds, in order within a chat."""

    def __init__(self, channels: Sequence[Channel], store: Store, clock: Clock, secrets: Secrets | None = None) -> None:
        """`secrets`: what nobody may read; None: what the store keeps out."""
        self._voices = {channel.name: Voice(channel, secrets or store.secrets) for channel in channels}
        self._limiters = {channel.name: ChatLimiter(channel, clock) for channel in channels}
        self._store = store
        self._clock = clock
        self._folding: set[asyncio.Task[ChannelError | None]] = set()
        self._turns: WeakValueDictionary[ChatKey, asyncio.Lock] = WeakValueDictionary()
        """Each is there as long as somebody has or awaits it."""

    def channel(self, chat: ChatKey) -> Channel:
        """Raises KeyError where the chat's platform is not connected any more."""
        return self.voice(chat).channel

    def voice(self, chat: ChatKey) -> Voice:
        """By which something is said there. Raises KeyError as `channel` does."""
        return self._voices[chat.platform]

    def limiter(self, chat: ChatKey) -> ChatLimiter:
        return self._limiters[chat.platform]

    def knows(self, chat: ChatKey) -> bool:
        """Whether the chat's platform is connected."""
        return chat.platform in self._voices

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        """Send posts of one chat that the store has noted, in order, with no other between them.

        Returns when each was sent or given up. What a cancelled call has not sent stays noted for the next life, and so
        does what a platform refused together with the whole account.
        """
        await self.attempt(chat, posts)

    async def attempt(self, chat: ChatKey, posts: Sequence[Post]) -> ChannelError | None:
        """The same; why the last was not sent that could not be, or not whole, or None."""
        trouble: ChannelError | None = None
        turn = self._turns.setdefault(chat, asyncio.Lock())
        async with turn:
            for post in posts:
                if post.is_progress and self.limiter(chat).edit_queue():
                    self._fold_later(post)
                else:
                    trouble = await self._deliver(post) or trouble
        return trouble

    async def settled(self) -> None:
        """Return when what was left for later is done too."""
        if self._folding:
            await asyncio.wait(self._folding)

    async def close(self) -> None:
        """What is not done stays noted."""
        for task in self._folding:
            task.cancel()
        await self.settled()

    def _fold_later(self, post: Post) -> None:
        """Nobody waits for the line that a run leaves behind, so that nobody's next answer does."""
        task = asyncio.create_task(self._deliver(post), name=f"fold {post.run}")
        self._folding.add(task)
        task.add_done_callback(self._folding.discard)

    async def _deliver(self, post: Post) -> ChannelError | None:
        attempts = _Attempts(self._clock.monotonic() + GIVE_UP_AFTER, may_have_arrived=post.state is PostState.SENDING)
        limiter = self.limiter(post.chat)
        without: ChannelError | None = None
        """Why it went without its files."""
        while True:
            is_edit = post.message_id is not None
            await limiter.wait(post.chat, edit=is_edit, yields=post.is_unasked)
            try:
                posted = await self._call(post, look_first=attempts.may_have_arrived)
            except AccountRefused as error:
                log.warning("post kept for later", key=post.key, chat=str(post.chat), reason=error.reason)
                return error
            except ChannelError as error:
                repeatable = is_edit or self.voice(post.chat).posts_once
                wait = attempts.wait_after(error, self._clock.monotonic(), repeatable=repeatable)
                if wait is None and is_edit and not post.is_progress:
                    # What was to be edited is gone or stands fast; people still have to read it.
                    post = replace(post, message_id=None)
                    continue
                if error.permanent and post.message.attachments and visible(post.message.markdown):
                    # It may be the file that is not taken; people still have to read the words.
                    post, without = replace(post, message=post.message.model_copy(update={"attachments": ()})), error
                    continue
                if wait is None:
                    log.warning("post given up", key=post.key, chat=str(post.chat), reason=error.reason)
                    await self._store.failed(post.key, error.reason)
                    return error
                log.info("post delayed", key=post.key, chat=str(post.chat), seconds=wait, reason=error.reason)
                limiter.hold(post.chat, wait, edit=is_edit and error.retry_after is not None)
            else:
                await self._store.sent(post, posted.message_id)
                return without

    async def _call(self, post: Post, *, look_first: bool) -> Posted:
        voice = self.voice(post.chat)
        if post.message_id is not None:
            posted = Posted(chat=post.chat, message_id=post.message_id)
            await voice.rewrite(posted, post.message)
            return posted
        found = await voice.find(post.chat, post.message, post.key) if look_first else None
        if found is None:
            self._store.sending(post.key)
            found = await voice.post(post.chat, post.message, post.key)
        if look_first and post.may_read_otherwise and voice.posts_once:
            await voice.rewrite(found, post.message)
        return found
