"""Obeying one command."""

from channels.base import ButtonPressed, CommandInvoked, InboundEvent
from gateway.commands.catalogue import BY_NAME, COMMANDS
from gateway.commands.table import Invocation, reply
from gateway.desk import Desk
from gateway.replies import Answer
from gateway.session import ChatSession
from gateway.texts import say


async def obey(desk: Desk, session: ChatSession, event: InboundEvent, name: str, arguments: str) -> Answer:
    """Do what the command says that an event brought; what to answer, or None where there is nothing to say."""
    language = await session.conversation.language(event.sender)
    slash = event.slash if isinstance(event, CommandInvoked) else None
    slash = slash or desk.delivery.channel(session.key).limits.slash
    command = BY_NAME.get(name)
    if command is None:
        return reply(say("unknown_command", language, slash=slash, name=name[:40]))
    pressed = event.message_id if isinstance(event, ButtonPressed) else None
    return await command.run(
        Invocation(desk, session, event.sender, language, arguments, COMMANDS, slash, pressed, event.event_id)
    )
