"""Shows runs by the platform's own means, with secrets masked."""

from typing import Self

from channels.base import ChatKey, Posted
from channels.links import show_link_targets
from channels.streams import Live, Stream, Streams
from gateway.security.masked_channel import MaskedChannel


class MaskedStream:
    """Stream wrapper that masks secrets and makes links show their real targets."""

    def __init__(self, stream: Stream, masked_channel: MaskedChannel) -> None:
        self._stream = stream
        self._masked_channel = masked_channel

    @classmethod
    def of(
        cls, masked_channel: MaskedChannel, chat: ChatKey, *, person: str, reply_to: str | None, key: str
    ) -> Self | None:
        """See `Streams.stream`."""
        channel = masked_channel.channel
        if not isinstance(channel, Streams):
            return None
        stream = channel.stream(chat, person=person, reply_to=reply_to, key=key)
        return None if stream is None else cls(stream, masked_channel)

    @property
    def posted(self) -> Posted | None:
        """See `Stream.posted`."""
        return self._stream.posted

    def has_news(self, live: Live) -> bool:
        """See `Stream.has_news`."""
        return self._stream.has_news(self._safe(live))

    async def show(self, live: Live) -> None:
        """See `Stream.show`."""
        await self._masked_channel.may_send()
        had = self.posted
        with self._masked_channel.noticing():
            await self._stream.show(self._safe(live))
        if had is None and self.posted is not None:
            self._masked_channel.note_posted(self.posted)

    def _safe(self, live: Live) -> Live:
        safe = self._masked_channel.secrets.masked(live)
        words = {"text": show_link_targets(safe.text), "words": show_link_targets(safe.words)}
        return safe if words == {"text": safe.text, "words": safe.words} else safe.model_copy(update=words)
