"""Runs commands for visitors of the page, who may give them in any chat."""

from collections.abc import Sequence
from uuid import uuid4

from agent_core.clock import Clock
from channels.attachments import Attachment
from channels.base import ChatKey, CommandInvoked, OutboundMessage, Sender
from channels.text import parse_command
from channels.web.visitor import LOCAL, Visitor
from gateway.admin.desk import CommandRefused
from gateway.app.admission import Admission
from gateway.app.chat_commands import ChatCommands, NoAnswer
from gateway.commands.command import CommandTable
from gateway.permissions.access import Access
from gateway.records.audit import AuditLog

MANAGES = frozenset(
    {
        "activation",
        "answer",
        "approve",
        "budget",
        "cron",
        "deny",
        "heartbeat",
        "model",
        "speakers",
        "think",
        "tools",
        "tz",
    }
)
"""Commands that admins may give in chats that are not theirs. The others show what was said there: on its own platform
an admin could not give them, not being in the chat. Owners may give all."""

RECORDED = frozenset({"activation", "allow", "block", "budget", "config", "reload", "role", "speakers", "tools"})
"""Commands that record what they have changed, wherever they are given."""


class PageCommands:
    """Runs a command like one that was typed in the chat, but shows its reply to the visitor only."""

    def __init__(
        self,
        admission: Admission,
        access: Access,
        commands: CommandTable,
        chats: ChatCommands,
        audit: AuditLog,
        clock: Clock,
    ) -> None:
        self._admission = admission
        self._access = access
        self._commands = commands
        self._chats = chats
        self._audit = audit
        self._clock = clock

    async def run(
        self, sender: Sender, chat: ChatKey, line: str, files: Sequence[Attachment] = ()
    ) -> OutboundMessage | None:
        """Run a command line in a chat, with files of the page. Raises CommandRefused."""
        command = parse_command(line, ("web",))
        if command is None or command.name not in self._commands:
            raise CommandRefused("page_no_command")
        if not self._chats.knows(chat):
            raise CommandRefused("page_chat_not_connected")
        if not self._may_give(command.name, sender, chat):
            raise CommandRefused("page_not_your_chat")
        event = self._admission.without_secrets(
            CommandInvoked(
                event_id=f"web:act:{uuid4()}",
                chat=chat,
                sender=sender if chat.platform == "web" else _with_principal(sender),
                at=self._clock.time(),
                message_id="",
                name=command.name,
                arguments=command.arguments,
                attachments=tuple(files),
            )
        )
        if not isinstance(event, CommandInvoked):
            raise TypeError("masking leaves a command a command")
        try:
            return await self._chats.run(event)
        except NoAnswer as error:
            raise CommandRefused(str(error)) from error
        finally:
            if event.name not in RECORDED:
                self._audit.changed(chat, event.sender.id, f"/{event.name}", details=event.arguments)

    def _may_give(self, name: str, sender: Sender, chat: ChatKey) -> bool:
        """Return True for an owner, in the sender's own chats on the page, and for what admins manage everywhere."""
        known = _with_principal(sender)
        is_own = chat.platform == "web" and chat.account == Visitor(known.id).account
        return is_own or name in MANAGES or self._access.is_owner(chat, known)


def _with_principal(sender: Sender) -> Sender:
    """Return the sender under the name of the account, by which chats of all platforms know them."""
    return sender.model_copy(update={"id": f"web:{LOCAL}"}) if sender.id == LOCAL else sender
