"""Files in and out: fetched with the bot's token from Slack only, and uploaded in Slack's three steps."""

import asyncio
import time
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from pydantic import JsonValue

from channels.base import Attachment, ChannelError, ChatKey, Posted
from channels.slack.client import TRANSFER_SECONDS, Client
from channels.slack.config import APPS
from channels.slack.content import Identity
from channels.slack.history import History

MAX_UPLOAD = 50 * 1024 * 1024
MAX_DOWNLOAD = 50 * 1024 * 1024
_MIB = 1024 * 1024
_HOME = ".slack.com"
_TRIES = 4
_TRY_SECONDS = 0.4
"""Slack shares a file a moment after it says so; the next look waits longer than the last."""
_LONG_AGO = 3_600.0
"""Seconds: only what was posted since is looked through, however wrong this machine's clock."""


class Files:
    def __init__(self, client: Client, history: History) -> None:
        self._client = client
        self._history = history
        self._uploaded: dict[str, str] = {}
        """File by key, of uploads whose outcome is not known."""

    async def download(self, attachment: Attachment) -> bytes:
        """See `Downloads.download`."""
        name = attachment.safe_name
        too_large = ChannelError(f"{name} is too large: at most {MAX_DOWNLOAD // _MIB} MB are read", permanent=True)
        if (attachment.size or 0) > MAX_DOWNLOAD:
            raise too_large
        if not self._is_slacks(attachment.reference):
            raise ChannelError(f"{name} is not kept by Slack", permanent=True)
        try:
            async with self._client.session.get(
                attachment.reference,
                headers={"Authorization": f"Bearer {self._client.web.token}"},
                proxy=self._client.web.proxy,
                timeout=aiohttp.ClientTimeout(total=TRANSFER_SECONDS),
            ) as answer:
                _check(answer, attachment)
                content = bytearray()
                async for chunk in answer.content.iter_chunked(_MIB):
                    content += chunk
                    if len(content) > MAX_DOWNLOAD:
                        raise too_large
                return bytes(content)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ChannelError(f"{name} could not be fetched ({type(error).__name__})") from error

    async def upload(self, chat: ChatKey, file: Attachment, comment: str | None, key: str, me: Identity) -> Posted:
        """Share a file as one message. Raises ChannelError."""
        content = await _content(file)
        asked: Mapping[str, JsonValue] = {"filename": file.safe_name, "length": len(content)}
        place = await self._client.call("files.getUploadURLExternal", asked)
        file_id = str(place.get("file_id", ""))
        await self._put(str(place.get("upload_url", "")), file, content)
        files: list[JsonValue] = [{"id": file_id, "title": file.safe_name}]
        share: dict[str, JsonValue] = {"files": files, "channel_id": chat.chat}
        if chat.thread is not None:
            share["thread_ts"] = chat.thread
        if comment is not None:
            share["initial_comment"] = comment
        self._uploaded[key] = file_id
        try:
            await self._client.call("files.completeUploadExternal", share)
        except ChannelError as error:
            if not error.ambiguous:
                del self._uploaded[key]
            raise
        del self._uploaded[key]
        shared = await self._shared(chat, file_id, me)
        return shared or Posted(chat=chat, message_id=f"file:{file_id}")

    async def uploaded(self, chat: ChatKey, key: str, me: Identity) -> Posted | None:
        """Whether an upload whose answer was lost has arrived. After a restart nobody knows."""
        file_id = self._uploaded.get(key)
        return await self._shared(chat, file_id, me) if file_id else None

    async def _put(self, address: str, file: Attachment, content: bytes) -> None:
        try:
            async with self._client.session.post(
                address,
                data=content,
                headers={"Content-Type": "application/octet-stream"},
                proxy=self._client.web.proxy,
                timeout=aiohttp.ClientTimeout(total=TRANSFER_SECONDS),
            ) as answer:
                await answer.read()
                if answer.status != HTTPStatus.OK:
                    raise ChannelError(f"{file.safe_name} was not taken: HTTP {answer.status}")
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ChannelError(f"{file.safe_name} could not be sent ({type(error).__name__})") from error

    async def _shared(self, chat: ChatKey, file_id: str, me: Identity) -> Posted | None:
        """The message that the file became."""
        since = f"{time.time() - _LONG_AGO:.6f}"
        for attempt in range(_TRIES):
            await asyncio.sleep(attempt * _TRY_SECONDS)
            found = await self._history.with_file(chat, file_id, after=since, me=me)
            if found is not None:
                return found
        return None

    def _is_slacks(self, address: str) -> bool:
        """The token goes to nobody else, whatever a message says where its file is."""
        parts, ours = urlsplit(address), urlsplit(self._client.web.base_url)
        if parts.scheme == "https" and f".{parts.hostname or ''}".endswith(_HOME):
            return True
        return (parts.scheme, parts.netloc) == (ours.scheme, ours.netloc)


def _check(answer: aiohttp.ClientResponse, attachment: Attachment) -> None:
    """Whom Slack does not let read a file it shows the page to sign in, as if all were well."""
    name = attachment.safe_name
    if answer.content_type == "text/html" and attachment.mime_type != "text/html":
        raise ChannelError(
            f"Slack does not give {name}: the app lacks the scope files:read; add it at {APPS}, your app, OAuth &"
            " Permissions, then reinstall the app",
            permanent=True,
        )
    if answer.status != HTTPStatus.OK:
        gone = HTTPStatus.BAD_REQUEST <= answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
        later = answer.status == HTTPStatus.TOO_MANY_REQUESTS
        raise ChannelError(f"Slack does not give {name}: HTTP {answer.status}", permanent=gone and not later)


async def _content(file: Attachment) -> bytes:
    path = Path(file.path)
    try:
        if (await asyncio.to_thread(path.stat)).st_size > MAX_UPLOAD:
            reason = f"{file.safe_name} is too large: files of at most {MAX_UPLOAD // _MIB} MB are sent"
            raise ChannelError(reason, permanent=True)
        return await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise ChannelError(f"{file.safe_name} cannot be read: {error.strerror}", permanent=True) from error
