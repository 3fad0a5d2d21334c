"""The routes of files: what the visitor adds to a message, and what is shown in the conversations."""

import structlog
from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError

from channels.attachments import Attachment
from channels.web.adapter import WebChannel
from channels.web.attachments import TooLarge, is_of
from channels.web.entrance import Entrance
from channels.web.requests import MAX_FILES, asked_chat, visitor_of

log = structlog.get_logger(__name__)


class FileRoutes:
    """Handles uploads and downloads."""

    def __init__(self, channel: WebChannel, entrance: Entrance) -> None:
        self._channel = channel
        self._entrance = entrance

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/api/files", self._post_files), web.get("/api/files/{reference}", self._get_file)]

    async def _post_files(self, request: web.Request) -> web.Response:
        if request.content_type != "multipart/form-data":
            raise web.HTTPUnsupportedMediaType(text="only a form with files is accepted")
        await self._entrance.authorize(request, asked_chat(request), "upload")
        limit = self._channel.config.max_upload
        received: list[Attachment] = []
        try:
            async for part in await request.multipart():
                if not isinstance(part, BodyPartReader) or part.filename is None:
                    raise web.HTTPBadRequest(text="only a form with files is accepted")
                if len(received) == MAX_FILES:
                    raise web.HTTPBadRequest(text=f"at most {MAX_FILES} files at once")
                received.append(await self._channel.uploads.receive(part, visitor_of(request).mark))
        except TooLarge as error:
            raise web.HTTPRequestEntityTooLarge(limit, text=error.reason) from error
        except (ValueError, HttpProcessingError) as error:
            raise web.HTTPBadRequest(text="the form cannot be read") from error
        log.info("page_files", files=len(received), bytes=sum(each.size or 0 for each in received))
        return web.json_response({"files": [_as_json(each) for each in received]})

    async def _get_file(self, request: web.Request) -> web.FileResponse:
        await self._entrance.authorize(request, visitor_of(request).chat(), "download")
        reference = request.match_info["reference"]
        found = await self._channel.uploads.find(reference) if is_of(reference, visitor_of(request).mark) else None
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


def _as_json(attachment: Attachment) -> dict[str, str | int | None]:
    return attachment.model_dump(include={"reference", "name", "size", "mime_type"})
