"""The web page's channel: one user, one chat, any number of tabs. The web server mounts its routes.

There is no access control here: the server that mounts the routes admits only the user.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import structlog
from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from channels.attachments import Attachment
from channels.base import (
    Accepted,
    ButtonPressed,
    ChannelError,
    ChatKey,
    Inbox,
    Menu,
    MessageGone,
    MessageReceived,
    OutboundMessage,
    Posted,
    RequestMade,
    Sender,
)
from channels.commands import CommandSpec
from channels.limits import Limits
from channels.text import parse_command
from channels.values import Text
from channels.web.attachments import TooLarge, Uploads
from channels.web.config import Config
from channels.web.conversation import Conversation, EventRing, Shown, file_reference

log = structlog.get_logger(__name__)

MAX_FILES = 20
"""Files per message."""
ClientId = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{8,64}$")]
"""Id that the page creates per request; a repeated request has the same id and counts once."""
History = Callable[[ChatKey], Awaitable[Sequence[Shown]]]
"""Returns the stored messages of a chat, oldest first."""
CHAT = ChatKey(platform="web", account="local", chat="main")
SENDER_ID = "local"


class _Posted(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Posted):
    id: ClientId
    text: Text
    files: Annotated[tuple[str, ...], Field(max_length=MAX_FILES)] = ()
    """References returned by the upload."""


class Pressed(_Posted):
    id: ClientId
    message_id: Annotated[str, Field(max_length=64)]
    action: Annotated[Text, Field(max_length=64)]


Body = TypeVar("Body", Said, Pressed)


async def read(request: web.Request, kind: type[Body]) -> Body:
    """Parse a request. Raises web.HTTPException with a sentence if it is invalid."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="only JSON is accepted")
    try:  # pydantic's JSON parser rejects lone surrogates, which a browser may send
        content = json.loads(await request.read())
    except (ValueError, RecursionError) as error:
        raise web.HTTPBadRequest(text="the request cannot be read: no JSON") from error
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        fields = sorted({str(each["loc"][0]) if each["loc"] else "body" for each in error.errors()})
        raise web.HTTPBadRequest(text=f"the request cannot be read: {', '.join(fields)}") from error


class WebChannel:
    """Implements Channel, ShowsTyping, Downloads, Deletes, KeepsFiles and HasOwnChat."""

    name = "web"
    own_chat = CHAT

    def __init__(
        self,
        config: Config,
        *,
        history: History,
        uploads: Path,
        now: Callable[[], float] = time.time,
        ring: EventRing | None = None,
    ) -> None:
        """`uploads` is the folder for the chat's files, created when first needed."""
        self.limits = Limits(
            max_text=1_000_000,
            edit_every=timedelta(seconds=0.1),
            edit_every_in_groups=timedelta(seconds=0.1),
            burst=20,
            keeps_keys=True,
            is_local=True,
            words_after=timedelta(0),
            folds_reasoning=True,
            max_upload=config.max_upload,
        )
        self._config = config
        self._history = history
        self._uploads = Uploads(uploads, config.max_upload)
        self._now = now
        self._ring = ring or EventRing()
        self._conversation = Conversation()
        self._inbox: Inbox | None = None
        self._commands: tuple[CommandSpec, ...] = ()

    def routes(self) -> list[web.RouteDef]:
        """Return the routes for a server, to be mounted behind its access control."""
        return [
            web.get("/api/history", self._get_history),
            web.get("/api/events", self._get_events),
            web.get("/api/commands", self._get_commands),
            web.post("/api/messages", self._post_message),
            web.post("/api/buttons", self._post_button),
            web.post("/api/files", self._post_files),
            web.get("/api/files/{reference}", self._get_file),
        ]

    # Channel protocol

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        self._inbox, self._commands = inbox, menu.commands
        try:
            await asyncio.Event().wait()
        finally:
            self._inbox = None

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Show a message. Its id derives from the key, so that a send retried after a restart does not show it
        twice."""
        posted = Posted(chat=chat, message_id=hashlib.sha256(key.encode()).hexdigest()[:32], at=self._now())
        if posted.message_id not in self._conversation and not self._conversation.is_deleted(posted.message_id):
            await self._show(posted, message, self._now())
        return posted

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        if self._conversation.is_deleted(posted.message_id):
            raise MessageGone("this message was deleted")
        at = self._now()
        if posted.message_id not in self._conversation:  # posted before a restart
            at = next((each.at for each in await self._history(CHAT) if each.message_id == posted.message_id), at)
        await self._show(posted, message, at)

    async def delete(self, posted: Posted) -> None:
        if not self._conversation.is_deleted(posted.message_id):
            self._ring.put(self._conversation.delete(posted.message_id))

    async def typing(self, chat: ChatKey) -> bool:
        _check(chat)
        self._ring.put({"type": "typing", "at": self._now()})
        return True

    async def delete_files(self, chat: ChatKey) -> None:
        """Delete all files; the page has one chat."""
        await self._uploads.delete_all()

    async def download(self, attachment: Attachment) -> bytes:
        found = await self._uploads.find(attachment.reference)
        if found is None:
            raise ChannelError(f"{attachment.safe_name} no longer exists", permanent=True)
        return await asyncio.to_thread(found[0].read_bytes)

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """Return the message unchanged; the page has no limit."""
        return (message,)

    def is_group(self, _: ChatKey) -> bool:
        return False

    async def close(self) -> None:
        """End the event streams; tabs reconnect until the server is back."""
        self._ring.close()

    async def _show(self, posted: Posted, message: OutboundMessage, at: float) -> None:
        _check(posted.chat)
        for index, each in enumerate(message.attachments):
            if each.path:
                await self._uploads.take(each, file_reference(posted.message_id, index))
        self._put(
            Shown(
                who="parley",
                message_id=posted.message_id,
                markdown=message.markdown,
                reasoning=message.reasoning,
                at=at,
                buttons=message.buttons,
                attachments=message.attachments,
            )
        )

    def _put(self, shown: Shown) -> None:
        event = self._conversation.put(shown)
        if event:
            self._ring.put(event)

    # Handlers of the routes

    async def _get_history(self, request: web.Request) -> web.Response:
        await self._authorize(request, "page")
        history = await self._history(CHAT)
        # Nothing may be awaited between these two lines, or the page would miss messages that arrive in between.
        return web.json_response({"messages": self._conversation.with_history(history), "last": self._ring.last})

    async def _get_events(self, request: web.Request) -> web.StreamResponse:
        await self._authorize(request, "page")
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await stream.prepare(request)
        after = request.headers.get("Last-Event-ID") or request.query.get("after", "")
        try:
            await stream.write(b"retry: 1000\n\n")
            async with aclosing(self._ring.read(after)) as events:
                async for event in events:
                    await stream.write(event)
        except ConnectionResetError:  # the tab was closed
            log.debug("page_left")
        return stream

    async def _get_commands(self, _: web.Request) -> web.Response:
        return web.json_response([command.model_dump() for command in self._commands])

    async def _post_message(self, request: web.Request) -> web.Response:
        said = await read(request, Said)
        inbox, at = self._listening(), self._now()
        attachments = await self._attachments(said.files)
        message = MessageReceived(
            event_id=f"web:{said.id}",
            chat=CHAT,
            sender=self._sender(request),
            at=at,
            message_id=said.id,
            text=said.text,
            attachments=attachments,
        )
        command = None if attachments else parse_command(said.text, (self.name,))
        accepted = await inbox(message.as_command(command.name, command.arguments) if command else message)
        if accepted is Accepted.NEW:
            self._put(Shown(who="person", message_id=said.id, markdown=said.text, at=at, attachments=attachments))
        log.info("page_message", event_id=f"web:{said.id}", accepted=accepted.value, chars=len(said.text))
        return web.json_response({"accepted": accepted.value})

    async def _post_button(self, request: web.Request) -> web.Response:
        pressed, at = await read(request, Pressed), self._now()
        accepted = await self._listening()(
            ButtonPressed(
                event_id=f"web:{pressed.id}",
                chat=CHAT,
                sender=self._sender(request),
                at=at,
                message_id=pressed.message_id,
                action=pressed.action,
            )
        )
        if accepted is Accepted.NEW and not pressed.action.startswith("/"):  # shown as the user's message
            self._put(Shown(who="person", message_id=pressed.id, markdown=pressed.action, at=at))
        log.info("page_button", event_id=f"web:{pressed.id}", accepted=accepted.value)
        return web.json_response({"accepted": accepted.value})

    async def _post_files(self, request: web.Request) -> web.Response:
        if request.content_type != "multipart/form-data":
            raise web.HTTPUnsupportedMediaType(text="only a form with files is accepted")
        await self._authorize(request, "upload")
        received: list[Attachment] = []
        try:
            async for part in await request.multipart():
                if not isinstance(part, BodyPartReader) or part.filename is None:
                    raise web.HTTPBadRequest(text="only a form with files is accepted")
                if len(received) == MAX_FILES:
                    raise web.HTTPBadRequest(text=f"at most {MAX_FILES} files at once")
                received.append(await self._uploads.receive(part))
        except TooLarge as error:
            raise web.HTTPRequestEntityTooLarge(self._config.max_upload, text=error.reason) from error
        except (ValueError, HttpProcessingError) as error:
            raise web.HTTPBadRequest(text="the form cannot be read") from error
        log.info("page_files", files=len(received), bytes=sum(each.size or 0 for each in received))
        return web.json_response({"files": [_as_json(each) for each in received]})

    async def _get_file(self, request: web.Request) -> web.FileResponse:
        await self._authorize(request, "download")
        found = await self._uploads.find(request.match_info["reference"])
        if found is None:
            raise web.HTTPNotFound(text="there is no such file")
        path, attachment = found
        inline = attachment.is_image  # other types only as downloads: no file of a model may run as a page
        return web.FileResponse(
            path,
            headers={
                "Content-Type": attachment.mime_type if inline else "application/octet-stream",
                "Content-Disposition": "inline" if inline else "attachment",
                "Content-Security-Policy": "default-src 'none'; sandbox",
            },
        )

    async def _attachments(self, references: Sequence[str]) -> tuple[Attachment, ...]:
        found = [await self._uploads.find(reference) for reference in references]
        if None in found:
            raise web.HTTPBadRequest(text="a file of this message no longer exists")
        return tuple(each[1] for each in found if each)

    async def _authorize(self, request: web.Request, what: Literal["upload", "download", "page"]) -> None:
        """Ask the inbox like for any event; until it listens, only the owner's cookie protects what is read.

        Raises web.HTTPForbidden, or HTTPServiceUnavailable for an upload that comes too early.
        """
        inbox = self._listening() if what == "upload" else self._inbox
        if inbox is None:
            return
        sender, at = self._sender(request), self._now()
        asked = RequestMade(event_id=f"web:{what}:{at}", chat=CHAT, sender=sender, at=at, what=what)
        if await inbox(asked) in (Accepted.REFUSED, Accepted.IGNORED):
            raise web.HTTPForbidden(text="you may not speak with Parley here")

    def _listening(self) -> Inbox:
        if self._inbox is None:
            raise web.HTTPServiceUnavailable(text="Parley is starting", headers={"Retry-After": "1"})
        return self._inbox

    def _sender(self, request: web.Request) -> Sender:
        language = request.headers.get("Accept-Language", "").split(",")[0].split(";")[0].strip()
        return Sender(id=SENDER_ID, name=self._config.person, language=language or None)


def _check(chat: ChatKey) -> None:
    if chat != CHAT:
        raise ChannelError(f"the page has no chat {chat}", permanent=True)


def _as_json(attachment: Attachment) -> dict[str, str | int | None]:
    return attachment.model_dump(include={"reference", "name", "size", "mime_type"})
