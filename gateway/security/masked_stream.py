"""Shows runs by the platform's own means, with secrets masked."""

from typing import Self

from channels.base import ChatKey, Posted
from channels.links import show_link_targets
from channels.streams import Live, Stream, StreamEnded
from gateway.security.masked_channel import MaskedChannel

MOST_ABOVE = 4_000
"""Characters of earlier words that are remembered."""


class MaskedStream:
    """Stream wrapper that masks secrets and makes links show their real targets.

    Words that were shown may stay above the next ones, as those before tool calls do on Slack. So both are also looked
    at together: what is cut by a tool call is still a secret.
    """

    def __init__(self, stream: Stream, masked_channel: MaskedChannel, chat: ChatKey) -> None:
        self._stream = stream
        self._masked_channel = masked_channel
        self._chat = chat
        self.is_message = stream.is_message
        """See `Stream.is_message`."""
        self._above = ""
        """Words that were shown, and that the model has replaced since."""
        self._words = ""
        """The words that were shown last."""

    @classmethod
    def of(
        cls, masked_channel: MaskedChannel, chat: ChatKey, *, person: str, reply_to: str | None, key: str
    ) -> Self | None:
        """See `Streams.stream`."""
        streams = masked_channel.streams
        if streams is None:
            return None
        stream = streams.stream(chat, person=person, reply_to=reply_to, key=key)
        return None if stream is None else cls(stream, masked_channel, chat)

    @property
    def posted(self) -> Posted | None:
        """See `Stream.posted`."""
        return self._stream.posted

    def has_news(self, live: Live) -> bool:
        """See `Stream.has_news`."""
        safe = self._safe(live)
        return not self._fits(safe.words) or self._stream.has_news(safe)

    async def show(self, live: Live) -> None:
        """See `Stream.show`."""
        await self._masked_channel.may_send()
        safe = self._safe(live)
        if not self._fits(safe.words):
            raise StreamEnded("with the words above it something else would be shown")
        with self._masked_channel.noticing():
            if self.is_message and self.posted is None:
                await self._begin(safe)
            else:
                await self._stream.show(safe)
        self._above, self._words = self._above_of(safe.words), safe.words

    async def _begin(self, safe: Live) -> None:
        with self._masked_channel.coming(self._chat) as arrived:
            await self._stream.show(safe)
            arrived.extend([self.posted] if self.posted is not None else [])

    def _above_of(self, words: str) -> str:
        if words.startswith(self._words) or not self.is_message:
            return self._above
        return f"{self._above}{self._words}\n\n"[-MOST_ABOVE:]

    def _fits(self, words: str) -> bool:
        """Return True if the words show nothing more together with those above them."""
        above = self._above_of(words)
        return not above or self._safe_text(above + words) == above + words

    def _safe(self, live: Live) -> Live:
        safe = self._masked_channel.secrets.masked(live)
        words = {"text": show_link_targets(safe.text), "words": show_link_targets(safe.words)}
        return safe if words == {"text": safe.text, "words": safe.words} else safe.model_copy(update=words)

    def _safe_text(self, text: str) -> str:
        return show_link_targets(self._masked_channel.secrets.mask(text))
