"""What of a conversation still counts after it was compacted (S3-17, C-10)."""

import re
from collections.abc import Sequence

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    ImageContent,
    SummaryMessage,
    TextContent,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
    text_of,
)

LONG = 500
"""Characters of an old tool result; a longer one is shortened (C-24)."""
END = 200
"""Characters of its head, and of its tail, that are left."""
PICTURE_GONE = "[a picture, not shown any more]\n"

_WHOLE = re.compile(r"is in (\.output/\d{1,9}\.txt)")


def effective(messages: Sequence[AgentMessage]) -> list[AgentMessage]:
    """The last summary, and what it kept and what came since; all messages where there is no summary.

    A summary whose first kept message is not to be found stands for everything before itself. What was kept is
    changed here, once, and never again: old results are short, and no answer tells any more how full the window was.
    """
    place = next((index for index in reversed(range(len(messages))) if _is_boundary(messages[index])), None)
    if place is None:
        return list(messages)
    summary = messages[place]
    first = _first_kept(messages[:place], summary)
    kept = [_uncounted(message) for message in messages[first:place] if not _is_boundary(message)]
    return [summary, *_shortened(kept, summary), *messages[place + 1 :]]


def shortened(message: AgentMessage) -> AgentMessage:
    """An old message as it is shown from now on; most stay as they are."""
    if not isinstance(message, UserMessage | ToolResultMessage):
        return message
    if isinstance(message, UserMessage) and all(isinstance(part, TextContent) for part in message.content):
        return message
    content = [part for part in message.content if isinstance(part, TextContent)]
    text = text_of(content)
    if isinstance(message, ToolResultMessage) and len(text) > LONG:
        content = [TextContent(text=_ends(text))]
    if len(content) == len(message.content) and content == list(message.content):
        return message
    pictures = sum(isinstance(part, ImageContent) for part in message.content)
    notes: list[UserContent] = [TextContent(text=PICTURE_GONE)] * pictures
    return message.model_copy(update={"content": (*notes, *content)})


def _ends(text: str) -> str:
    kept = _WHOLE.search(text)
    where = f"; the whole is in {kept[1]}" if kept else ""
    return f"{text[:END]}\n[... {len(text) - 2 * END:,} characters cut{where} ...]\n{text[-END:]}"


def _shortened(kept: Sequence[AgentMessage], summary: AgentMessage) -> list[AgentMessage]:
    wanted = summary.short_until if isinstance(summary, SummaryMessage) else ""
    until = next((index for index, message in enumerate(kept) if wanted and message.id == wanted), -1)
    return [*map(shortened, kept[: until + 1]), *kept[until + 1 :]]


def _uncounted(message: AgentMessage) -> AgentMessage:
    counts = isinstance(message, AssistantMessage) and message.usage.total
    return message.model_copy(update={"usage": Usage()}) if counts else message


def _is_boundary(message: AgentMessage) -> bool:
    return isinstance(message, SummaryMessage)


def _first_kept(before: Sequence[AgentMessage], summary: AgentMessage) -> int:
    wanted = summary.first_kept_id if isinstance(summary, SummaryMessage) else ""
    return next((index for index, message in enumerate(before) if message.id == wanted), len(before))
