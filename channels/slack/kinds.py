"""Kinds of Slack's messages: those that tell of an event, and those without anything that could be read."""

from channels.slack.wire import Message
from channels.unread import Unread

TYPED = frozenset(("rich_text", "markdown"))
"""Blocks that only repeat the text of the message."""
_SERVICE = frozenset(
    (
        "assistant_app_thread",
        "bot_add",
        "bot_disable",
        "bot_enable",
        "bot_remove",
        "document_mention",
        "ekm_access_denied",
        "file_comment",
        "file_mention",
        "joiner_notification",
        "message_replied",
        "pinned_item",
        "reminder_add",
        "reply_broadcast",
        "tombstone",
        "unpinned_item",
    )
)
_SERVICE_OF = ("app_conversation_", "channel_", "group_", "huddle_", "sh_room_")
"""Beginnings of further subtypes of messages that tell of an event and need no answer."""


def is_service(message: Message) -> bool:
    """Return True for a message that tells of an event. People may write those of any other subtype."""
    return message.subtype in _SERVICE or message.subtype.startswith(_SERVICE_OF)


def unread_kinds(message: Message) -> tuple[Unread, ...]:
    """Return the kind of a message without anything that could be read."""
    kinds = {block.get("type") for block in message.blocks}
    if "call" in kinds:
        return ("call",)
    if kinds - TYPED or message.attachments:
        return ("app",)
    return lost_kinds(message) or ("unknown",)


def lost_kinds(message: Message) -> tuple[Unread, ...]:
    """Return the kinds of what is lost from a message of which the rest can be read."""
    carried = [each for shared in message.attachments for each in shared.all]
    files = [*message.files, *(file for each in carried for file in each.all_files)]
    quoted = (part for each in carried for quote in each.message_blocks for part in (quote, quote.message) if part)
    odd = message.odd.union(*(each.odd for each in carried), *(part.odd for part in quoted))
    kinds: dict[Unread, bool] = {
        "file": "files" in odd or not all(file.is_told for file in files),
        "part": bool({"text", "attachments", "pretext", "title", "fields", "message_blocks", "message"} & odd)
        or ("blocks" in odd and not message.text),
    }
    return tuple(kind for kind, is_lost in kinds.items() if is_lost)
