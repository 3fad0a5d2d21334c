"""Runs commands for visitors of the page, who may give them in any chat."""

from collections.abc import Sequence
from uuid import uuid4

from agent_core.clock import Clock
from channels.attachments import Attachment
from channels.base import ChatKey, CommandInvoked, OutboundMessage, Sender
from channels.text import parse_command
from channels.web.visitor import LOCAL
from gateway.admin.desk import CommandRefused
from gateway.app.admission import Admission
from gateway.app.chat_commands import ChatCommands, NoAnswer, NoAnswerInTime
from gateway.commands.command import CommandTable
from gateway.commands.recorded import is_recorded
from gateway.permissions.rules import NOT_YOUR_CHAT
from gateway.records.audit import AuditLog

RECORDED = frozenset(
    {"activation", "allow", "block", "budget", "config", "plugins", "reload", "role", "speakers", "tools"}
)
"""Commands that record what they have changed, wherever they are given."""


class PageCommands:
    """Runs a command like one that was typed in the chat, but shows its reply to the visitor only."""

    def __init__(
        self,
        admission: Admission,
        commands: CommandTable,
        chats: ChatCommands,
        audit: AuditLog,
        clock: Clock,
    ) -> None:
        self._admission = admission
        self._commands = commands
        self._chats = chats
        self._audit = audit
        self._clock = clock

    def may(self, sender: Sender, chat: ChatKey, line: str) -> bool:
        """Return True if the visitor has the right to a command line in a chat."""
        command = parse_command(line, ("web",))
        if command is None or command.name not in self._commands:
            return False
        return not self._commands.refusal(chat, _by(sender, chat), command.name, command.arguments)

    async def run(
        self, sender: Sender, chat: ChatKey, line: str, files: Sequence[Attachment] = ()
    ) -> OutboundMessage | None:
        """Run a command line in a chat, with files of the page. Raises CommandRefused."""
        command = parse_command(line, ("web",))
        if command is None or command.name not in self._commands:
            raise CommandRefused("page_no_command")
        if not self._chats.knows(chat):
            raise CommandRefused("page_chat_not_connected")
        by = _by(sender, chat)
        if self._commands.refusal(chat, by, command.name, command.arguments) == NOT_YOUR_CHAT:
            raise CommandRefused(NOT_YOUR_CHAT)
        event = self._admission.without_secrets(
            CommandInvoked(
                event_id=f"web:act:{uuid4()}",
                chat=chat,
                sender=by,
                at=self._clock.time(),
                message_id="",
                name=command.name,
                arguments=command.arguments,
                attachments=tuple(files),
            )
        )
        if not isinstance(event, CommandInvoked):
            raise TypeError("masking leaves a command a command")
        is_refused = False
        try:
            return await self._chats.run(event)
        except NoAnswer as error:
            is_refused = not isinstance(error, NoAnswerInTime)
            raise CommandRefused(str(error)) from error
        finally:
            named = (each for each in self._commands.commands if each.name == event.name)
            records_itself = event.name in RECORDED or any(is_recorded(each, event.arguments) for each in named)
            if not records_itself and not is_refused:
                self._audit.changed(chat, event.sender.id, f"/{event.name}", details=event.arguments)


def _by(sender: Sender, chat: ChatKey) -> Sender:
    """Return the sender as a chat knows them: beyond the page under the name of the account."""
    is_named = sender.id != LOCAL or chat.platform == "web"
    return sender if is_named else sender.model_copy(update={"id": f"web:{LOCAL}"})
