"""Selects the part of a history that is still in effect after compaction."""

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
"""Old tool results longer than this many characters are shortened."""
END = 200
"""Characters kept of the head, and of the tail, of a shortened result."""
PICTURE_GONE = "[a picture, not shown any more]\n"

_WHOLE = re.compile(r"is in (\.output/\d{1,9}\.txt)")


def effective(messages: Sequence[AgentMessage]) -> list[AgentMessage]:
    """Return the last summary, the messages it kept and those after it; all messages if there is no summary.

    A summary whose first kept message is missing replaces everything before it. Kept messages are changed here, once
    and for good: old results are shortened, and answers lose their token usage, which no longer tells how full the
    window is.
    """
    place = next((index for index in reversed(range(len(messages))) if _is_boundary(messages[index])), None)
    if place is None:
        return list(messages)
    summary = messages[place]
    first = _first_kept(messages[:place], summary)
    kept = [_uncounted(message) for message in messages[first:place] if not _is_boundary(message)]
    return [summary, *_shortened(kept, summary), *messages[place + 1 :]]


def shortened(message: AgentMessage) -> AgentMessage:
    """Return an old message in its shortened form; most are returned unchanged."""
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
