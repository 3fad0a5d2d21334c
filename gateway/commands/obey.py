"""Executes a command."""

from difflib import get_close_matches

from channels.base import ButtonPressed, CommandInvoked, InboundEvent
from gateway.chat.replies import Answer
from gateway.chat.session import ChatSession
from gateway.commands.catalogue import BY_NAME, COMMANDS
from gateway.commands.desk import Desk
from gateway.commands.table import Invocation, reply
from gateway.schedule.jobs.firings import Firings
from gateway.texts.say import Language, say


async def obey(
    desk: Desk, firings: Firings, session: ChatSession, event: InboundEvent, name: str, arguments: str
) -> Answer:
    """Execute the command of an event. Returns the reply, or None if there is none."""
    language = await session.conversation.language(event.sender)
    slash = event.slash if isinstance(event, CommandInvoked) else None
    slash = slash or desk.delivery.channel(session.key).limits.slash
    command = BY_NAME.get(name)
    if command is None:
        return reply(_unknown(name[:40], slash, language))
    pressed = event.message_id if isinstance(event, ButtonPressed) else None
    return await command.run(
        Invocation(
            desk,
            firings,
            session,
            event.sender,
            language,
            arguments,
            COMMANDS,
            slash,
            pressed,
            event.at,
            event.event_id,
        )
    )


def _unknown(name: str, slash: str, language: Language) -> str:
    """Return the reply to an unknown command, with the most similar command if there is one."""
    meant = get_close_matches(name, [command.name for command in COMMANDS if not command.hidden], n=1)
    if meant:
        return say("unknown_command_meant", language, slash=slash, name=name, meant=meant[0])
    return say("unknown_command", language, slash=slash, name=name)
