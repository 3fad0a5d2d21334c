"""What of a conversation still counts after it was compacted (S3-17, C-10)."""

from collections.abc import Sequence

from agent_core.messages import AgentMessage, SummaryMessage


def effective(messages: Sequence[AgentMessage]) -> list[AgentMessage]:
    """The last summary, and what it kept and what came since; all messages where there is no summary.

    A summary whose first kept message is not to be found stands for everything before itself.
    """
    place = next((index for index in reversed(range(len(messages))) if _is_boundary(messages[index])), None)
    if place is None:
        return list(messages)
    summary = messages[place]
    first = _first_kept(messages[:place], summary)
    kept = [message for message in messages[first:place] if not _is_boundary(message)]
    return [summary, *kept, *messages[place + 1 :]]


def _is_boundary(message: AgentMessage) -> bool:
    return isinstance(message, SummaryMessage)


def _first_kept(before: Sequence[AgentMessage], summary: AgentMessage) -> int:
    wanted = summary.first_kept_id if isinstance(summary, SummaryMessage) else ""
    return next((index for index, message in enumerate(before) if message.id == wanted), len(before))
