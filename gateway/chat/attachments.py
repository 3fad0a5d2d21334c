"""Converts attachments for the model: pictures that it can see, and files in the workspace."""

import asyncio
import base64
import errno
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from agent_core.messages import ImageContent
from agent_core.sources import Sources, sent
from agent_core.tools.files.confined import open_file
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.keeper import Allowance, Boundless, Quota
from agent_core.workspace.provenance import FileSources
from channels.attachments import Attachment
from channels.base import Channel, ChannelError, MessageReceived
from channels.capabilities import Downloads
from gateway.runs.welcome import sample_of

MOST_FILES = 10
"""Attachments of one message that are fetched."""
LARGEST_IMAGE = 5 * 1024 * 1024
"""Largest picture that the model is shown, in bytes; larger ones are only files."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Attachments:
    """Fetches the attachments of one chat into its workspace."""

    channel: Channel
    workspace: Path
    vision: bool
    """True if the model can see pictures."""
    sources: FileSources
    """Untrusted sources of the workspace's files."""
    quota: Quota = field(default_factory=Boundless)
    """Quota of the chat's files."""

    async def fetch(self, event: MessageReceived) -> tuple[list[ImageContent], list[str]]:
        """Save a message's attachments. Return the pictures that the model can see, and a note for it on each file."""
        images: list[ImageContent] = []
        notes: list[str] = []
        for attachment in event.attachments[:MOST_FILES]:
            image, note = await self._fetch(attachment, event.sender.id)
            images.extend([image] if image else [])
            notes.append(note)
        if len(event.attachments) > MOST_FILES:
            notes.append(
                f"[{len(event.attachments) - MOST_FILES} more files were left out: at most {MOST_FILES} a message]"
            )
        return images, notes

    def keep(self, name: str, content: bytes, sources: Sources, person: str | None = None) -> Path:
        """Write a file to the workspace within the quota. Blocks. Raises OSError."""
        if not _has_room(self.quota.room(person), len(content)):
            raise OSError(errno.EDQUOT, "there is no room left for the files of this chat")
        path = _write(self.workspace / name, content)
        self.quota.grew(person, len(content), 1)
        self.sources.wrote(path.name, sources)
        return path

    async def _fetch(self, attachment: Attachment, person: str) -> tuple[ImageContent | None, str]:
        """Save an attachment to the workspace. Return its image if the model can see it, and a note for the model."""
        name = attachment.safe_name
        if not isinstance(self.channel, Downloads):
            return None, f"[file: {name} could not be fetched here]"
        try:
            content = await self.channel.download(attachment)
        except ChannelError as error:
            log.info("file not fetched", channel=self.channel.name, reason=error.reason)
            return None, f"[file: {name} could not be fetched: {error.reason}]"
        try:
            sources = (sent(attachment.by, name),) if attachment.by else ()
            path = await asyncio.to_thread(self.keep, name, content, sources, person)
        except OSError as error:
            log.warning("file not kept", channel=self.channel.name, reason=str(error))
            return None, f"[file: {name} could not be kept: {error.strerror}]"
        if attachment.is_image and self.vision and len(content) <= LARGEST_IMAGE:
            data = base64.b64encode(content).decode()
            return ImageContent(data=data, mime_type=attachment.mime_type), f"[picture: {path.name}]"
        return None, f"[file: {path.name}, {len(content)} bytes, in the workspace]"


def _has_room(room: Allowance, size: int) -> bool:
    return (room.bytes is None or size <= room.bytes) and room.files != 0


def _write(path: Path, content: bytes) -> Path:
    """Create the file atomically and return its path, overwriting nothing but an unmodified sample file.

    An existing file of the same content is used as it is, so that a prompt made again after a crash leaves no copies.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The temporary name depends on the content, so that a retry removes what a killed process left: a second link to
    # the file, with which no tool would open it.
    which = hashlib.sha256(os.fsencode(path.name) + b"\0" + content).hexdigest()[:32]
    arriving = path.with_name(f".arriving-{which}")
    arriving.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(arriving, _NEW, 0o600), "wb") as file:
            file.write(content)
        if (sample := sample_of(path.name)) is not None and _holds(path, sample):
            return arriving.replace(path)
        for number in range(1, 10_000):
            candidate = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
            try:
                candidate.hardlink_to(arriving)
            except FileExistsError:
                if not _holds(candidate, content):
                    continue
            return candidate
    finally:
        arriving.unlink(missing_ok=True)
    raise FileExistsError(path)


def _holds(path: Path, content: bytes) -> bool:
    try:
        handle = open_file(path.parent, path.name)
    except ToolFailed:
        return False
    with os.fdopen(handle, "rb") as file:
        return os.fstat(handle).st_size == len(content) and file.read(len(content)) == content
