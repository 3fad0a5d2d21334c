"""Files: the three steps of an upload, their metadata, and their download."""

import mimetypes
from collections.abc import Sequence
from dataclasses import replace

from aiohttp import web
from pydantic import JsonValue

from parley.testing.emulators import slack_params as params
from parley.testing.emulators.slack_api import MethodGroup
from parley.testing.emulators.slack_state import Message, StoredFile
from parley.testing.emulators.slack_wire import Json, SlackError
from parley.testing.emulators.slack_world import World

MOST_FILES = 14
"""Files of one message; with more Slack fails (slackapi/python-slack-sdk, issue 1653)."""
LOGIN_PAGE = "<!DOCTYPE html><html><head><title>Sign in to Emulated | Slack</title></head><body></body></html>"


class Files(MethodGroup):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._promised: dict[str, tuple[str, int]] = {}
        self._uploaded: dict[str, StoredFile] = {}

    def upload_url(self, asked: params.UploadUrl) -> Json:
        ticket = f"F{next(self.world.numbers):010d}"
        self._promised[ticket] = (asked.filename, asked.length)
        return {"upload_url": f"{self.world.address()}/upload/v1/{ticket}", "file_id": ticket}

    def complete(self, asked: params.CompleteUpload) -> Json:
        if len(asked.files) > MOST_FILES:
            raise SlackError("internal_error")
        files = self._titled(asked.files)
        channels = [asked.channel_id] if asked.channel_id is not None else (asked.channels or "").split(",")
        for channel in filter(None, channels):
            self._share(channel, files, asked)
        for file in files:
            del self._uploaded[file.id]
        about: list[JsonValue] = [each.to_json() for each in files]
        return {"files": about}

    def info(self, asked: params.FileInfo) -> Json:
        file = self.world.files.get(asked.file)
        if file is None:
            raise SlackError("file_not_found")
        comments: list[JsonValue] = []
        return {"file": file.to_json(), "comments": comments, "content_html": None}

    def receive(self, ticket: str, content: bytes) -> web.Response:
        """Receive an upload, the second step. Each address can be used once."""
        name, length = self._promised.pop(ticket, ("", -1))
        if length < 0:
            return web.Response(status=404, text="unknown upload")
        if len(content) != length:
            return web.Response(status=400, text=f"{length} bytes were announced, {len(content)} came")
        mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
        file = self.world.store(name, mime, content, self.world.bot, file_id=ticket)
        self._uploaded[ticket] = file
        return web.Response(text=f"OK - {length}")

    def read(self, file_id: str, *, allowed: bool) -> web.Response:
        """Return a file or, without permission, the sign-in page with status 200."""
        file = self.world.files.get(file_id)
        if not allowed:
            return web.Response(text=LOGIN_PAGE, content_type="text/html")
        if file is None:
            return web.Response(status=404, text="not found")
        return web.Response(body=file.content, content_type=file.mime)

    def _titled(self, asked: Sequence[dict[str, str]]) -> list[StoredFile]:
        """Return the files with their titles. Each has to be uploaded, named once, and not completed yet."""
        ids = [each.get("id", "") for each in asked]
        if len({*ids}) < len(ids) or any(each not in self._uploaded for each in ids):
            raise SlackError("file_not_found")
        titled = [replace(self._uploaded[each["id"]], title=each.get("title", "")) for each in asked]
        self.world.files.update({file.id: file for file in titled})
        return titled

    def _share(self, channel: str, files: Sequence[StoredFile], asked: params.CompleteUpload) -> None:
        try:
            room = self.writable(channel)
        except SlackError as error:
            raise SlackError("invalid_channel" if error.error == "channel_not_found" else error.error) from None
        message = Message(self.world.ts(), self.world.bot, room.id, self.world.clock())
        message.reply_to = self.root(room, asked.thread_ts)
        message.source, message.files, message.subtype = asked.initial_comment or "", [*files], "file_share"
        message.blocks = self.named(asked.blocks)
        self.world.post(room, message)
