"""Conversion of Slack's message events. Pure; unknown and foreign payloads become None, and nothing raises."""

import re
from collections.abc import Set

from channels.base import (
    Addressed,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Sender,
)
from channels.slack.content import Identity, Names, attachments, words
from channels.slack.wire import Message

SAID = frozenset(("", "file_share", "thread_broadcast", "me_message"))
"""Subtypes that are messages of users."""
BY_APPS = "bot_message"
SLACK_ITSELF = "USLACKBOT"
_COMMAND = re.compile(r"!([A-Za-z0-9_]{1,32})(?:\s+(.*))?", re.DOTALL)


def normalise(message: Message, me: Identity, names: Names, commands: Set[str]) -> InboundEvent | None:
    """Convert a `message` or `app_mention`; return None if it does not concern the bot.

    The event id is built from the message's timestamp: both events of one post have the same id, and so has the post
    when it is read from the history.
    """
    if message.subtype == "message_changed":
        return _changed(message, me, names)
    if message.subtype == "message_deleted":
        return _deleted(message, message.previous_message, me, names)
    return None if _is_bot(message) else said(message, me, names, commands)


def said(message: Message, me: Identity, names: Names, commands: Set[str]) -> MessageReceived | CommandInvoked | None:
    """Convert a message of a user or app other than the bot."""
    if message.subtype not in SAID and message.subtype != BY_APPS:
        return None
    sender = _sender(message, names)
    if sender is None or is_ours(message, me) or not message.channel:
        return None
    spoken = words(message, me, names)
    files = attachments(message, names)
    if not spoken.everything and not files and not spoken.mentions_us:
        return None
    addressed = _addressed(message, me, mentions_us=spoken.mentions_us)
    chat = _chat(message, me, addressed)
    command = _COMMAND.fullmatch(spoken.text) if _takes_commands(message, addressed) and not files else None
    if command and command[1].lower() in commands:
        return CommandInvoked(
            event_id=message_event_id(me, message.channel, message.ts),
            chat=chat,
            sender=sender,
            at=float(message.ts),
            addressed=addressed,
            message_id=message.ts,
            name=command[1].lower(),
            arguments=(command[2] or "").strip(),
        )
    return MessageReceived(
        event_id=message_event_id(me, message.channel, message.ts),
        chat=chat,
        sender=sender,
        at=float(message.ts),
        addressed=addressed,
        text=spoken.text,
        message_id=message.ts,
        attachments=files,
        reply_to=message.thread,
        shared=spoken.shared,
    )


def message_event_id(me: Identity, channel: str, ts: str) -> str:
    return f"slack:{me.team}:{channel}:{ts}"


def is_direct(channel: str) -> bool:
    """Return True for a private chat with one user. A conversation of several people without a channel is a group."""
    return channel.startswith("D")


def is_ours(message: Message, me: Identity) -> bool:
    return message.user == me.user or bool(me.bot and message.bot_id == me.bot)


def _is_bot(message: Message) -> bool:
    return bool(message.bot_id) or message.subtype == BY_APPS or message.user == SLACK_ITSELF


def _takes_commands(message: Message, addressed: Addressed) -> bool:
    """Return True if `!word` is a command here. Slack has no slash commands in threads; in channels the prefix may
    belong to another bot, so a mention is required."""
    return message.thread is not None or addressed in (Addressed.DIRECT, Addressed.MENTION)


def _changed(message: Message, me: Identity, names: Names) -> MessageEdited | MessageDeleted | None:
    """Convert a user's edit of the text. Slack also sends a change for unfolded links and new replies."""
    now, before = message.message, message.previous_message
    if now is None:
        return None
    if now.subtype == "tombstone":  # deleted, but its thread remains
        return _deleted(message.model_copy(update={"deleted_ts": now.ts}), before, me, names)
    sender = _sender(now, names)
    if now.edited is None or (before is not None and before.edited == now.edited):
        return None
    if now.subtype not in SAID or sender is None or is_ours(now, me) or _is_bot(now):
        return None
    post = now.model_copy(update={"channel": message.channel})
    spoken = words(post, me, names)
    addressed = _addressed(post, me, mentions_us=spoken.mentions_us)
    return MessageEdited(
        event_id=f"{message_event_id(me, post.channel, post.ts)}:edited:{now.edited.ts}",
        chat=_chat(post, me, addressed),
        sender=sender,
        at=float(now.edited.ts),
        addressed=addressed,
        message_id=post.ts,
        text=spoken.text,
        shared=spoken.shared,
    )


def _deleted(message: Message, before: Message | None, me: Identity, names: Names) -> MessageDeleted | None:
    sender = _sender(before, names) if before else None
    if before is None or sender is None or message.deleted_ts is None or is_ours(before, me) or _is_bot(before):
        return None
    post = before.model_copy(update={"channel": message.channel})
    addressed = _addressed(post, me, mentions_us=words(post, me, names).mentions_us)
    return MessageDeleted(
        event_id=f"{message_event_id(me, post.channel, message.deleted_ts)}:deleted",
        chat=_chat(post, me, addressed),
        sender=sender,
        at=float(message.ts),
        addressed=addressed,
        message_id=message.deleted_ts,
    )


def _addressed(message: Message, me: Identity, *, mentions_us: bool) -> Addressed:
    if is_direct(message.channel):
        return Addressed.DIRECT
    if mentions_us:
        return Addressed.MENTION
    return Addressed.REPLY if message.thread and message.parent_user_id == me.user else Addressed.AMBIENT


def _chat(message: Message, me: Identity, addressed: Addressed) -> ChatKey:
    """Return the chat of a message. A mention in a channel is answered in its thread, which is a chat of its own."""
    thread = message.thread or (message.ts if addressed is Addressed.MENTION else None)
    return ChatKey(platform="slack", account=me.team, chat=message.channel, thread=thread)


def _sender(message: Message, names: Names) -> Sender | None:
    who = message.user or message.bot_id
    if not who:
        return None
    known = names(who)
    profile = message.user_profile or message.bot_profile
    name = (known.name if known else "") or message.username or (profile.shown if profile else "") or who
    return Sender(id=who, name=name, is_bot=_is_bot(message), language=known.language if known else None)
