"""The routes of a conversation: what was said, events as they occur, and what the visitor says, edits and presses."""

from collections.abc import Sequence
from contextlib import aclosing

import structlog
from aiohttp import web

from channels.attachments import Attachment
from channels.base import Accepted, ButtonPressed, ChatKey, MessageEdited, MessageReceived
from channels.commands import Typed
from channels.text import parse_command
from channels.web.adapter import WebChannel
from channels.web.attachments import is_of
from channels.web.conversation import Shown
from channels.web.entrance import Entrance, compressed
from channels.web.listing import LONGEST_TITLE
from channels.web.requests import Asked, Pressed, Said, asked_chat, chat_of, read, visitor_of

log = structlog.get_logger(__name__)


class ChatRoutes:
    """Handles the requests of a conversation."""

    def __init__(self, channel: WebChannel, entrance: Entrance) -> None:
        self._channel = channel
        self._entrance = entrance

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/history", self._get_history),
            web.get("/api/events", self._get_events),
            web.get("/api/calls", self._get_call),
            web.get("/api/commands", self._get_commands),
            web.post("/api/suggestions", self._post_suggestions),
            web.post("/api/messages", self._post_message),
            web.post("/api/buttons", self._post_button),
        ]

    async def _get_history(self, request: web.Request) -> web.Response:
        """Answer with the newest messages, or with those before a place."""
        chat, before = asked_chat(request), request.query.get("before", "")
        await self._entrance.authorize(request, chat)
        try:
            past = await self._channel.history(chat, before)
        except ValueError as error:
            raise web.HTTPBadRequest(text="there is no such place in the conversation") from error
        room = self._channel.rooms.of(chat)
        # Nothing may be awaited between these lines, or the page would miss messages that arrive in between.
        messages = room.conversation.older(past) if before else room.conversation.with_history(past)
        return compressed({"messages": messages, "before": past.before, "last": room.ring.last})

    async def _get_events(self, request: web.Request) -> web.StreamResponse:
        chat = asked_chat(request)
        await self._entrance.authorize(request, chat)
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        after = request.headers.get("Last-Event-ID") or request.query.get("after", "")
        try:
            await stream.prepare(request)
            await stream.write(b"retry: 1000\n\n")
            async with aclosing(self._channel.rooms.read(chat, after)) as events:
                async for event in events:
                    await stream.write(event)
        except ConnectionResetError:  # the tab was closed
            log.debug("page_left")
        return stream

    async def _get_call(self, request: web.Request) -> web.Response:
        """Answer with what is stored of a tool call that a message shows."""
        chat = asked_chat(request)
        await self._entrance.authorize(request, chat)
        detail = await self._channel.detail(chat, request.query.get("message", ""), request.query.get("call", ""))
        if detail is None:
            raise web.HTTPNotFound(text="nothing is stored of this call")
        return compressed(detail.model_dump())

    async def _get_commands(self, _: web.Request) -> web.Response:
        specs = self._channel.menu.commands
        return compressed(
            [
                command.model_dump(mode="json")
                | {"options": [option.model_dump(mode="json") for option in command.options]}
                for command in specs
            ]
        )

    async def _post_suggestions(self, request: web.Request) -> web.Response:
        """Answer with values for an argument of a command that is being typed."""
        asked = await read(request, Asked)
        chat = chat_of(request, asked.conversation)
        await self._entrance.authorize(request, chat)
        typed = Typed(command=asked.command, option=asked.option, text=asked.text, before=asked.before)
        found = await self._channel.menu.suggest(chat, self._entrance.sender(request), typed)
        return compressed([each.model_dump() for each in found])

    async def _post_message(self, request: web.Request) -> web.Response:
        said = await read(request, Said)
        chat = chat_of(request, said.conversation)
        if said.instead_of:
            return await self._edit(request, chat, said)
        inbox, at = self._entrance.listening(), self._channel.now()
        attachments = await self._attachments(request, said.files)
        message = MessageReceived(
            event_id=f"web:{said.id}",
            chat=chat,
            sender=self._entrance.sender(request),
            at=at,
            message_id=said.id,
            text=said.text,
            attachments=attachments,
        )
        command = None if attachments else parse_command(said.text, (self._channel.name,))
        accepted = await inbox(message.as_command(command.name, command.arguments) if command else message)
        if accepted is Accepted.NEW:
            self._heard(
                chat, Shown(who="person", message_id=said.id, markdown=said.text, at=at, attachments=attachments)
            )
        log.info("page_message", event_id=f"web:{said.id}", accepted=accepted.value, chars=len(said.text))
        return web.json_response({"accepted": accepted.value})

    async def _edit(self, request: web.Request, chat: ChatKey, said: Said) -> web.Response:
        at = self._channel.now()
        accepted = await self._entrance.listening()(
            MessageEdited(
                event_id=f"web:{said.id}",
                chat=chat,
                sender=self._entrance.sender(request),
                at=at,
                message_id=said.instead_of,
                text=said.text,
            )
        )
        if accepted is Accepted.NEW:
            await self._channel.reword(chat, said.instead_of, said.text)
        log.info("page_edit", event_id=f"web:{said.id}", accepted=accepted.value)
        return web.json_response({"accepted": accepted.value})

    async def _post_button(self, request: web.Request) -> web.Response:
        pressed, at = await read(request, Pressed), self._channel.now()
        chat = chat_of(request, pressed.conversation)
        accepted = await self._entrance.listening()(
            ButtonPressed(
                event_id=f"web:{pressed.id}",
                chat=chat,
                sender=self._entrance.sender(request),
                at=at,
                message_id=pressed.message_id,
                action=pressed.action,
            )
        )
        if accepted is Accepted.NEW and not pressed.action.startswith("/"):  # shown as the visitor's message
            self._heard(chat, Shown(who="person", message_id=pressed.id, markdown=pressed.action, at=at))
        log.info("page_button", event_id=f"web:{pressed.id}", accepted=accepted.value)
        return web.json_response({"accepted": accepted.value})

    def _heard(self, chat: ChatKey, message: Shown) -> None:
        self._channel.rooms.of(chat).show(message)
        said = message.markdown or ", ".join(each.safe_name for each in message.attachments)
        self._channel.listing.heard(chat, said, message.at)
        words = " ".join(said[: 4 * LONGEST_TITLE].split())[:LONGEST_TITLE]
        self._channel.rooms.tell(chat, {"at": message.at, "words": words})

    async def _attachments(self, request: web.Request, references: Sequence[str]) -> tuple[Attachment, ...]:
        mark = visitor_of(request).mark
        found = [await self._channel.uploads.find(each) if is_of(each, mark) else None for each in references]
        if None in found:
            raise web.HTTPBadRequest(text="a file of this message no longer exists")
        return tuple(each[1] for each in found if each)
