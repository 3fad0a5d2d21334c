"""The chats' exit: whatever is said on a channel is said through its voice, and nowhere else."""

from dataclasses import dataclass, field

import structlog

from channels.base import Channel, ChannelError, ChatKey, FindsSent, OutboundMessage, Posted
from gateway.masking import masked
from gateway.secrets import Secrets

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Voice:
    """Says messages on one channel without their secrets."""

    channel: Channel
    secrets: Secrets
    _newest: dict[ChatKey, str] = field(default_factory=dict)

    def spoke_last(self, posted: Posted) -> bool:
        """Whether we have posted nothing else in that chat since."""
        return self._newest.get(posted.chat) == posted.message_id

    @property
    def posts_once(self) -> bool:
        """Whether a post may be repeated without its being seen twice."""
        return self.channel.limits.keeps_keys or isinstance(self.channel, FindsSent)

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """In as many messages as the platform needs; first of all masked, for a secret that is cut is not found."""
        return self.channel.split(self._safe(message))

    async def post(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """See `Channel.send`."""
        posted = await self.channel.send(chat, self._safe(message), key)
        self._newest[chat] = posted.message_id
        return posted

    async def rewrite(self, posted: Posted, message: OutboundMessage) -> None:
        """See `Channel.edit`."""
        await self.channel.edit(posted, self._safe(message))

    async def find(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted | None:
        """What an earlier post with this key has made. Where the platform does not let us look, there is nothing: that
        it may be seen twice is better than that it is not seen. Raises ChannelError where looking again is of use."""
        if not isinstance(self.channel, FindsSent):
            return None
        try:
            return await self.channel.find_sent(chat, self._safe(message), key)
        except ChannelError as error:
            if not error.permanent:
                raise
            log.warning("not looked whether it was sent", key=key, chat=str(chat), reason=error.reason)
            return None

    def _safe(self, message: OutboundMessage) -> OutboundMessage:
        return masked(message, self.secrets.mask)
