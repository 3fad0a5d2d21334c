"""Drafts: previews in private chats, which Telegram shows while a message is being written.

A draft is gone after 30 s or with the bot's next message. It has no buttons, so tools that run, and answers that take
long, are shown by a message. One that is refused for now only pauses: no message waits for it.
"""

import hashlib
import logging
from collections.abc import Awaitable, Callable

from channels.base import ChannelError, OutboundMessage, Posted
from channels.streams import Live, StreamEnded
from channels.telegram.render import Rendered, render, split

log = logging.getLogger(__name__)

LONGEST = 10.0
"""Seconds of a run after which a message with a button to stop takes the place of the draft."""
PAUSE = 3.0
"""Seconds until a draft is sent again after a failure, if Telegram named no wait."""
_THINKING = Rendered("", ())
"""Telegram shows an animation in the place of an empty text."""


class Draft:
    """A draft of one run. Implements `Stream`."""

    is_message = False
    posted: Posted | None = None

    def __init__(self, write: Callable[[int, Rendered], Awaitable[object]], key: str, now: Callable[[], float]) -> None:
        """`write` sends the draft with an id and a text; changes of a draft with the same id are animated."""
        self._write = write
        self._id = 1 + int.from_bytes(hashlib.sha256(key.encode()).digest()[:3], "big")
        self._shown: Rendered | None = None
        self._now = now
        self._began = self._pauses_until = now()

    def has_news(self, live: Live) -> bool:
        """See `Stream.has_news`."""
        return self._is_over(live) or (self._now() >= self._pauses_until and _rendered(live) != self._shown)

    async def show(self, live: Live) -> None:
        """See `Stream.show`."""
        if self._is_over(live):
            raise StreamEnded("a message has a button to stop")
        shown = _rendered(live)
        try:
            await self._write(self._id, shown)
        except ChannelError as error:
            if error.permanent:
                raise StreamEnded(error.reason) from error
            log.info("no draft: %s", error.reason)
            self._pauses_until = self._now() + (PAUSE if error.retry_after is None else error.retry_after)
        else:
            self._shown = shown

    def _is_over(self, live: Live) -> bool:
        is_working = any(call.state in ("running", "waiting") for call in live.calls)
        return is_working or self._now() - self._began > LONGEST


def _rendered(live: Live) -> Rendered:
    if not (live.words or live.note or live.calls):
        return _THINKING
    return render(split(OutboundMessage(markdown=live.text))[0].markdown)
