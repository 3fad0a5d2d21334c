"""Converts users' messages to prompts: text, pictures, files in the workspace, and context."""

import asyncio
import base64
import errno
import hashlib
import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from agent_core.builtin.files.confined import open_file
from agent_core.clock import Clock
from agent_core.messages import ImageContent, UserMessage, user
from agent_core.sources import Sources, sent, union
from agent_core.tools import ToolFailed
from agent_core.untrusted import harmless
from agent_core.workspace.keeper import Allowance, Boundless, Quota
from agent_core.workspace.provenance import FileSources
from channels.attachments import Attachment
from channels.base import Channel, ChannelError, MessageReceived
from channels.capabilities import Downloads
from gateway.chat.earlier_talk import EarlierTalk
from gateway.chat.undo_news import NOTHING, Undos
from gateway.permissions.row_sources import sources_of_event
from gateway.runs.welcome import sample_of
from gateway.security.masking import masked
from gateway.security.secrets import Secrets
from gateway.store.rows import InboxItem, message_id

LONGEST_TEXT = 20_000
"""Most characters of a message; of a longer one the model gets the start, and the whole as a file."""
LONGEST_START = 4_000
MOST_FILES = 10
LARGEST_IMAGE = 5 * 1024 * 1024

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class PromptMaker:
    """Makes prompts from one chat's events."""

    channel: Channel
    workspace: Path
    clock: Clock
    zone: ZoneInfo
    vision: bool
    talk: EarlierTalk
    files: FileSources
    """Untrusted sources of the workspace's files."""
    secrets: Secrets
    """Secrets to mask, including those stored before they were known to be secret."""
    quota: Quota = field(default_factory=Boundless)
    """Quota of the chat's files."""

    async def make(
        self, item: InboxItem, known: str = "", undone: Undos = NOTHING, *, begins: bool = False
    ) -> UserMessage:
        """Return the prompt for an item. Its id is derived from the item, so that it is recognised after a restart.

        Args:
            known: Facts from the chat's memory.
            undone: Undos since the last prompt.
            begins: True for the first message of a conversation.
        """
        # First of all and as a whole: cutting a text could leave half a secret, which is not recognised.
        event = masked(item.event, self.secrets.mask)
        if not isinstance(event, MessageReceived):
            raise TypeError(f"{event.type} is no message")
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
        text = await self._shortened(event.text, f"message-{item.seq}.txt", ())
        in_group = self.channel.is_group(event.chat)
        ours, by_others, above = await self._above(item) if begins else ([], [], ())
        others, theirs = await self._by_others(item, event)
        by_others += [*others, *notes]
        now = datetime.fromtimestamp(self.clock.time(), self.zone)
        time = f"Now: {now:%A %Y-%m-%d %H:%M} ({self.zone.key})"
        circumstances = [time, *filter(None, [undone.line, known]), *ours, *by_others]
        message = user(text, *images, source=event.sender.name if in_group else None, context="\n".join(circumstances))
        about = {
            "id": message_id(item),
            "created_at": event.at,
            "untrusted": bool(by_others or undone.sources),
            "sources": union(above, theirs, undone.sources),
            "private": bool(known or ours or by_others or undone.line),
        }
        return message.model_copy(update=about)

    async def _above(self, item: InboxItem) -> tuple[list[str], list[str], Sources]:
        """Return the message above the thread as lines of ours, or of others if it has untrusted sources."""
        root = await self.talk.root(item.event.chat)
        if root is None:
            return [], [], ()
        words = await self._shortened(harmless(root.text), f"message-{item.seq}-thread.txt", root.sources)
        lines = [f"This thread is under a message of yours, which reads: {words}"]
        return ([], lines, root.sources) if root.sources else (lines, [], ())

    async def _by_others(self, item: InboxItem, event: MessageReceived) -> tuple[list[str], Sources]:
        """Return text of others that comes with the message, and the untrusted sources in it."""
        lines: list[str] = []
        sources = sources_of_event(event)
        earlier = await self.talk.before(item)
        if earlier.lines:
            lines += ["Said here earlier, and not to you:", *earlier.lines]
        if event.quoted:
            sources = union(sources, await self.talk.quoted(event))
            lines.append(f"In reply to: {event.quoted[:LONGEST_START]}")
        if event.shared:
            shared = await self._shortened(event.shared, f"message-{item.seq}-shared.txt", sources)
            lines.append(f"Brought along by the message: {shared}")
        return lines, union(earlier.sources, sources)

    async def _shortened(self, text: str, name: str, sources: Sources) -> str:
        if len(text) <= LONGEST_TEXT:
            return text
        try:
            path = await asyncio.to_thread(self._keep, name, text.encode(), sources)
        except OSError as error:
            log.warning("message not kept as a file", channel=self.channel.name, reason=str(error))
            return (
                f"{text[:LONGEST_START]}\n[... the rest of {len(text)} characters could not be kept: {error.strerror}]"
            )
        return f"{text[:LONGEST_START]}\n[... the whole message, {len(text)} characters, is in the file {path.name}]"

    def _keep(self, name: str, content: bytes, sources: Sources, person: str | None = None) -> Path:
        """Write a file to the workspace within the quota. Blocks. Raises OSError."""
        if not _has_room(self.quota.room(person), len(content)):
            raise OSError(errno.EDQUOT, "there is no room left for the files of this chat")
        path = _write(self.workspace / name, content)
        self.quota.grew(person, len(content), 1)
        self.files.wrote(path.name, sources)
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
            path = await asyncio.to_thread(self._keep, name, content, sources, person)
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
