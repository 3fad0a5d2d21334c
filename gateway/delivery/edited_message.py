"""The message that shows a run and is edited in place."""

from contextlib import suppress

from agent_core.clock import Clock
from agent_core.origin import CLEAN, NOT_KNOWN
from channels.base import ChannelError, OutboundMessage, Posted
from channels.capabilities import Deletes
from gateway.security.masked_channel import MaskedChannel
from gateway.store.rows import Post, Run
from gateway.store.store import Store


def progress_key(run: Run) -> str:
    """Return the idempotency key of a run's progress message."""
    return f"{run.id}:progress:0"


class EditedMessage:
    """Posts one message and edits it afterwards; posts another if that is gone."""

    def __init__(
        self, masked_channel: MaskedChannel, run: Run, store: Store, clock: Clock, posted: Posted | None
    ) -> None:
        """`posted` is the message of an earlier process, if there is one."""
        self.posted = posted
        """The message in the chat, if any."""
        self.posted_at: float | None = None
        """Time of `Clock.monotonic` at which this process posted it."""
        self.may_have_arrived = False
        """True if the platform may have posted the first message although the call failed."""
        self._masked_channel = masked_channel
        self._run = run
        self._store = store
        self._clock = clock
        self._began = clock.time()
        self._lost = 0
        """Number of this run's messages that were deleted or can no longer be edited."""
        self._last: OutboundMessage | None = None
        """The message last sent or tried."""

    async def show(self, message: OutboundMessage) -> None:
        """Post or edit the message. Raises ChannelError."""
        self._last = message
        try:
            if self.posted is None:
                await self._post(message)
            else:
                await self._masked_channel.rewrite(self.posted, message)
        except ChannelError as error:
            self.may_have_arrived |= error.ambiguous
            raise

    def begun_unconfirmed(self, message: OutboundMessage) -> None:
        """Note that a stream may have posted a message although its call failed. `message` is what it shows."""
        self._last, self.may_have_arrived = message, True

    async def adopt(self) -> None:
        """Post again under the same key, to find the message whose confirmation was lost; it becomes the answer."""
        if self._last is not None:
            with suppress(ChannelError):
                await self._post(self._last)

    async def take_over(self, posted: Posted, message: OutboundMessage) -> None:
        """Record a message that a stream has posted, to edit it from now on. `message` is what it shows."""
        self.posted, self.posted_at = posted, self._clock.monotonic()
        # the calls of a task stand in it before the task's report brings their origin into the run
        post = Post(progress_key(self._run), self._run.id, self._run.chat, message, NOT_KNOWN)
        await self._store.outbox.shown(post, posted)

    async def let_go(self) -> None:
        """Give up a message that cannot be edited any more, and delete it if the platform allows it."""
        gone, self.posted = self.posted, None
        self._lost += 1
        if gone is not None and isinstance(self._masked_channel.channel, Deletes):
            with suppress(ChannelError):
                await self._masked_channel.channel.delete(gone)

    async def _post(self, message: OutboundMessage) -> None:
        """Post the first message, or another after a loss under a new key: the old one may return the lost message."""
        run, key = self._run, progress_key(self._run)
        fresh = f"{key}.{self._lost}" if self._lost else key
        found = None
        if self.may_have_arrived:
            known = await self._store.outbox.known(Post(key, run.id, run.chat, message, CLEAN, at=self._began))
            found = (await self._masked_channel.find(run.chat, message, fresh, known)).found
        await self.take_over(found or await self._masked_channel.post(run.chat, message, fresh), message)
