"""Conversion of Slack's message events: text without mentions of the bot, files, and shared content.

Pure; unknown and foreign payloads become None, and nothing raises.
"""

import re
from collections.abc import Set

from channels.attachments import Attachment
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
from channels.slack.blocks import block_words, custom_emoji
from channels.slack.files import described, not_here
from channels.slack.kinds import TYPED, is_service, lost_kinds, unread_kinds
from channels.slack.mentions import TOKEN, Identity, Mentions, Names, readable, standing
from channels.slack.shared_content import attachment_words, files_of
from channels.slack.wire import Message
from channels.text import MessageText, emoji_told, without

SAID = frozenset(("", "file_share", "thread_broadcast", "me_message"))
"""Subtypes that are messages of users."""
BY_APPS = "bot_message"
SLACK_ITSELF = "USLACKBOT"
_COMMAND = re.compile(r"!([A-Za-z0-9_]{1,32})(?:\s+(.*))?", re.DOTALL)


def message_text(message: Message, me: Identity, names: Names) -> MessageText:
    """Return all visible text of a message, without mentions of the bot."""
    spans = [found.span() for found in TOKEN.finditer(message.text) if found[1] == "@" and found[2] == me.user]
    mentions = Mentions(me, names)
    own = block_words(message.blocks, mentions) if _says_more(message) else ""
    own = own or _without_telling_emoji(readable(without(message.text, spans), mentions), message)
    shared = (attachment_words(attachment, names) for attachment in message.attachments)
    files = (not_here(file) for file in message.files)  # others may have given them their names
    theirs = (described(file) for file in message.files if file.user != message.user)
    by_others = "\n".join(filter(None, (*shared, *files, *theirs)))
    own = "\n\n".join(filter(None, (own, *(described(file) for file in message.files if file.user == message.user))))
    return MessageText(own, bool(spans), by_others, mentions.named(message.text))


def _without_telling_emoji(text: str, message: Message) -> str:
    for name in dict.fromkeys(custom_emoji([*message.blocks])):
        text = text.replace(f":{name}:", emoji_told(name))
    return text


def _says_more(message: Message) -> bool:
    """Return True if the blocks contain more than the text: apps may leave the text empty or put a summary there."""
    return bool(message.blocks) and (
        not message.text or (bool(message.bot_id) and any(block.get("type") not in TYPED for block in message.blocks))
    )


def attachments(message: Message, names: Names) -> tuple[Attachment, ...]:
    """Return the files that can be downloaded, with their uploader if that is not the sender."""
    return tuple(files_of(message, names))


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
    if is_service(message):
        return None
    sender = _sender(message, me, names)
    if sender is None or is_own(message, me) or not message.channel:
        return None
    spoken = message_text(message, me, names)
    files = attachments(message, names)
    addressed = _addressed(message, me, mentions_bot=spoken.mentions_bot)
    has_content = spoken.full_text or files or spoken.mentions_bot
    is_ours = addressed is not Addressed.AMBIENT and not sender.is_bot
    unread = lost_kinds(message) if has_content else unread_kinds(message) if is_ours else ()
    if not (has_content or unread):
        return None
    received = MessageReceived(
        event_id=message_event_id(me, message.channel, message.ts),
        chat=_chat(message, me, addressed),
        sender=sender,
        at=float(message.ts),
        addressed=addressed,
        named=spoken.named,
        text=spoken.text,
        message_id=message.ts,
        attachments=files,
        reply_to=message.thread,
        shared=spoken.shared,
        unread=unread,
    )
    command = _COMMAND.fullmatch(spoken.text) if _takes_commands(message, addressed) and not files else None
    if command and command[1].lower() in commands:
        return received.as_command(command[1].lower(), (command[2] or "").strip())
    return received


def message_event_id(me: Identity, channel: str, ts: str) -> str:
    return f"slack:{me.team}:{channel}:{ts}"


def is_direct(channel: str) -> bool:
    """Return True for a private chat with one user. A conversation of several people without a channel is a group."""
    return channel.startswith("D")


def is_own(message: Message, me: Identity) -> bool:
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
    sender = _sender(now, me, names)
    if now.edited is None or (before is not None and before.edited == now.edited):
        return None
    if now.subtype not in SAID or sender is None or is_own(now, me) or _is_bot(now):
        return None
    post = now.model_copy(update={"channel": message.channel})
    spoken = message_text(post, me, names)
    addressed = _addressed(post, me, mentions_bot=spoken.mentions_bot)
    return MessageEdited(
        event_id=f"{message_event_id(me, post.channel, post.ts)}:edited:{now.edited.ts}",
        chat=_chat(post, me, addressed),
        sender=sender,
        at=float(now.edited.ts),
        addressed=addressed,
        named=spoken.named,
        message_id=post.ts,
        text=spoken.text,
        shared=spoken.shared,
    )


def _deleted(message: Message, before: Message | None, me: Identity, names: Names) -> MessageDeleted | None:
    sender = _sender(before, me, names) if before else None
    if before is None or sender is None or message.deleted_ts is None or is_own(before, me) or _is_bot(before):
        return None
    post = before.model_copy(update={"channel": message.channel})
    addressed = _addressed(post, me, mentions_bot=message_text(post, me, names).mentions_bot)
    return MessageDeleted(
        event_id=f"{message_event_id(me, post.channel, message.deleted_ts)}:deleted",
        chat=_chat(post, me, addressed),
        sender=sender,
        at=float(message.ts),
        addressed=addressed,
        message_id=message.deleted_ts,
    )


def _addressed(message: Message, me: Identity, *, mentions_bot: bool) -> Addressed:
    if is_direct(message.channel):
        return Addressed.DIRECT
    if mentions_bot:
        return Addressed.MENTION
    return Addressed.REPLY if message.thread and message.parent_user_id == me.user else Addressed.AMBIENT


def _chat(message: Message, me: Identity, addressed: Addressed) -> ChatKey:
    """Return the chat of a message. A mention in a channel is answered in its thread, which is a chat of its own; so is
    a message to an app with the agent view."""
    begins = addressed is Addressed.MENTION or (me.has_agent_view and is_direct(message.channel))
    thread = message.thread or (message.ts if begins else None)
    return ChatKey(platform="slack", account=me.team, chat=message.channel, thread=thread)


def _sender(message: Message, me: Identity, names: Names) -> Sender | None:
    who = message.user or message.bot_id
    if not who:
        return None
    known = names(who)
    profile = message.user_profile or message.bot_profile
    name = (known.name if known else "") or message.username or (profile.shown if profile else "") or who
    about = {"language": known.language, "zone": known.zone} if known else {}
    sender = Sender(id=who, name=name, is_bot=_is_bot(message), standing=standing(known, me))
    return sender.model_copy(update=about)
