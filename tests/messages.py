"""Messages of tests, by a person with rights where nothing else is said."""

from agent_core.messages import ImageContent, UserMessage
from agent_core.messages import user as message_of
from agent_core.origin import CLEAN, Origin


def user(
    text: str, *images: ImageContent, origin: Origin = CLEAN, source: str | None = None, context: str | None = None
) -> UserMessage:
    return message_of(text, *images, origin=origin, source=source, context=context)
