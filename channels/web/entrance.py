"""Asks the gateway about each request of the page, as for any event of a platform."""

from collections.abc import Mapping
from typing import Literal

from aiohttp import web

from channels.base import Accepted, ChatKey, Inbox, RequestMade, Sender
from channels.web.adapter import WebChannel
from channels.web.conversation import Wire
from channels.web.listing import Entry, name_of
from channels.web.requests import visitor_of

ZONE_HEADER = "X-Parley-Zone"
"""Time zone of the browser."""
LONGEST_ZONE = 60


class Entrance:
    """Shared by all routes of the page: finds who asks and if they may, and hands their events to the gateway."""

    def __init__(self, channel: WebChannel) -> None:
        self._channel = channel

    async def authorize(
        self, request: web.Request, chat: ChatKey, what: Literal["upload", "download", "page"] = "page"
    ) -> None:
        """Ask the inbox like for any event; until it listens, only the visitor's cookie protects what is read.

        Raises web.HTTPForbidden, or HTTPServiceUnavailable for an upload that comes too early.
        """
        inbox = self.listening() if what == "upload" else self._channel.inbox
        if inbox is None:
            return
        sender, at = self.sender(request), self._channel.now()
        asked = RequestMade(event_id=f"web:{what}:{at}", chat=chat, sender=sender, at=at, what=what)
        if await inbox(asked) in (Accepted.REFUSED, Accepted.IGNORED):
            raise web.HTTPForbidden(text="you may not speak with Parley here")

    def listening(self) -> Inbox:
        """Return the handler of events. Raises web.HTTPServiceUnavailable while Parley starts."""
        inbox = self._channel.inbox
        if inbox is None:
            raise web.HTTPServiceUnavailable(text="Parley is starting", headers={"Retry-After": "1"})
        return inbox

    def sender(self, request: web.Request) -> Sender:
        language = request.headers.get("Accept-Language", "").split(",")[0].split(";")[0].strip()
        zone = request.headers.get(ZONE_HEADER, "")
        is_short = len(zone) <= LONGEST_ZONE
        return visitor_of(request).sender(self._channel.config.person, language or None, (is_short and zone) or None)


WORTH_COMPRESSING = 1024
"""Bytes."""


def compressed(content: Mapping[str, object] | list[Wire]) -> web.Response:
    """Return an answer in JSON, compressed where it is worth it."""
    answer = web.json_response(content)
    if answer.content_length and answer.content_length > WORTH_COMPRESSING:
        answer.enable_compression()
    return answer


def on_the_list(entry: Entry) -> Wire:
    """Return an entry of the list as the page reads it."""
    return {
        "id": name_of(entry.chat),
        "title": entry.title,
        "at": entry.last,
        "pinned": entry.is_pinned,
        "unread": entry.is_unread,
    }
