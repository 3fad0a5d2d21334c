"""All routes of the page, among them those of the list of conversations: its pages, the search, changes of an entry."""

import structlog
from aiohttp import web

from channels.base import ChatKey
from channels.text import in_utc
from channels.web.adapter import WebChannel
from channels.web.chat_routes import ChatRoutes
from channels.web.conversation import Past, Shown, Wire
from channels.web.entrance import Entrance, compressed, on_the_list
from channels.web.file_routes import FileRoutes
from channels.web.listing import name_of
from channels.web.requests import Changed, asked_chat, chat_of, read, visitor_of

log = structlog.get_logger(__name__)

LONGEST_SEARCH = 200
"""Characters."""


def routes_of(channel: WebChannel) -> list[web.RouteDef]:
    """Return the routes for a server, to be mounted behind its access control."""
    entrance = Entrance(channel)
    parts = ChatRoutes(channel, entrance), ListRoutes(channel, entrance), FileRoutes(channel, entrance)
    return [route for part in parts for route in part.routes()]


class ListRoutes:
    """Handles the requests about the list."""

    def __init__(self, channel: WebChannel, entrance: Entrance) -> None:
        self._channel = channel
        self._entrance = entrance

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/conversations", self._get_list),
            web.get("/api/conversations/search", self._get_found),
            web.get("/api/conversations/export", self._get_export),
            web.post("/api/conversations", self._post_change),
        ]

    async def _get_list(self, request: web.Request) -> web.Response:
        owner = visitor_of(request).chat()
        await self._entrance.authorize(request, owner)
        try:
            page = await self._channel.listing.of(owner, request.query.get("after", ""))
        except ValueError as error:
            raise web.HTTPBadRequest(text="there is no such place in the list") from error
        return compressed({"conversations": [on_the_list(each) for each in page.entries], "more": page.more})

    async def _get_found(self, request: web.Request) -> web.Response:
        owner = visitor_of(request).chat()
        await self._entrance.authorize(request, owner)
        hits = await self._channel.listing.find(owner, request.query.get("words", "")[:LONGEST_SEARCH])
        return compressed({"found": [on_the_list(each.entry) | {"words": each.words} for each in hits]})

    async def _get_export(self, request: web.Request) -> web.StreamResponse:
        """Answer with a whole conversation as a file of Markdown, its oldest message first."""
        chat = asked_chat(request)
        await self._entrance.authorize(request, chat)
        pages: list[Past] = [await self._channel.history(chat, "")]
        while pages[-1].before:
            pages.append(await self._channel.history(chat, pages[-1].before))
        answer = web.StreamResponse(
            headers={
                "Content-Type": "text/markdown; charset=utf-8",
                "Content-Disposition": f'attachment; filename="parley-{name_of(chat)[:8]}.md"',
            }
        )
        await answer.prepare(request)
        for message in (each for past in reversed(pages) for each in past.messages):
            await answer.write(_exported(message, self._channel.config.person).encode())
        return answer

    async def _post_change(self, request: web.Request) -> web.Response:
        """Rename, pin, delete or bring back a conversation, or note that it was seen; all tabs are told."""
        changed = await read(request, Changed)
        chat = chat_of(request, changed.conversation)
        await self._entrance.authorize(request, chat)
        told = await self._change(chat, changed)
        self._channel.rooms.tell(chat, told)
        log.debug("page_conversation", chat=str(chat), changed=sorted(told))
        return web.json_response(told)

    async def _change(self, chat: ChatKey, changed: Changed) -> Wire:
        listing, told = self._channel.listing, Wire()
        if changed.title is not None:
            told["title"] = await listing.rename(chat, changed.title)
        if changed.pinned is not None:
            await listing.pin(chat, pinned=changed.pinned)
            told["pinned"] = changed.pinned
        if changed.seen:
            await listing.see(chat)
            told["unread"] = False
        if changed.deleted is not None:
            await listing.delete(chat, deleted=changed.deleted)
            told["deleted"] = changed.deleted
        return told


def _exported(message: Shown, person: str) -> str:
    """Return a message as a part of an exported conversation."""
    at = in_utc(message.at) or "–"
    files = "".join(f"- {each.safe_name}\n" for each in message.attachments)
    who = person if message.who == "person" else "Parley"
    return "\n\n".join(filter(None, (f"## {who}, {at}", message.markdown, files))) + "\n\n"
