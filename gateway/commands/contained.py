"""Answers a person whose command met a mistake of ours, such as a stored value that cannot be read."""

from textwrap import shorten

import structlog
from msgspec.structs import replace

from agent_core.clock import new_id
from agent_core.file_handles import lacks_handles
from channels.base import OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, whispered
from gateway.store.writer import may_pass
from gateway.texts.say import say

MOST_CAUSE = 200
"""Characters of an error that an owner is shown."""

log = structlog.get_logger(__name__)


def contained(command: Command) -> Command:
    """Return a command that answers whatever happens, except for what passes by itself: then it is run again."""

    async def run(given: Invocation) -> Answer:
        try:
            return await command.run(given)
        except Exception as error:
            if lacks_handles(error) or may_pass(error):
                raise
            name = new_id()[:8]
            log.exception("a command failed", command=command.name, chat=str(given.chat), id=name)
            return _sorry(given, error, name)

    return replace(command, run=run)


def _sorry(given: Invocation, error: Exception, name: str) -> OutboundMessage:
    """Tell owners the cause, but not in groups, whose others it would show words of the store."""
    if given.is_owner and not given.in_group:
        first, _, _ = str(error).partition("\n")  # the rest quotes what could not be read
        cause = literal(shorten(f"{type(error).__name__}: {first}", MOST_CAUSE, placeholder=" ..."))
        return whispered(given, say("command_failed_owner", given.language, cause=cause, id=name))
    return whispered(given, say("command_failed", given.language, id=name))
