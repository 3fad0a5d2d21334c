"""Reading Telegram messages: text without mentions of the bot, files, and replies. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from channels.base import Attachment
from channels.telegram.wire import Entity, File, Message, Origin
from channels.text import without


class Identity(NamedTuple):
    """The bot's identity on Telegram."""

    id: int
    username: str


class Words(NamedTuple):
    """Text or caption of a message, and whether it mentions the bot."""

    text: str
    mentions_us: bool


def words(message: Message, me: Identity) -> Words:
    """Return text or caption without mentions of the bot, or a line that describes other content."""
    text = message.text or message.caption
    entities = message.entities if message.text else message.caption_entities
    mentions = [span for entity in entities if (span := _mention_of(me, text, entity))]
    return Words(without(text, mentions) or _other_content(message), bool(mentions))


def _mention_of(me: Identity, text: str, entity: Entity) -> tuple[int, int] | None:
    """Return the span in `text`, in code points, if the entity mentions the bot. Telegram counts in UTF-16 units."""
    if entity.type not in ("mention", "text_mention") or entity.offset < 0 or entity.length <= 0:
        return None
    units = text.encode("utf-16-le", "surrogatepass")
    before, named = (
        units[2 * start : 2 * end].decode("utf-16-le", "replace")
        for start, end in ((0, entity.offset), (entity.offset, entity.offset + entity.length))
    )
    by_id = entity.user is not None and entity.user.id == me.id
    if not by_id and named.casefold() != f"@{me.username}".casefold():
        return None
    return len(before), len(before) + len(named)


def _other_content(message: Message) -> str:
    """Describe content other than text and files in words."""
    match message:
        case Message(sticker=File(emoji=emoji)):
            return emoji or "[sticker]"
        case Message(dice=dice) if dice:
            return f"{dice.emoji} {dice.value}"
        case Message(contact=contact) if contact:
            return f"Contact: {contact.first_name} {contact.last_name}".strip() + f", {contact.phone_number}"
        case Message(poll=poll) if poll:
            return "\n".join([f"Poll: {poll.question}", *(f"- {option.text}" for option in poll.options)])
        case Message(location=location) if location:
            named = f" ({message.venue.title}, {message.venue.address})" if message.venue else ""
            return f"Location: {location.latitude}, {location.longitude}{named}"
    return ""


def forwarded_from(message: Message) -> str:
    """Return the author of a forwarded message or of an inline bot's text; "" if the sender wrote it."""
    if message.via_bot is not None:
        return f"@{message.via_bot.username}"
    return _origin_name(message.forward_origin) or "somebody" if message.forward_origin else ""


def _origin_name(origin: Origin) -> str:
    chat = origin.chat or origin.sender_chat
    if origin.sender_user:
        return origin.sender_user.name
    return origin.sender_user_name or (chat.title or chat.username if chat else "")


def speaker(message: Message) -> str:
    """Return the name displayed above a message."""
    if message.sender_chat:
        return message.sender_chat.title or message.sender_chat.username or str(message.sender_chat.id)
    return message.sender.name if message.sender else ""


def answered(message: Message) -> Message | None:
    """Return the message replied to. In topics, Telegram fills the field with the topic's service message if there is
    none."""
    reply = message.reply_to_message
    if reply is None or reply.forum_topic_created is not None:
        return None
    return None if message.is_topic_message and reply.message_id == message.message_thread_id else reply


def quoted(message: Message) -> str | None:
    """Return `Ann: text` for the message replied to, or for the quoted part of it."""
    reply = answered(message)
    external = message.external_reply
    if message.quote:
        said = message.quote.text
    elif reply:
        files = " ".join(f"[{attachment.name}]" for attachment in attachments(reply))
        said = " ".join(filter(None, (reply.text or reply.caption or _other_content(reply), files)))
    else:
        said = ""
    name = speaker(reply) if reply else _origin_name(external.origin) if external else ""
    return (f"{name}: {said}" if name else said) if said else None


def passed_on(files: tuple[Attachment, ...], by: str) -> tuple[Attachment, ...]:
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
        yield _attachment(message.voice, "voice", ".ogg", "audio/ogg")
    if message.audio:
        yield _attachment(message.audio, message.audio.title or "audio", ".mp3", "audio/mpeg")
    for video in (message.video, message.video_note):
        if video:
            yield _attachment(video, "video", ".mp4", "video/mp4")


def _attachment(file: File, kind: str, suffix: str, mime_type: str) -> Attachment:
    """Build an attachment; a file without a name gets one from its kind and its stable id."""
    made_up = f"{kind}-{re.sub(r'[^0-9A-Za-z]', '', file.file_unique_id)[-8:]}".rstrip("-") + suffix
    return Attachment(
        name=file.file_name or made_up,
        mime_type=file.mime_type or mime_type,
        size=file.file_size,
        reference=file.file_id,
    )
