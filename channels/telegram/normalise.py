"""Conversion of Telegram's updates to events. Pure; unknown and foreign updates become None, and nothing raises."""

from channels.base import (
    Addressed,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    ReactionAdded,
    Sender,
)
from channels.telegram.content import (
    Identity,
    Words,
    answered,
    attachments,
    forwarded_from,
    passed_on,
    quoted,
    speaker,
    words,
)
from channels.telegram.wire import CallbackQuery, Chat, Message, MessageReaction, Update, User
from channels.text import Command, parse_command

ANONYMOUS = frozenset((1087968824, 136817688))
"""GroupAnonymousBot and Channel_Bot, as which Telegram shows users who write as their group or channel."""
SERVICE = 777000
"""Telegram itself, which also forwards a channel's posts to its group."""


def normalise(update: Update, me: Identity, now: float) -> InboundEvent | None:
    """Convert an update; return None if it does not concern the bot. `now` is the time of undated events.

    Event ids consist of what Telegram never repeats: chat, message and date of an edit, or the id of a button press.
    `update_id` may restart after a week without updates.
    """
    if update.message:
        return _message(update.message, me)
    if update.edited_message:
        return _edited(update.edited_message, me)
    if update.callback_query:
        return _pressed(update.callback_query, me, now)
    if update.message_reaction:
        return _reaction(update.message_reaction, me)
    return None


def message_event_id(me: Identity, chat: int, message: int) -> str:
    return f"telegram:{me.id}:{chat}:{message}"


def _message(message: Message, me: Identity) -> MessageReceived | CommandInvoked | None:
    sender = _sender(message)
    said = words(message, me)
    files = attachments(message)
    if sender is None or not _has_content(message, said, files_count=len(files)):
        return None
    forwarded = forwarded_from(message)
    if not files and not forwarded and said.text.startswith("/"):
        command = parse_command(said.text, {me.username})
        if command:
            return _command(message, me, sender, said, command) if command.addressed else None
    replied = answered(message)
    theirs = attachments(replied) if replied and not files and not _is_me(replied, me) else ()
    if forwarded:
        files = passed_on(files, forwarded)
    elif replied and (forwarded_from(replied) or _sender(replied) != sender):
        theirs = passed_on(theirs, forwarded_from(replied) or speaker(replied))
    return MessageReceived(
        event_id=message_event_id(me, message.chat.id, message.message_id),
        chat=_key(message, me),
        sender=sender,
        at=message.date,
        addressed=_addressed(message, me, said),
        text="" if forwarded else said.text,
        message_id=str(message.message_id),
        attachments=files or theirs,
        reply_to=str(replied.message_id) if replied else None,
        quoted=quoted(message),
        shared=_passed_on(forwarded, said),
    )


def _has_content(message: Message, said: Words, *, files_count: int) -> bool:
    """Return False for service messages (joins, pins, titles, a group's move)."""
    return bool(message.text or message.caption or said.text or files_count)


def _command(message: Message, me: Identity, sender: Sender, said: Words, command: Command) -> CommandInvoked:
    named = said.mentions_us or "@" in said.text.split(maxsplit=1)[0]
    return CommandInvoked(
        event_id=message_event_id(me, message.chat.id, message.message_id),
        chat=_key(message, me),
        sender=sender,
        at=message.date,
        addressed=_addressed(message, me, Words(said.text, named)),
        message_id=str(message.message_id),
        name=command.name,
        arguments=command.arguments,
    )


def _edited(message: Message, me: Identity) -> MessageEdited | None:
    sender = _sender(message)
    if sender is None or not (message.text or message.caption):
        return None
    said, forwarded = words(message, me), forwarded_from(message)
    edited = message.edit_date or message.date
    return MessageEdited(
        event_id=f"{message_event_id(me, message.chat.id, message.message_id)}:edited:{edited}",
        chat=_key(message, me),
        sender=sender,
        at=edited,
        addressed=_addressed(message, me, said),
        message_id=str(message.message_id),
        text="" if forwarded else said.text,
        shared=_passed_on(forwarded, said),
    )


def _passed_on(forwarded: str, said: Words) -> str:
    return f"Forwarded from {forwarded}:\n{said.text}".strip() if forwarded else ""


def _pressed(query: CallbackQuery, me: Identity, now: float) -> ButtonPressed | None:
    if query.message is None or query.data is None or query.sender.is_bot:
        return None
    return ButtonPressed(
        event_id=f"telegram:{me.id}:press:{query.id}",
        chat=_key(query.message, me),
        sender=_person(query.sender),
        at=now,
        addressed=Addressed.DIRECT if _is_private(query.message.chat) else Addressed.REPLY,
        message_id=str(query.message.message_id),
        action=query.data,
    )


def _reaction(reaction: MessageReaction, me: Identity) -> ReactionAdded | None:
    added = [new.emoji for new in reaction.new_reaction if new.emoji and new not in reaction.old_reaction]
    if reaction.user is None or reaction.user.is_bot or not added:
        return None
    message = f"{message_event_id(me, reaction.chat.id, reaction.message_id)}"
    return ReactionAdded(
        event_id=f"{message}:reaction:{reaction.user.id}:{reaction.date}:{added[0]}",
        chat=ChatKey(platform="telegram", account=str(me.id), chat=str(reaction.chat.id)),
        sender=_person(reaction.user),
        at=reaction.date,
        addressed=Addressed.DIRECT if _is_private(reaction.chat) else Addressed.AMBIENT,
        message_id=str(reaction.message_id),
        emoji=added[0],
    )


def _key(message: Message, me: Identity) -> ChatKey:
    """Return the chat of a message. Groups without topics have thread ids for replies too; those are no chats."""
    thread = str(message.message_thread_id) if message.is_topic_message and message.message_thread_id else None
    return ChatKey(platform="telegram", account=str(me.id), chat=str(message.chat.id), thread=thread)


def _addressed(message: Message, me: Identity, said: Words) -> Addressed:
    if _is_private(message.chat):
        return Addressed.DIRECT
    if said.mentions_us:
        return Addressed.MENTION
    replied = answered(message)
    return Addressed.REPLY if replied and _is_me(replied, me) else Addressed.AMBIENT


def _sender(message: Message) -> Sender | None:
    """Return the user, or the group or channel as which the user writes; None for bots."""
    user = message.sender
    if message.sender_chat and (user is None or user.id in ANONYMOUS or user.id == SERVICE):
        chat = message.sender_chat
        return Sender(id=str(chat.id), name=chat.title or chat.username or str(chat.id))
    if user is None or user.is_bot or user.id == SERVICE:
        return None
    return _person(user)


def _person(user: User) -> Sender:
    return Sender(id=str(user.id), name=user.name, is_bot=user.is_bot, language=user.language_code)


def _is_me(message: Message, me: Identity) -> bool:
    return message.sender is not None and message.sender.id == me.id


def _is_private(chat: Chat) -> bool:
    return chat.type == "private"
