"""Sends messages to channels with secrets masked. Everything sent to a chat passes through its `MaskedChannel`."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property

import structlog
from msgspec import Struct, field

from channels.base import (
    AccountRefused,
    Channel,
    ChannelError,
    ChatKey,
    ChatMoved,
    MessageGone,
    OutboundMessage,
    Posted,
)
from channels.capabilities import Deletes, FindsSent, ShowsTyping
from channels.links import show_link_targets
from channels.moved import MovedAway
from channels.streams import Streams
from channels.values import Known
from gateway.security.secrets import Secrets

_COMING = ""


def stay(_: ChatMoved) -> None:
    """Leave the chat where it is."""


async def _at_once() -> None:
    """Let everything be sent at once."""


log = structlog.get_logger(__name__)


class Search(Struct, frozen=True):
    """Result of looking for a post whose confirmation was lost."""

    found: Posted | None
    may_repeat: bool
    """True if repeating cannot post twice: nothing arrived, or the platform recognises the key."""


class MaskedChannel(Struct, frozen=True, dict=True):
    """Channel wrapper that masks secrets and makes links show their real targets."""

    channel: Channel
    secrets: Secrets
    may_send: Callable[[], Awaitable[None]] = _at_once
    """Waited for before each call that changes what people see."""
    moved: Callable[[ChatMoved], None] = stay
    """Told when the platform refuses a call because the chat has another id."""
    _newest: dict[ChatKey, str] = field(default_factory=dict)
    """Id of our latest message by chat, until somebody else writes below it; `_COMING` while it is being sent."""

    def other_wrote(self, chat: ChatKey) -> None:
        """Record a message from somebody else."""
        self._newest.pop(chat, None)

    def newest(self, chat: ChatKey) -> str | None:
        """Return the id of our message if it is the last one in the chat, else None."""
        return self._newest.get(chat) or None

    def is_newest(self, posted: Posted) -> bool:
        """Return True if nothing was written in the chat since that message."""
        return self.newest(posted.chat) == posted.message_id

    def wrote_since(self, chat: ChatKey, newest: str | None) -> bool:
        """Return True if a message of ours was sent to the chat since `newest` was the last one there."""
        return self._newest.get(chat, newest) != newest

    @property
    def posts_once(self) -> bool:
        """True if a post can be repeated safely, without appearing twice."""
        return self.channel.limits.keeps_keys or isinstance(self.channel, FindsSent)

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """Split into as many messages as the platform needs, masked first, since half a secret is not recognised."""
        return self.channel.split(self._safe(message))

    async def post(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """See `Channel.send`."""
        await self.may_send()
        with self.coming(chat) as arrived, self.noticing():
            arrived.append(await self.channel.send(chat, self._safe(message), key))
        return arrived[0]

    @contextmanager
    def coming(self, chat: ChatKey) -> Iterator[list[Posted]]:
        """Note that a message of ours is being sent. The block adds it to the list once it has arrived."""
        before, self._newest[chat] = self._newest.get(chat), _COMING
        arrived: list[Posted] = []
        try:
            yield arrived
        except ChannelError as error:
            if not error.ambiguous:
                self._did_not_come(chat, before)
            raise
        if not arrived:
            self._did_not_come(chat, before)
        elif chat in self._newest:  # else somebody wrote meanwhile, and may have seen it already
            self._newest[chat] = arrived[0].message_id

    def _did_not_come(self, chat: ChatKey, before: str | None) -> None:
        if self._newest.get(chat) != _COMING:
            return
        if before is None:
            del self._newest[chat]
        else:
            self._newest[chat] = before

    async def rewrite(self, posted: Posted, message: OutboundMessage) -> None:
        """See `Channel.edit`."""
        await self.may_send()
        with self.noticing():
            await self.channel.edit(posted, self._safe(message))

    @cached_property
    def deletes(self) -> bool:
        """True if the platform allows deleting messages."""
        return isinstance(self.channel, Deletes)

    @cached_property
    def streams(self) -> Streams | None:
        """The channel, if it shows runs by means of its own."""
        return self.channel if isinstance(self.channel, Streams) else None

    @cached_property
    def shows_typing(self) -> ShowsTyping | None:
        """The channel, if it has a typing indicator."""
        return self.channel if isinstance(self.channel, ShowsTyping) else None

    async def delete(self, posted: Posted) -> None:
        """Delete a message. Raises ChannelError, also if the platform has no deletion."""
        if not isinstance(self.channel, Deletes):
            raise ChannelError("messages cannot be deleted there", permanent=True)
        await self.may_send()
        with self.noticing():
            await self.channel.delete(posted)

    async def remove(self, posted: Posted, otherwise: OutboundMessage) -> None:
        """Delete a message; if that is refused for good, replace its text with `otherwise`. Raises ChannelError."""
        if isinstance(self.channel, Deletes):
            try:
                await self.delete(posted)
            except ChannelError as error:
                if not error.permanent or isinstance(error, AccountRefused):
                    raise
            else:
                return
        with suppress(MessageGone):
            await self.rewrite(posted, otherwise)

    async def find(self, chat: ChatKey, message: OutboundMessage, key: str, known: Known) -> Search:
        """Look for the result of an earlier post with this key. Raises ChannelError if retrying may help."""
        if not isinstance(self.channel, FindsSent):
            return Search(None, may_repeat=self.channel.limits.keeps_keys)
        try:
            found = await self.channel.find_sent(chat, self._safe(message), key, known)
        except ChannelError as error:
            if not error.permanent:
                raise
            log.warning("cannot check if the message was sent", key=key, chat=str(chat), reason=error.reason)
            return Search(None, may_repeat=False)
        return Search(found, may_repeat=found is None)

    @contextmanager
    def noticing(self) -> Iterator[None]:
        """Tell of a chat that has another id, where the platform refuses the call in the block for it."""
        try:
            yield
        except MovedAway as error:
            self.moved(error.event)
            raise

    def _safe(self, message: OutboundMessage) -> OutboundMessage:
        safe = self.secrets.masked(message)
        words = {"markdown": show_link_targets(safe.markdown), "reasoning": show_link_targets(safe.reasoning)}
        same = (words["markdown"], words["reasoning"]) == (safe.markdown, safe.reasoning)
        return safe if same else safe.model_copy(update=words)
