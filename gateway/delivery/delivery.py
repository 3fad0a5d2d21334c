"""Delivers messages: stored first, then sent, each exactly once as far as the platform allows.

A post with a `message_id` is an edit, which can be repeated freely. Any other post is a send, with a key that stays the
same over all tries.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence, Set
from weakref import WeakValueDictionary

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent_core.background import Background, UnderWay
from agent_core.clock import Clock
from channels.base import AccountRefused, Channel, ChannelError, ChatKey, ChatMoved, EditsRefused, MessageGone, Posted
from channels.capabilities import FindsPrivateChats, HasOwnChat
from channels.connected import Connected
from channels.tasks import until_one_ends
from channels.text import visible
from gateway.delivery.attempts import Attempts, Unconfirmed
from gateway.delivery.limiter import ChatLimiter, Priority, priority_of
from gateway.delivery.parting import parted, with_name, without_file
from gateway.delivery.sending import Right, Sending, SendsAlways
from gateway.delivery.tally import DeliveryTally
from gateway.security.masked_channel import MaskedChannel, stay
from gateway.security.secrets import Secrets
from gateway.store.connection import Work
from gateway.store.rows import GONE, Post, PostState
from gateway.store.store import Store

FOLD_WITHIN = 10.0
"""Seconds after the answer within which a progress message may still be folded; later it is deleted."""
MOST_UNKNOWN = 2
"""Most sends that may each have arrived: the first try and one repeat."""
GIVE_UP_AFTER = 24 * 3600.0
"""Seconds after which a message that the platform did not take is given up as outdated."""
PATIENCE = 10.0
"""Most seconds that an answer of a user waits for the platform to acknowledge what it answers."""

log = structlog.get_logger(__name__)


class Arrival(Struct, frozen=True):
    """The work that follows the arrival of a message."""

    record: Work[None]
    """Written in the transaction that records the arrival."""
    begin: Callable[[], None]
    """Called once that is written."""


class Delivery:
    """Sends the posts in the store's outbox, in order within a chat."""

    def __init__(
        self,
        channels: Iterable[Channel],
        store: Store,
        clock: Clock,
        secrets: Secrets | None = None,
        sending: Sending | None = None,
    ) -> None:
        """`secrets` are masked in everything sent; None for those of the store. `sending`: None for a lone process."""
        self.connected = Connected.of(channels)
        """The platforms that are connected now. What is sent to one directly is not masked."""
        self._secrets = secrets or store.secrets
        self._masked: dict[str, MaskedChannel] = {}
        """Senders by platform; made anew when a channel was replaced."""
        self._limiters: dict[str, ChatLimiter] = {}
        self._store, self._clock = store, clock
        self.sending = sending or SendsAlways()
        self.tally = DeliveryTally()
        self._kept: dict[str, ChatKey] = {}
        """Chats by the keys of posts that wait because the platform refuses the account."""
        self._parted: dict[str, Sequence[Post]] = {}
        """The other parts of each post whose files were refused together, by its key."""
        self._background = Background("a message was not delivered in the background")
        self.unconfirmed: set[ChatKey] = set()
        """Chats with a message that has not or may not have arrived, and has not been offered again yet."""
        self._turns: WeakValueDictionary[ChatKey, asyncio.Lock] = WeakValueDictionary()
        """Lock per chat, dropped when unused."""
        self._unanswered = UnderWay()
        """Sends that may be on the screen and are not acknowledged yet."""
        self.moved: Callable[[ChatMoved], None] = stay
        """Told of chats that the platform says have another id."""
        self.delivered: Callable[[Set[str]], None] = lambda _: None
        """Told of the runs whose posts were sent or given up, or are kept for later."""
        self.refused: Callable[[Post, str], Coroutine[object, object, None]] | None = None
        """Told of answers that their chats have refused for good, and of the reason."""
        self.arriving: Callable[[Post], Arrival | None] = lambda _: None
        """Returns what follows the arrival of a new message."""

    def channel(self, chat: ChatKey) -> Channel:
        """Return the chat's channel. Raises KeyError if its platform is not connected."""
        return self.masked_channel(chat).channel

    def masked_channel(self, chat: ChatKey) -> MaskedChannel:
        """Return the masking sender for the chat. Raises KeyError if its platform is not connected."""
        channel = self.connected.on(chat.platform)
        if channel is None:
            raise KeyError(chat.platform)
        masked = self._masked.get(chat.platform)
        if masked is None or masked.channel is not channel:
            masked = MaskedChannel(channel, self._secrets, self.sending.wait_fresh, self.moved)
            self._masked[chat.platform] = masked
        return masked

    def limiter(self, chat: ChatKey) -> ChatLimiter:
        """Return the rate limits of the chat's platform. Raises KeyError if it is not connected."""
        if chat.platform not in self._limiters:
            self._limiters[chat.platform] = ChatLimiter(self.channel(chat), self._clock, self.sending)
        return self._limiters[chat.platform]

    def knows(self, chat: ChatKey) -> bool:
        """Return True if the chat's platform is connected."""
        return self.connected.on(chat.platform) is not None

    def on(self, platform: str) -> Channel | None:
        """Return the platform's channel, or None if it is not connected."""
        return self.connected.on(platform)

    @property
    def own_chats(self) -> list[ChatKey]:
        """The chats of this machine's user that show messages at any time."""
        return [channel.own_chat for channel in self.connected if isinstance(channel, HasOwnChat)]

    async def private_chat(self, chat: ChatKey, person: str) -> ChatKey | None:
        """Return the chat in which only this user reads our messages, or None if there is none. Raises ChannelError."""
        channel = self.channel(chat)
        if not channel.is_group(chat):
            return chat
        return await channel.private_chat(person) if isinstance(channel, FindsPrivateChats) else None

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        """Send stored posts of one chat in order, with no others between them.

        Returns when each was sent or given up. Posts left unsent by cancellation, or because the platform refused the
        whole account, stay stored and are sent after the next start.
        """
        await self.attempt(chat, posts)

    def deliver_soon(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        """Deliver in the background, so that nothing waits for the platform."""
        self._background.start(self.deliver(chat, posts), f"deliver {posts[0].key}")

    async def attempt(self, chat: ChatKey, posts: Sequence[Post]) -> ChannelError | None:
        """Send as `deliver` does, and return the error of the last post that could not be sent whole, or None."""
        trouble: ChannelError | None = None
        right = await self.sending.right(chat)
        if right is Right.REMOTE:
            await self.sending.forward(chat, [post.key for post in posts])
            return None
        self.limiter(chat).hurry(chat, min(map(priority_of, posts), default=Priority.COSMETIC))
        turn = self._turns.setdefault(chat, asyncio.Lock())
        async with turn:
            left = deque(await self._still_unsent(posts, right))
            while left and self.sending.keeps(chat):  # else another process sends what is stored
                post = left.popleft()
                if post.is_progress:
                    self._background.start(self._fold(post), f"fold {post.run}")  # no answer waits for it
                else:
                    trouble = await self._finish(post) or trouble
                    left.extendleft(reversed(self._parted.pop(post.key, ())))
        self.delivered({post.run for post in posts})
        return trouble

    async def _still_unsent(self, posts: Sequence[Post], right: Right) -> Sequence[Post]:
        """Return the posts that nobody has sent meanwhile, if others could."""
        if isinstance(self.sending, SendsAlways):
            return posts
        return [post for post in posts if not await self._is_done(post, right)]

    async def _is_done(self, post: Post, right: Right) -> bool:
        """Return True if another process could have sent a post or given it up, and has."""
        if post.message_id is not None or (right is Right.OWNED and post.state is not PostState.SENDING):
            return False
        stored = await self._store.outbox.find(post.key)
        return stored is not None and stored.state in (PostState.SENT, PostState.FAILED)

    def is_sending(self, chat: ChatKey) -> bool:
        """Return True while posts are sent to a chat."""
        return (turn := self._turns.get(chat)) is not None and turn.locked()

    def forget(self, chat: ChatKey) -> None:
        """Drop what the memory holds of a chat with which another process may go on."""
        self.unconfirmed.discard(chat)
        if (masked := self._masked.get(chat.platform)) is not None:
            masked.other_wrote(chat)

    async def deliver_kept(self, platform: str) -> None:
        """Send what a platform refused because of the account, which is in order now."""
        kept = {key: self._kept.pop(key) for key, chat in [*self._kept.items()] if chat.platform == platform}
        posts = [post for post in await self._store.outbox.unsent() if post.key in kept]
        for chat in dict.fromkeys(post.chat for post in posts):
            await self.deliver(chat, [post for post in posts if post.chat == chat])

    async def caught_up(self, chat: ChatKey) -> None:
        """Wait until what may be on the screen of a chat is acknowledged and recorded, for `PATIENCE` at most.

        Users answer what they see, which may be before the platform has answered the send.
        """
        await self._unanswered.over(chat, PATIENCE)

    async def settled(self) -> None:
        """Wait until what is sent in the background has arrived or was given up."""
        await self._background.join()

    async def close(self) -> None:
        """Cancel what is sent in the background; it stays stored."""
        await self._background.stop()

    async def _fold(self, post: Post) -> ChannelError | None:
        """Fold a progress message, or delete it if the edit would have to wait for long."""
        if post.is_removal:
            return await self._finish(post)
        folding = asyncio.create_task(self._finish(post))
        patience = asyncio.create_task(self._clock.sleep(FOLD_WITHIN))
        try:
            await asyncio.wait([folding, patience], return_when=asyncio.FIRST_COMPLETED)
            if folding.done() or not self.masked_channel(post.chat).deletes:
                return await folding
        finally:
            patience.cancel()
            folding.cancel()
            await asyncio.wait([folding, patience])
        trouble = await self._finish(replace(post, key=f"{post.run}:progress:{GONE}"))
        await self._store.outbox.failed(post.key, "dropped, for it would have had to wait")
        return trouble

    async def _finish(self, post: Post) -> ChannelError | None:
        trouble = await self._deliver(post)
        if isinstance(trouble, AccountRefused):
            self._kept[post.key] = post.chat
        if post.message_id is not None:
            self.limiter(post.chat).settled(post.run)
        return trouble

    async def _deliver(self, post: Post) -> ChannelError | None:
        attempts = Attempts(self._clock.monotonic() + GIVE_UP_AFTER, post.unknown)
        if attempts.unknown:  # an earlier process started the send
            attempts.answered = self._unanswered.begin(post.chat)
        try:
            return await self._try(post, attempts)
        finally:
            attempts.answered()

    async def _try(self, post: Post, attempts: Attempts) -> ChannelError | None:
        without: ChannelError | None = None  # because of which the post goes out without its file
        failure, wait = None, None
        while await self._turn_comes(post, wait):
            is_edit = post.message_id is not None
            try:
                posted = await self._call(post, attempts)
            except AccountRefused as error:
                self.tally.ended(post, "kept")
                log.warning("post kept for later", key=post.key, chat=str(post.chat), reason=error.reason)
                return error
            except Unconfirmed as error:
                return await self._leave_unconfirmed(post, error)
            except ChannelError as error:
                failure, wait = error, attempts.wait_after(error, self._clock.monotonic())
                if wait is None and is_edit and not post.is_progress:
                    # The message is gone or cannot be edited; its text still has to be read.
                    post = replace(post, message_id=None)
                    continue
                if error.permanent and len(post.message.attachments) > 1:  # perhaps only one of them was refused
                    post, *self._parted[post.key] = parts = parted(post)
                    await self._store.outbox.add(parts)
                    continue
                if error.permanent and post.message.attachments and visible(post.message.markdown):
                    # Perhaps only the file was refused; the text still has to be read.
                    post, without = without_file(post), with_name(error, post)
                    continue
                if wait is None:
                    await self._give_up(post, error)
                    return with_name(error, post)
                self._delay(post, wait, error)
            else:
                self.tally.done(post)
                await self._arrived(post, posted, tries=0 if is_edit or attempts.unknown else 1)
                return without
        log.info("post left to another process", key=post.key, chat=str(post.chat))
        return failure

    async def _arrived(self, post: Post, posted: Posted, tries: int) -> None:
        """Record the arrival of a post; `tries` were not recorded before."""
        is_new = post.message_id is None and not post.is_progress
        arrival = self.arriving(post) if is_new else None
        await self._store.outbox.sent(post, posted, tries, arrival.record if arrival else None)
        if arrival is not None:
            arrival.begin()

    async def _turn_comes(self, post: Post, after: float | None) -> bool:
        """Wait until a post may be sent; `after` is the wait in seconds since a failed try, None before the first.

        Returns False if another process is to send it instead.
        """
        if after is None:
            await self._turn(post, 0.0)
            return True
        await until_one_ends(self._turn(post, after), self.sending.wait_leaving(post.chat))
        return self.sending.keeps(post.chat)

    async def _turn(self, post: Post, after: float) -> None:
        if not post.is_removal:
            edit = post.message_id is not None
            await self.limiter(post.chat).wait(post.chat, edit=edit, priority=priority_of(post))
        elif after:  # deletions are not rate-limited
            await self._clock.sleep(after)

    def _delay(self, post: Post, seconds: float, error: ChannelError) -> None:
        """Pause the chat after a failed call; after a failed deletion only that waits, not the chat's answers."""
        self.tally.repeated(post)
        log.info("post delayed", key=post.key, chat=str(post.chat), seconds=seconds, reason=error.reason)
        if not post.is_removal:
            was_told = post.message_id is not None and error.retry_after is not None
            self.limiter(post.chat).hold(post.chat, seconds, edit=was_told)

    async def _call(self, post: Post, attempts: Attempts) -> Posted:
        if not attempts.unknown:
            attempts.answered = self._unanswered.begin(post.chat)
        try:
            return await self._made(post, attempts)
        except ChannelError as error:
            self.tally.refused(post, error)
            if not attempts.unknown:  # it is certainly not on the screen
                attempts.answered()
            raise

    async def _made(self, post: Post, attempts: Attempts) -> Posted:
        masked_channel = self.masked_channel(post.chat)
        if post.message_id is not None:
            posted = Posted(chat=post.chat, message_id=post.message_id)
            change = masked_channel.remove if post.is_removal else masked_channel.rewrite
            await change(posted, post.message)
            return posted
        is_repeat = attempts.unknown > 0
        posted = await self._look(post, attempts) or await self._send(post, attempts)
        if is_repeat and post.may_read_otherwise and masked_channel.posts_once:
            await masked_channel.rewrite(posted, post.message)
        return posted

    async def _look(self, post: Post, attempts: Attempts) -> Posted | None:
        """Return the message posted by an earlier try. Raises Unconfirmed if that is unknown after a repeat."""
        if not attempts.unknown:
            return None
        search = await self.masked_channel(post.chat).find(
            post.chat, post.message, post.key, await self._store.outbox.known(post)
        )
        if search.may_repeat:
            attempts.unknown = 0
        elif search.found is None and attempts.unknown >= MOST_UNKNOWN:
            raise Unconfirmed
        return search.found

    async def _send(self, post: Post, attempts: Attempts) -> Posted:
        """Send a post. A repeat is stored before it begins, and a first try with what came of it."""
        outbox, channel, is_repeat = self._store.outbox, self.masked_channel(post.chat), attempts.unknown > 0
        if is_repeat:
            await outbox.tried(post.key, attempts.unknown + 1)
        try:
            return await channel.post(post.chat, post.message, post.key)
        except ChannelError as error:
            attempts.unknown += error.ambiguous
            if not is_repeat:
                outbox.tried(post.key, attempts.unknown)
            elif not error.ambiguous:
                outbox.not_sent(post.key, attempts.unknown)
            if error.ambiguous and attempts.unknown >= MOST_UNKNOWN and not channel.posts_once:
                raise Unconfirmed from error
            raise

    async def _give_up(self, post: Post, error: ChannelError) -> None:
        """Record that a post was not sent. Of a progress message that is gone nobody misses the end."""
        if post.is_progress and isinstance(error, MessageGone) and not isinstance(error, EditsRefused):
            log.debug("a progress message is gone", key=post.key, chat=str(post.chat), reason=error.reason)
        else:
            self.tally.ended(post, "failed")
            log.warning("post failed for good", key=post.key, chat=str(post.chat), reason=error.reason)
        if post.is_awaited:
            await self._store.outbox.unconfirmed(post.key, error.reason)
            self.unconfirmed.add(post.chat)
            if self.refused is not None:
                self._background.start(self.refused(post, error.reason), f"show {post.key} elsewhere")
        else:
            await self._store.outbox.failed(post.key, error.reason)

    async def _leave_unconfirmed(self, post: Post, error: Unconfirmed) -> ChannelError:
        """Record that the post may not have arrived. It is offered again when somebody next writes in the chat."""
        self.tally.ended(post, "unconfirmed")
        log.warning("post unconfirmed", key=post.key, chat=str(post.chat))
        if post.is_offer:
            await self._store.outbox.failed(post.key, error.reason)
        else:
            await self._store.outbox.unconfirmed(post.key, error.reason)
            self.unconfirmed.add(post.chat)
        return error
