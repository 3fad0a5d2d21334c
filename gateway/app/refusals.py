"""Refuses messages that exceed a user's waiting limit, quoting each so that the user sees which ones."""

from collections.abc import Sequence

from channels.base import InboundEvent, MessageReceived, OutboundMessage
from channels.text import literal
from gateway.chat.pace import MOST_WAITING
from gateway.store.rows import InboxItem
from gateway.texts.say import Language, say

LONGEST = 80
"""Characters of a refused message that are quoted."""


def refusal(items: Sequence[InboxItem], language: Language) -> OutboundMessage:
    """Return the reply to the first of these messages that refuses all of them, quoting each."""
    key = "too_many_waiting" if len(items) == 1 else "too_many_waiting_more"
    names = [f"> {literal(_name(item.event))}  " for item in items]
    text = "\n".join([say(key, language, most=MOST_WAITING, count=len(items)), "", *names])
    first = items[0].event
    replied = first.message_id if isinstance(first, MessageReceived) else None
    return OutboundMessage(markdown=text, reply_to=replied)


def _name(event: InboundEvent) -> str:
    if not isinstance(event, MessageReceived):
        return ""
    words = " ".join(event.words.split())
    shortened = words if len(words) <= LONGEST else f"{words[:LONGEST]}..."
    files = [f"[{file.safe_name}]" for file in event.attachments]
    return " ".join(filter(None, (shortened, *files)))
