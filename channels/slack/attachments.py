"""Downloads with the bot's token, from Slack's hosts only, and uploads in Slack's three steps."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

import aiohttp
from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import ChannelError, ChatKey, Posted
from channels.files import MIB, FileRefused, FileTrouble, read_upload, too_large
from channels.slack.client import TRANSFER_SECONDS, Client
from channels.slack.config import APPS
from channels.slack.history import History
from channels.slack.mentions import Identity
from channels.slack.shared_files import SharedFiles
from channels.slack.wire import File
from channels.values import Known

MAX_UPLOAD = MAX_DOWNLOAD = 50 * MIB
MAX_FILES = 10
"""Files of one message, as many as people can send; Slack fails with more than 14."""
_HOME = ".slack.com"
_TRIES = 4
_TRY_SECONDS = 0.4
"""Slack shares an uploaded file with a delay; each retry waits longer than the last."""
_LONG_AGO = 3_600.0
"""Age in seconds of the oldest message searched, chosen so that a wrong local clock does no harm."""


class Attachments:
    def __init__(self, client: Client, history: History, now: Callable[[], float]) -> None:
        self._client = client
        self._history = history
        self._now = now
        self._shared_files = SharedFiles(client)
        self._uploaded: dict[str, str] = {}
        """Id of the first file by key, for uploads with an unknown outcome."""

    async def download(self, attachment: Attachment) -> bytes:
        """See `Downloads.download`."""
        attachment = await self._shared_files.look_up(attachment)
        name = attachment.safe_name
        large = too_large(attachment, "Parley reads", MAX_DOWNLOAD)
        if (attachment.size or 0) > MAX_DOWNLOAD:
            raise large
        if not self._is_slacks(attachment.reference):
            raise FileRefused(f"{name} is not stored at Slack", "kept_back")
        try:
            async with self._client.session.get(
                attachment.reference,
                headers={"Authorization": f"Bearer {self._client.web.token}"},
                proxy=self._client.web.proxy,
                timeout=aiohttp.ClientTimeout(total=TRANSFER_SECONDS),
            ) as answer:
                _check(answer, attachment)
                content = bytearray()
                async for chunk in answer.content.iter_chunked(MIB):
                    content += chunk
                    if len(content) > MAX_DOWNLOAD:
                        raise large
                return bytes(content)
        except (aiohttp.ClientError, TimeoutError) as error:
            reason = f"{name} could not be fetched ({type(error).__name__})"
            raise FileRefused(reason, "unreachable", permanent=False) from error

    async def upload(
        self, chat: ChatKey, files: Sequence[Attachment], comment: str | None, key: str, me: Identity
    ) -> Posted:
        """Share files as one message. Raises ChannelError."""
        ids = [await self._stored(file) for file in files]
        titled: list[JsonValue] = [{"id": each, "title": file.safe_name} for each, file in zip(ids, files, strict=True)]
        share: dict[str, JsonValue] = {"files": titled, "channel_id": chat.chat}
        if chat.thread is not None:
            share["thread_ts"] = chat.thread
        if comment is not None:
            share["initial_comment"] = comment
        self._uploaded[key] = ids[0]
        try:
            await self._client.call("files.completeUploadExternal", share)
        except ChannelError as error:
            if not error.ambiguous:
                del self._uploaded[key]
            raise
        del self._uploaded[key]
        shared = await self._shared(chat, ids[0], me)
        return shared or Posted(chat=chat, message_id=f"file:{ids[0]}")

    async def uploaded(
        self, chat: ChatKey, key: str, files: Sequence[Attachment], known: Known, me: Identity
    ) -> Posted | None:
        """Return the message of an upload whose response was lost, if it arrived. The file id is lost after a restart;
        then a new message of the bot with files of the same names and contents, and no others, counts."""
        file_id = self._uploaded.get(key)
        if file_id:
            return await self._shared(chat, file_id, me)
        since = f"{(known.since or self._now()) - _LONG_AGO:.6f}"
        async for posted, shared in self._history.own_files(chat, after=since, me=me):
            if posted.message_id not in known.others and await self._are(shared, files):
                return posted
        return None

    async def _are(self, shared: Sequence[File], wanted: Sequence[Attachment]) -> bool:
        """Return True if these are the wanted files, in any order: each with its name and content."""
        left = [*shared]
        for file in wanted if len(wanted) == len(left) else ():
            found = [each for each in left if file.safe_name in (each.name, each.title)]
            content = await self._local_content(file) if found else None
            same = [each for each in found if await self._has_content(each, content)]
            if not same:
                return False
            left.remove(same[0])
        return not left

    async def _stored(self, file: Attachment) -> str:
        """Upload a file that is not shared yet, and return its id. Raises ChannelError."""
        content = await read_upload(file, "Parley sends", MAX_UPLOAD)
        asked: Mapping[str, JsonValue] = {"filename": file.safe_name, "length": len(content)}
        place = await self._client.call("files.getUploadURLExternal", asked)
        await self._put(str(place.get("upload_url", "")), file, content)
        return str(place.get("file_id", ""))

    async def _local_content(self, file: Attachment) -> bytes | None:
        try:
            return await read_upload(file, "Parley sends", MAX_UPLOAD)
        except ChannelError:
            return None

    async def _has_content(self, shared: File, content: bytes | None) -> bool:
        """Return True if a shared file has this content. Compares sizes if Slack does not allow the download, and only
        names if the local file is gone."""
        if content is None:
            return True
        if shared.size is not None and shared.size != len(content):
            return False
        there = Attachment(
            name=shared.name, mime_type=shared.mimetype, reference=shared.url_private_download or shared.url_private
        )
        try:
            return await self.download(there) == content
        except ChannelError as error:
            if not error.permanent:
                raise
            return shared.size is not None

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
                    reason = f"{file.safe_name} was not accepted: HTTP {answer.status}"
                    raise ChannelError(reason, permanent=_is_final(answer.status))
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ChannelError(f"{file.safe_name} could not be sent ({type(error).__name__})") from error

    async def _shared(self, chat: ChatKey, file_id: str, me: Identity) -> Posted | None:
        """Return the message that shares the file, or None if it does not appear in time."""
        since = f"{self._now() - _LONG_AGO:.6f}"
        for attempt in range(_TRIES):
            await asyncio.sleep(attempt * _TRY_SECONDS)
            found = await self._history.with_file(chat, file_id, after=since, me=me)
            if found is not None:
                return found
        return None

    def _is_slacks(self, address: str) -> bool:
        """Return True for addresses of Slack. The token is sent to no other host, whatever address a message
        contains."""
        parts, ours = urlsplit(address), urlsplit(self._client.web.base_url)
        if parts.scheme == "https" and f".{parts.hostname or ''}".endswith(_HOME):
            return True
        return (parts.scheme, parts.netloc) == (ours.scheme, ours.netloc)


def fit_together(files: Sequence[Attachment]) -> bool:
    """Return True for files of one message: none too large, none of a size that is not known, none spoken."""
    fit = all(file.size is not None and file.size <= MAX_UPLOAD and not file.is_voice for file in files)
    return fit and len(files) <= MAX_FILES


def _check(answer: aiohttp.ClientResponse, attachment: Attachment) -> None:
    """Raise ChannelError unless the response is the file. Without permission Slack returns its sign-in page with status
    200."""
    name = attachment.safe_name
    is_sent_on = bool(answer.history) or attachment.mime_type != "text/html"
    is_page = answer.content_type == "text/html" and is_sent_on
    if answer.status == HTTPStatus.OK and is_page:
        raise FileRefused(
            f"Slack does not give {name}: the app lacks the scope files:read; add it at {APPS}, your app, OAuth &"
            " Permissions, then reinstall the app",
            "not_allowed",
        )
    if answer.status != HTTPStatus.OK:
        is_final = _is_final(answer.status)
        why: FileTrouble = "gone" if is_final else "unreachable"
        raise FileRefused(f"Slack does not give {name}: HTTP {answer.status}", why, permanent=is_final)


def _is_final(status: int) -> bool:
    """Return True for a refusal that another try does not change."""
    is_refusal = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    return is_refusal and status not in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
