"""Writes uses of commands to the audit file, for those that let something from outside reach Parley."""

from msgspec.structs import replace

from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation
from gateway.records.audit import AuditLog


def recorded(command: Command, audit: AuditLog) -> Command:
    """Return a command whose uses are written down. What stands behind the name, such as a secret, is left out."""

    async def run(given: Invocation) -> Answer:
        answer = await command.run(given)
        if is_recorded(command, given.arguments):
            words = " ".join(given.arguments.split()[:2])
            audit.changed(given.chat, given.sender.id, f"/{command.name}", details=words)
        return answer

    return replace(command, run=run) if command.recorded else command


def is_recorded(command: Command, arguments: str) -> bool:
    """Return True if a use of a command is written down, wherever it is given."""
    form = arguments.split(maxsplit=1)[:1]
    return bool(form) and form[0].lower() in command.recorded
