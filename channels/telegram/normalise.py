"""Conversion of Telegram's updates to events: text without mentions of the bot, files, and replies.

Pure; unknown and foreign updates become None, and nothing raises.
"""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from channels.attachments import Attachment
from channels.base import (
    Addressed,
    ButtonPressed,
    ChatKey,
    ChatMoved,
    CommandInvoked,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    ReactionAdded,
    ReactionRemoved,
    Sender,
)
from channels.moved import chat_moved
from channels.telegram.content import lost_kinds, picked, unread_kinds, unread_name, words_of
from channels.telegram.entities import spelled, within
from channels.telegram.identity import Identity
from channels.telegram.rich_message import rich_media
from channels.telegram.wire import (
    CallbackQuery,
    Chat,
    Entity,
    File,
    Message,
    MessageReaction,
    Origin,
    Quote,
    Update,
    User,
    message_of,
)
from channels.text import MessageText, parse_command, utf16_len
from channels.unread import Unread

ANONYMOUS = frozenset((1087968824, 136817688))
"""GroupAnonymousBot and Channel_Bot, as which Telegram shows users who write as their group or channel."""
SERVICE = 777000
"""Telegram itself, which also forwards a channel's posts to its group."""


def message_text(message: Message, me: Identity) -> MessageText:
    """Return text or caption without mentions of the bot, or a sign, and what comes with it in words."""
    if message.is_plain:
        return MessageText(message.text, mentions_bot=False)

    def is_ours(entity: Entity, named: str) -> bool:
        if entity.type not in ("mention", "text_mention"):
            return False
        by_id = entity.user is not None and entity.user.id == me.id
        return by_id or named.casefold() == f"@{me.username}".casefold()

    return words_of(message, is_ours)


def forwarded_from(message: Message) -> str:
    """Return the author of a forwarded message or of an inline bot's text; "" if the sender wrote it."""
    if message.via_bot is not None:
        return f"@{message.via_bot.username}"
    if message.forward_origin is None:
        return "somebody" if {"forward_origin", "via_bot"} & message.odd else ""
    return _origin_name(message.forward_origin) or "somebody"


def _origin_name(origin: Origin) -> str:
    chat = origin.chat or origin.sender_chat
    if origin.sender_user:
        return origin.sender_user.name
    return origin.sender_user_name or (chat.title or chat.username if chat else "")


def author_name(message: Message) -> str:
    """Return the name displayed above a message."""
    if message.sender_chat:
        return message.sender_chat.title or message.sender_chat.username or str(message.sender_chat.id)
    return message.sender.name if message.sender else ""


def replied_message(message: Message) -> Message | None:
    """Return the message replied to. In topics, Telegram fills the field with the topic's service message if there is
    none."""
    reply = message.reply_to_message
    if reply is None or reply.forum_topic_created is not None:
        return None
    return None if message.is_topic_message and reply.message_id == message.message_thread_id else reply


def quoted(message: Message) -> str | None:
    """Return `Ann: text` for the message replied to, or for the quoted part of it."""
    reply, external = replied_message(message), message.external_reply
    shown = reply or (external.message if external else None)
    if message.quote:
        said = _quoted_part(message.quote, reply)
    elif shown:
        files = " ".join(f"[{attachment.safe_name}]" for attachment in attachments(shown))
        unread = unread_name(shown) if reply and not files else ""
        said = " ".join(filter(None, (words_of(shown).full_text or unread, files)))
        said = "\n\n".join(filter(None, (picked(message, shown), said)))
    else:
        said = ""
    name = author_name(reply) if reply else _origin_name(external.origin) if external else ""
    return (f"{name}: {said}" if name else said) if said else None


def _quoted_part(quote: Quote, reply: Message | None) -> str:
    """Return the quoted text. Telegram leaves most entities out of a quote, but not out of what it quotes."""
    whole = (reply.entities if reply.text else reply.caption_entities) if reply else ()
    inside = within(whole, quote.position, utf16_len(quote.text))
    return spelled(quote.text, [*quote.entities, *inside]).text


def by_another(files: tuple[Attachment, ...], by: str) -> tuple[Attachment, ...]:
    """Mark files as coming from another author than the sender."""
    return tuple(file.model_copy(update={"by": by or "somebody"}) for file in files)


def attachments(message: Message) -> tuple[Attachment, ...]:
    """Return the files of a message, photos only in the largest size."""
    return tuple(_attachments(message))


def _attachments(message: Message) -> Iterator[Attachment]:
    if message.photo:
        yield _attachment(max(message.photo, key=lambda size: size.width * size.height), "photo", ".jpg", "image/jpeg")
    if message.animation:
        yield _attachment(message.animation, "animation", ".mp4", "video/mp4")
    elif message.document:  # an animation is listed as a document too
        yield _attachment(message.document, "document", "", "application/octet-stream")
    if message.voice:
        yield _recorded(_attachment(message.voice, "voice", ".ogg", "audio/ogg"), message.voice)
    if message.audio:
        audio = _attachment(message.audio, message.audio.title or "audio", ".mp3", "audio/mpeg")
        yield audio.model_copy(update={"seconds": message.audio.duration})
    if message.video:
        yield _attachment(message.video, "video", ".mp4", "video/mp4")
    for part in filter(None, _parts(message)):
        yield from _attachments(part)
    if message.video_note:
        yield _recorded(_attachment(message.video_note, "video", ".mp4", "video/mp4"), message.video_note)


def _parts(message: Message) -> Iterator[Message | None]:
    """Yield what is inside of a message as messages; None for what has an unexpected shape."""
    for item in message.paid_media.paid_media if message.paid_media else ():
        yield message.model_copy(update={"paid_media": None, **dict(item)})
    for kind, media in rich_media(message.rich_message.blocks) if message.rich_message else ():
        yield message_of({"audio" if kind == "voice_note" else kind: media})
    if message.poll and message.poll.media:
        yield message_of(message.poll.media)


def _recorded(attachment: Attachment, file: File) -> Attachment:
    """Mark a recording of the sender."""
    return attachment.model_copy(update={"is_voice": True, "seconds": file.duration})


def _attachment(file: File, kind: str, suffix: str, mime_type: str) -> Attachment:
    """Build an attachment; a file without a name gets one from its kind and its stable id."""
    made_up = f"{kind}-{re.sub(r'[^0-9A-Za-z]', '', file.file_unique_id)[-8:]}".rstrip("-") + suffix
    return Attachment(
        name=file.file_name or made_up,
        mime_type=file.mime_type or mime_type,
        size=file.file_size,
        reference=file.file_id,
    )


def normalise(update: Update, me: Identity, now: float) -> InboundEvent | None:
    """Convert an update; return None if it does not concern the bot. `now` is the time of undated events.

    Event ids consist of what Telegram never repeats: chat, message, date and text of an edit, or the id of a press.
    `update_id` may restart after a week without updates.
    """
    if update.message:
        return _moved(update.message, me) or _ticked(update.message, me) or _message(update.message, me)
    if update.edited_message:
        return _edited(update.edited_message, me)
    if update.callback_query:
        return _pressed(update.callback_query, me, now)
    if update.message_reaction:
        return _reaction(update.message_reaction, me)
    return None


def message_event_id(me: Identity, chat: int, message: int) -> str:
    return f"telegram:{me.id}:{chat}:{message}"


class _Along(NamedTuple):
    """The content that comes along with the words of a message."""

    forwarded_from: str = ""
    files: tuple[Attachment, ...] = ()
    replied_files: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    quoted: str | None = None
    lost: tuple[Unread, ...] = ()


def _along(message: Message, me: Identity) -> _Along:
    files, forwarded, replied = attachments(message), forwarded_from(message), replied_message(message)
    return _Along(
        forwarded_from=forwarded,
        files=by_another(files, forwarded) if forwarded else files,
        replied_files=() if files else _replied_files(message, me),
        reply_to=str(replied.message_id) if replied else None,
        quoted=quoted(message),
        lost=lost_kinds(message),
    )


def _moved(message: Message, me: Identity) -> ChatMoved | None:
    """Return that a group has become a supergroup, as the service message says in either of the two."""
    if not (message.migrate_from_chat_id or message.migrate_to_chat_id):
        return None
    old, new = message.migrate_from_chat_id or message.chat.id, message.migrate_to_chat_id or message.chat.id
    return chat_moved(ChatKey(platform="telegram", account=str(me.id), chat=str(old)), str(new), message.date)


def _message(message: Message, me: Identity) -> MessageReceived | CommandInvoked | None:
    sender = _sender(message)
    said = message_text(message, me)
    along = _Along() if message.is_plain else _along(message, me)
    has_content = bool(said.text or said.shared or said.mentions_bot or along.files)
    unread = along.lost if has_content else unread_kinds(message)
    if sender is None or not (has_content or unread):
        return None
    forwarded = along.forwarded_from
    received = MessageReceived(
        event_id=message_event_id(me, message.chat.id, message.message_id),
        chat=_key(message, me),
        sender=sender,
        at=message.date,
        addressed=_addressed(message, me, said),
        group=message.chat.title,
        named=() if forwarded else said.named,
        text="" if forwarded else said.text,
        message_id=str(message.message_id),
        attachments=along.files or along.replied_files,
        reply_to=along.reply_to,
        quoted=along.quoted,
        shared=_as_forwarded(forwarded, said) if forwarded else said.shared,
        unread=unread,
    )
    may_be_command = not along.files and not forwarded and said.text.startswith("/")
    command = parse_command(said.text, {me.username}) if may_be_command else None
    if command is None:
        return received
    if not command.addressed:
        return None
    named = said.mentions_bot or "@" in said.text.split(maxsplit=1)[0]
    addressed = _addressed(message, me, said._replace(mentions_bot=named))
    return received.model_copy(update={"addressed": addressed}).as_command(command.name, command.arguments)


def _replied_files(message: Message, me: Identity) -> tuple[Attachment, ...]:
    """Return the files of the message replied to, here or in another chat, unless it is ours."""
    replied, external = replied_message(message), message.external_reply
    if replied is None:
        shown = external.message if external else None
        return by_another(attachments(shown), _origin_name(external.origin)) if external and shown else ()
    theirs = () if _is_me(replied, me) else attachments(replied)
    is_own = not forwarded_from(replied) and _sender(replied) == _sender(message)
    return theirs if is_own else by_another(theirs, forwarded_from(replied) or author_name(replied))


def _ticked(message: Message, me: Identity) -> MessageEdited | None:
    """Return the edit of a checklist, as the service message about its tasks tells it."""
    change = message.checklist_tasks_done or message.checklist_tasks_added
    changed = change.checklist_message if change else None
    if changed is None:
        return None
    by = {"sender": message.sender, "sender_chat": message.sender_chat, "edit_date": message.date}
    place = {"chat": message.chat, "message_thread_id": message.message_thread_id}
    topic = {"is_topic_message": message.is_topic_message}
    return _edited(changed.model_copy(update={**by, **place, **topic}), me)


def _edited(message: Message, me: Identity) -> MessageEdited | None:
    sender = _sender(message)
    if sender is None or not (message.text or message.caption or message.checklist):
        return None
    said, forwarded = message_text(message, me), forwarded_from(message)
    edited, words = message.edit_date or message.date, message.text or message.caption or said.shared
    words += "".join(entity.url for entity in message.entities or message.caption_entities)
    content = sha256(words.encode(errors="surrogatepass")).hexdigest()[:16]  # dates are whole seconds
    return MessageEdited(
        event_id=f"{message_event_id(me, message.chat.id, message.message_id)}:edited:{edited}:{content}",
        chat=_key(message, me),
        sender=sender,
        at=edited,
        addressed=_addressed(message, me, said),
        named=() if forwarded else said.named,
        message_id=str(message.message_id),
        text="" if forwarded else said.text,
        shared=_as_forwarded(forwarded, said) if forwarded else said.shared,
    )


def _as_forwarded(forwarded: str, said: MessageText) -> str:
    return f"Forwarded from {forwarded}:\n{said.full_text}".strip()


def _pressed(query: CallbackQuery, me: Identity, now: float) -> ButtonPressed | None:
    if query.message is None or query.data is None or query.sender.is_bot:
        return None
    return ButtonPressed(
        event_id=f"telegram:{me.id}:press:{query.id}",
        chat=_key(query.message, me),
        sender=_person(query.sender),
        at=now,
        addressed=Addressed.DIRECT if _is_private(query.message.chat) else Addressed.REPLY,
        group=query.message.chat.title,
        message_id=str(query.message.message_id),
        action=query.data,
    )


def _reaction(reaction: MessageReaction, me: Identity) -> ReactionAdded | ReactionRemoved | None:
    """Convert a user's change of their reactions: one that is new, else one that they took back."""
    added = [new.emoji for new in reaction.new_reaction if new.emoji and new not in reaction.old_reaction]
    removed = [old.emoji for old in reaction.old_reaction if old.emoji and old not in reaction.new_reaction]
    if reaction.user is None or reaction.user.is_bot or not (added or removed):
        return None
    kind, emoji = (ReactionAdded, added[0]) if added else (ReactionRemoved, removed[0])
    message = f"{message_event_id(me, reaction.chat.id, reaction.message_id)}"
    what = "reaction" if added else "no-reaction"
    return kind(
        event_id=f"{message}:{what}:{reaction.user.id}:{reaction.date}:{emoji}",
        chat=ChatKey(platform="telegram", account=str(me.id), chat=str(reaction.chat.id)),
        sender=_person(reaction.user),
        at=reaction.date,
        addressed=Addressed.DIRECT if _is_private(reaction.chat) else Addressed.AMBIENT,
        message_id=str(reaction.message_id),
        emoji=emoji,
    )


def _key(message: Message, me: Identity) -> ChatKey:
    """Return the chat of a message. Groups without topics have thread ids for replies too; those are no chats."""
    thread = str(message.message_thread_id) if message.is_topic_message and message.message_thread_id else None
    return ChatKey(platform="telegram", account=str(me.id), chat=str(message.chat.id), thread=thread)


def _addressed(message: Message, me: Identity, said: MessageText) -> Addressed:
    if _is_private(message.chat):
        return Addressed.DIRECT
    if said.mentions_bot:
        return Addressed.MENTION
    replied = replied_message(message)
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
