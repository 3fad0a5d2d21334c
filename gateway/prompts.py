"""What a person sent, as a message for the model: words, pictures, files in the chat's workspace, and circumstances."""

import asyncio
import base64
import hashlib
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from agent_core.builtin.files.confined import open_file
from agent_core.clock import Clock
from agent_core.messages import ImageContent, UserMessage, user
from agent_core.tools import ToolFailed
from agent_core.untrusted import harmless
from channels.base import Attachment, Channel, ChannelError, Downloads, MessageReceived
from gateway.earlier_talk import EarlierTalk
from gateway.masking import masked
from gateway.secrets import Secrets
from gateway.store.rows import InboxItem, message_id

LONGEST_TEXT = 20_000
"""Characters; a longer message becomes a file of which the model sees the start."""
LONGEST_START = 4_000
MOST_FILES = 10
LARGEST_IMAGE = 5 * 1024 * 1024

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class PromptMaker:
    """Makes the user message of one chat's events."""

    channel: Channel
    workspace: Path
    clock: Clock
    zone: ZoneInfo
    vision: bool
    talk: EarlierTalk
    secrets: Secrets
    """What somebody pasted, or an earlier life took in, and no model is to be told."""

    async def make(self, item: InboxItem, known: str = "", *, begins: bool = False) -> UserMessage:
        """The same item gives a message with the same id, so that it is found again after a restart. `known` is what
        the chat's memory tells unasked; `begins`: nobody has said anything in the conversation yet."""
        # As a whole and first of all: what is cut later must not be the half of a secret.
        event = masked(item.event, self.secrets.mask)
        if not isinstance(event, MessageReceived):
            raise TypeError(f"{event.type} is no message")
        images: list[ImageContent] = []
        notes: list[str] = []
        for attachment in event.attachments[:MOST_FILES]:
            image, note = await self._fetch(attachment)
            images.extend([image] if image else [])
            notes.append(note)
        if len(event.attachments) > MOST_FILES:
            notes.append(
                f"[{len(event.attachments) - MOST_FILES} more files were left out: at most {MOST_FILES} a message]"
            )
        text = await self._shortened(event.text, f"message-{item.seq}.txt")
        in_group = self.channel.is_group(event.chat)
        ours, by_others = await self._above(item) if begins else ([], [])
        by_others += [*await self._by_others(item, event), *notes]
        now = datetime.fromtimestamp(self.clock.time(), self.zone)
        circumstances = [f"Now: {now:%A %Y-%m-%d %H:%M} ({self.zone.key})", *filter(None, [known]), *ours, *by_others]
        message = user(text, *images, source=event.sender.name if in_group else None, context="\n".join(circumstances))
        return message.model_copy(update={"id": message_id(item), "created_at": event.at, "untrusted": bool(by_others)})

    async def _above(self, item: InboxItem) -> tuple[list[str], list[str]]:
        """The message of ours under which the thread stands: as words of ours, or as others', who may be in it."""
        root = await self.talk.root(item.event.chat)
        if root is None:
            return [], []
        words = await self._shortened(harmless(root.text), f"message-{item.seq}-thread.txt")
        lines = [f"This thread is under a message of yours, which reads: {words}"]
        return ([], lines) if root.untrusted else (lines, [])

    async def _by_others(self, item: InboxItem, event: MessageReceived) -> list[str]:
        """Words of others that come with the person's own."""
        lines: list[str] = []
        if earlier := await self.talk.before(item):
            lines += ["Said here earlier, and not to you:", *earlier]
        if event.quoted:
            lines.append(f"In reply to: {event.quoted[:LONGEST_START]}")
        if event.shared:
            shared = await self._shortened(event.shared, f"message-{item.seq}-shared.txt")
            lines.append(f"Brought along by the message: {shared}")
        return lines

    async def _shortened(self, text: str, name: str) -> str:
        if len(text) <= LONGEST_TEXT:
            return text
        try:
            path = await asyncio.to_thread(_write, self.workspace / name, text.encode())
        except OSError as error:
            log.warning("message not kept as a file", channel=self.channel.name, reason=str(error))
            return (
                f"{text[:LONGEST_START]}\n[... the rest of {len(text)} characters could not be kept: {error.strerror}]"
            )
        return f"{text[:LONGEST_START]}\n[... the whole message, {len(text)} characters, is in the file {path.name}]"

    async def _fetch(self, attachment: Attachment) -> tuple[ImageContent | None, str]:
        """Put the file into the workspace; a picture also goes to a model that sees. The note tells the model."""
        name = attachment.safe_name
        if not isinstance(self.channel, Downloads):
            return None, f"[file: {name} could not be fetched here]"
        try:
            content = await self.channel.download(attachment)
        except ChannelError as error:
            log.info("file not fetched", channel=self.channel.name, reason=error.reason)
            return None, f"[file: {name} could not be fetched: {error.reason}]"
        try:
            path = await asyncio.to_thread(_write, self.workspace / name, content)
        except OSError as error:
            log.warning("file not kept", channel=self.channel.name, reason=str(error))
            return None, f"[file: {name} could not be kept: {error.strerror}]"
        if attachment.is_image and self.vision and len(content) <= LARGEST_IMAGE:
            data = base64.b64encode(content).decode()
            return ImageContent(data=data, mime_type=attachment.mime_type), f"[picture: {path.name}]"
        return None, f"[file: {path.name}, {len(content)} bytes, in the workspace]"


def _write(path: Path, content: bytes) -> Path:
    """Make the file, whole or not at all, never over another; returns where it is.

    One that is there with the same content is it, so that a message which is made again after a crash leaves no copies.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The same file arrives under the same name again: who was killed in the middle left it as a second name of the
    # file, and with two names no tool would open it.
    which = hashlib.sha256(os.fsencode(path.name) + b"\0" + content).hexdigest()[:32]
    arriving = path.with_name(f".arriving-{which}")
    arriving.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(arriving, _NEW, 0o600), "wb") as file:
            file.write(content)
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
