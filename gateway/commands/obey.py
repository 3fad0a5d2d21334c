"""Obeying one command."""

from channels.base import OutboundMessage, Sender
from gateway.commands.catalogue import BY_NAME, COMMANDS
from gateway.commands.table import Invocation, reply
from gateway.desk import Desk
from gateway.session import ChatSession
from gateway.texts import say


async def obey(desk: Desk, session: ChatSession, sender: Sender, name: str, arguments: str) -> OutboundMessage | None:
    """Do what the command says; what to answer, or None where there is nothing to say."""
    language = await session.language(sender)
    slash = desk.delivery.channel(session.key).limits.slash
    command = BY_NAME.get(name)
    if command is None:
        return reply(say("unknown_command", language, slash=slash, name=name[:40]))
    return await command.run(Invocation(desk, session, sender, language, arguments, COMMANDS, slash))
