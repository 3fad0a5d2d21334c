"""The command /export: a chat as a file."""

import asyncio
import hashlib
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import cast

import structlog

from channels.attachments import Attachment
from channels.base import OutboundMessage
from gateway.commands.command import Command, Invocation, reply
from gateway.errors import ParleyError
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.plugins.export.heading import FORMS, Heading
from gateway.security.secrets import Secrets
from gateway.texts.say import say

log = structlog.get_logger(__name__)

WriteChat = Callable[[Path, str | None, Path, Heading, str, Secrets], bool]
"""See `write_chat` of the module `program`."""
MIME_TYPES = {"md": "text/markdown", "json": "application/json", "html": "text/html"}


class ExportCommand:
    """The command /export."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def export(self, given: Invocation) -> OutboundMessage:
        """Export this chat. In groups only owners may, as the file contains more than is visible in the chat."""
        language = given.language
        form = given.arguments.strip().lower() or FORMS[0]
        if form not in FORMS:
            return reply(say("export_forms", language, slash=given.slash))
        zone = given.session.conversation.zone()
        heading = Heading(str(given.chat), self._core.settings.now.ai_name, zone, self._core.clock.time())
        try:
            file = await asyncio.to_thread(self._write, heading, form)
        except ParleyError as error:
            log.warning("a chat could not be exported", chat=str(given.chat), reason=error.sentence)
            return reply(say("export_failed", language))
        if file is None:
            return reply(say("export_empty", language))
        size, most = file.stat().st_size, given.session.conversation.channel.limits.max_upload
        if size > most:
            file.unlink()
            return reply(say("export_too_large", language, size=size // 2**20, most=most // 2**20))
        name = f"chat-{heading.day(heading.now)}.{form}"
        attachment = Attachment(name=name, mime_type=MIME_TYPES[form], size=size, path=str(file))
        return OutboundMessage(markdown=say("export_done", language), attachments=(attachment,))

    def _write(self, heading: Heading, form: str) -> Path | None:
        """Write the export, replacing the chat's previous one. Returns None if the chat has no messages. Blocks."""
        file = self._core.outgoing / f"export-{hashlib.sha256(heading.chat.encode()).hexdigest()[:24]}" / f"chat.{form}"
        # Imported when it is used first, as nothing else needs what reads a whole chat.
        write_chat = cast(WriteChat, importlib.import_module("gateway.plugins.export.program").write_chat)
        home, database = self._core.home, self._core.settings.now.database
        return file if write_chat(home, database, file, heading, form, self._core.secrets) else None

    @property
    def command(self) -> Command:
        return Command(
            "export",
            {"en": "Get this chat as a file", "zh": "把本聊天导出为文件"},
            self.export,
            rights=always(Right("read", group=Role.OWNER, refusal="export_not_here")),
            arguments="[md|json|html]",
            example="html",
            after="tz",
        )
