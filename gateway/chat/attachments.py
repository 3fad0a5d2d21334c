"""Converts attachments for the model: pictures that it can see, and files in the workspace."""

import asyncio
import base64
import errno
import hashlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import structlog
from msgspec import Struct, field

from agent_core.file_handles import raise_lack
from agent_core.messages import ImageContent
from agent_core.origin import Origin
from agent_core.tools.files.confined import open_file
from agent_core.tools.files.pictures import whole_picture
from agent_core.tools.files.unseen import unseen_format
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.keeper import Allowance, Boundless, Quota
from agent_core.workspace.provenance import FileSources
from channels.attachments import Attachment
from channels.base import Channel, ChannelError, MessageReceived
from channels.capabilities import Downloads
from channels.files import MIB, FileRefused
from channels.text import literal
from gateway.chat.received_files import ROOM, ReceivedFile
from gateway.chat.sounds import Sound
from gateway.permissions.sources import origin_of_file
from gateway.texts.say import Language, say

MOST_FILES = 10
"""Attachments of one message that are fetched."""
LARGEST_IMAGE = 5 * 1024 * 1024
"""Largest picture that the model is shown, in bytes; larger ones are only files."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_NO_ROOM = {errno.EDQUOT: "file_why_no_room", errno.ENOSPC: "file_why_disk_full"}

_TURNS = threading.Lock()
"""Files of all chats are kept in turn: the same one in two messages would have the same temporary file, and two of the
same person the same last room."""

log = structlog.get_logger(__name__)


class Fetched(Struct):
    """The attachments of a message."""

    images: list[ImageContent] = field(default_factory=list)
    """Pictures that the model can see."""
    notes: list[str] = field(default_factory=list)
    """A note for the model on each file."""
    sounds: list[Sound] = field(default_factory=list)
    files: list[ReceivedFile] = field(default_factory=list)
    """Other files than recordings and pictures that the model can see."""
    room: int = ROOM
    """Characters of these that the model may be told."""
    shown: list[str] = field(default_factory=list)
    """A line for the person, in Markdown, on each file that could not be read."""
    unseen: list[str] = field(default_factory=list)
    """Names of pictures in formats that no model can see."""

    def lacks(self, name: str, what: Literal["fetched", "kept"], error: ChannelError | OSError, said: Language) -> None:
        """Tell the model and the person why a file is not there."""
        reason = error.reason if isinstance(error, ChannelError) else error.strerror or ""
        self.notes.append(f"[file: {name} could not be {what}: {reason}]")
        why = literal(_why(error, reason, said))
        self.shown.append(say(f"file_not_{what}", said, name=literal(name), reason=why))


class Attachments(Struct, frozen=True):
    """Fetches the attachments of one chat into its workspace."""

    channel: Channel
    workspace: Path
    vision: bool
    """True if the model can see pictures."""
    sources: FileSources
    """Origins of the workspace's files."""
    quota: Quota = field(default_factory=Boundless)
    """Quota of the chat's files."""
    language: Language = "en"
    """The sender's language."""
    room: int = ROOM
    """Characters of files that the model may be told with a message."""
    samples: Mapping[str, str] = field(default_factory=dict)
    """Texts of sample files, by name. One that was not changed makes way for a file of its name."""

    async def fetch(self, event: MessageReceived) -> Fetched:
        """Save a message's attachments."""
        fetched = Fetched(room=self.room)
        for place, attachment in enumerate(event.attachments[:MOST_FILES]):
            await self._fetch(fetched, place, attachment, event.sender.id)
        if fetched.unseen:
            names = ", ".join(map(literal, fetched.unseen))
            fetched.shown.append(say("pictures_unseen", self.language, names=names))
        if len(event.attachments) > MOST_FILES:
            more = len(event.attachments) - MOST_FILES
            fetched.notes.append(f"[{more} more files were left out: at most {MOST_FILES} a message]")
            fetched.shown.append(say("files_left_out", self.language, count=more, most=MOST_FILES))
        return fetched

    def keep(self, name: str, content: bytes, origin: Origin, person: str | None = None) -> Path:
        """Write a file to the workspace within the quota. Blocks. Raises OSError."""
        with _TURNS:
            if not _has_room(self.quota.room(person), len(content)):
                raise OSError(errno.EDQUOT, "there is no room left for the files of this chat")
            path = _write(self.workspace / name, content, self.samples.get(name))
            self.quota.grew(person, len(content), 1)
            self.sources.wrote(path.name, origin)
        return path

    async def _fetch(self, fetched: Fetched, place: int, attachment: Attachment, person: str) -> None:
        """Save an attachment to the workspace."""
        name = attachment.safe_name
        if not isinstance(self.channel, Downloads):
            fetched.notes.append(f"[file: {name} could not be fetched here]")
            return
        try:
            content = await self.channel.download(attachment)
        except ChannelError as error:
            raise_lack(error)
            log.info("file not fetched", channel=self.channel.name, reason=error.reason)
            fetched.lacks(name, "fetched", error, self.language)
            return
        if attachment.is_audio:
            fetched.sounds.append(Sound(place, attachment, content))
        elif not content:
            fetched.shown.append(say("file_empty", self.language, name=literal(name)))
        try:
            path = await asyncio.to_thread(self.keep, name, content, origin_of_file(attachment), person)
        except OSError as error:
            raise_lack(error)
            log.warning("file not kept", channel=self.channel.name, reason=str(error))
            fetched.lacks(name, "kept", error, self.language)
            return
        seen = len(fetched.images)
        fetched.notes.append(self._shown(fetched, attachment, path, content))
        if content and not attachment.is_audio and len(fetched.images) == seen:
            fetched.files.append(ReceivedFile(place, attachment, content, path.name))

    def _shown(self, fetched: Fetched, attachment: Attachment, path: Path, content: bytes) -> str:
        """Show the model a picture. Return a note for it on the file."""
        kind = whole_picture(content)
        if kind and self.vision and len(content) <= LARGEST_IMAGE:
            fetched.images.append(ImageContent(data=base64.b64encode(content).decode(), mime_type=kind))
            return f"[picture: {path.name}]"
        wrong = "" if kind else _wrong(fetched, attachment, content)
        return f"[file: {path.name}, {len(content)} bytes, in the workspace{wrong}]"


def _wrong(fetched: Fetched, attachment: Attachment, content: bytes) -> str:
    """Return why a picture is not shown, for the model; empty for other files. Names it to the person if its format is
    the reason."""
    found = unseen_format(content)
    is_other = attachment.mime_type.startswith("image/") and not attachment.is_image
    if found or (is_other and content):
        fetched.unseen.append(attachment.safe_name)
        return f", a picture whose format ({found}) no model can see" if found else ", a picture that no model can see"
    return ", which is no whole picture" if attachment.is_image else ""


def _why(error: ChannelError | OSError, reason: str, language: Language) -> str:
    """Return the reason for the person, in their language where it is a common one."""
    if isinstance(error, FileRefused):
        return say(f"file_why_{error.why}", language, limit=error.limit // MIB)
    no_room = _NO_ROOM.get(error.errno or 0) if isinstance(error, OSError) else None
    return say(no_room, language) if no_room else say("file_why_other", language, reason=reason)


def _has_room(room: Allowance, size: int) -> bool:
    return (room.bytes is None or size <= room.bytes) and room.files != 0


def _write(path: Path, content: bytes, sample: str | None = None) -> Path:
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
        if sample is not None and _holds(path, sample.encode()):
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
    except ToolFailed as error:
        raise_lack(error)
        return False
    with os.fdopen(handle, "rb") as file:
        return os.fstat(handle).st_size == len(content) and file.read(len(content)) == content
