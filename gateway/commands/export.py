"""The command that sends a chat's history as a file: /export."""

import asyncio
import hashlib
from pathlib import Path

import structlog

from channels.attachments import Attachment
from channels.base import OutboundMessage
from gateway.chat.desk import Desk
from gateway.commands.table import Command, Invocation, reply
from gateway.errors import ParleyError
from gateway.records.export.files import write_private
from gateway.records.export.forms import FORMS, exported
from gateway.records.export.heading import Heading
from gateway.store.archive import Archive
from gateway.texts.say import say

MIME_TYPES = {"md": "text/markdown", "json": "application/json", "html": "text/html"}

log = structlog.get_logger(__name__)


async def export(given: Invocation) -> OutboundMessage:
    """Export this chat. In groups only owners may, as the file contains more than is visible in the chat."""
    desk, key, language = given.desk, given.session.key, given.language
    form = given.arguments.strip().lower() or FORMS[0]
    if form not in FORMS:
        return reply(say("export_forms", language, slash=given.slash))
    channel = desk.delivery.channel(key)
    if channel.is_group(key) and not desk.access.is_owner(key, given.sender):
        return reply(say("export_not_here", language))
    zone = await given.session.conversation.zone()
    heading = Heading(str(key), desk.about.name, zone, desk.clock.time())
    try:
        file = await asyncio.to_thread(_write, desk, heading, form)
    except ParleyError as error:
        log.warning("a chat could not be exported", chat=str(key), reason=error.sentence)
        return reply(say("export_failed", language))
    if file is None:
        return reply(say("export_empty", language))
    size = file.stat().st_size
    if size > channel.limits.max_upload:
        file.unlink()
        return reply(say("export_too_large", language, size=size // 2**20, most=channel.limits.max_upload // 2**20))
    name = f"chat-{heading.day(heading.now)}.{form}"
    attachment = Attachment(name=name, mime_type=MIME_TYPES[form], size=size, path=str(file))
    return OutboundMessage(markdown=say("export_done", language), attachments=(attachment,))


def _write(desk: Desk, heading: Heading, form: str) -> Path | None:
    """Write the export, replacing the chat's previous one. Returns None if the chat has no messages. Blocks."""
    folder = desk.home / "outgoing" / f"export-{hashlib.sha256(heading.chat.encode()).hexdigest()[:24]}"
    with Archive.open(desk.home) as archive:
        if not archive.sessions(heading.chat):
            return None
        file = folder / f"chat.{form}"
        write_private(file, exported(archive, heading, form, desk.secrets))
    return file


COMMANDS = (
    Command(
        "export", {"en": "Get this chat as a file", "zh": "把本聊天导出为文件"}, export, arguments="[md|json|html]"
    ),
)
