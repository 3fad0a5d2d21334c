"""Reading Discord messages: text without mentions of the bot, files, and replies. Pure."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from channels.base import Attachment
from channels.discord.places import Places
from channels.discord.wire import FORWARD, Content, Embed, File, Message
from channels.text import without

_MARK = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+|/(?P<command>[^:<>]+):\d+)>"
)


class Identity(NamedTuple):
    """The bot's identity on Discord."""

    id: str
    username: str
    application: str


class Words(NamedTuple):
    """Text of a message, and whether it mentions the bot."""

    text: str
    mentions_us: bool
    shared: str = ""
    """Text by others that the message carries."""

    @property
    def everything(self) -> str:
        return "\n\n".join(filter(None, (self.text, self.shared)))


class Reference(NamedTuple):
    """Reference of a received file: its address, and the message that yields a new one after it expires."""

    channel: str
    message: str
    file: str
    url: str

    def __str__(self) -> str:
        return " ".join(self)

    @classmethod
    def parse(cls, printed: str) -> "Reference | None":
        parts = printed.split(" ", 3)
        return cls(*parts) if len(parts) == len(cls._fields) else None


def words(message: Content, me: Identity, places: Places) -> Words:
    """Return the readable text without mentions of the bot, or a line that describes other content."""
    people = {user.id: user.name for user in message.mentions}

    def names_us(mark: re.Match[str]) -> bool:
        return mark["user"] == me.id or bool(mark["role"] and places.is_role_of(mark["role"], me.id))

    def spell(mark: re.Match[str]) -> str:
        if mark["user"]:
            name = people.get(mark["user"])
        elif mark["role"]:
            name = places.role(mark["role"])
        elif mark["channel"]:
            found = places.name(mark["channel"])
            return f"#{found}" if found else mark[0]
        else:
            return f":{mark['emoji']}:" if mark["emoji"] else f"/{mark['command']}"
        return f"@{name}" if name else mark[0]

    ours = [mark.span() for mark in _MARK.finditer(message.content) if names_us(mark)]
    text = _MARK.sub(spell, without(message.content, ours))
    return Words(text or _other_content(message), bool(ours))


def _other_content(message: Content) -> str:
    """Describe stickers and polls in words."""
    stickers = " ".join(f"[sticker: {sticker.name}]" for sticker in message.sticker_items)
    poll = message.poll if isinstance(message, Message) else None
    if poll is None:
        return stickers
    answers = (answer.poll_media.text or "" for answer in poll.answers)
    return "\n".join([f"Poll: {poll.question.text or ''}", *(f"- {answer}" for answer in answers)])


def said(message: Message, me: Identity, places: Places) -> Words:
    """Return all text of a message: its own, that of forwarded messages, and the embeds that bots use as text."""
    own = words(message, me, places)
    forwarded = [f"Forwarded:\n{_flat(each.message, me, places)}".strip() for each in message.message_snapshots]
    embeds = [embed_text(embed) for embed in message.embeds] if message.is_bots else []
    text = "\n\n".join(part for part in (own.text, *embeds) if part)
    return Words(text, own.mentions_us, "\n\n".join(forwarded))


def _flat(content: Content, me: Identity, places: Places) -> str:
    return "\n".join(part for part in (words(content, me, places).text, *map(embed_text, content.embeds)) if part)


def embed_text(embed: Embed) -> str:
    """Render an embed as lines of text."""
    title = f"{embed.title} ({embed.url})" if embed.title and embed.url else embed.title or embed.url
    fields = (f"{field.name}: {field.value}" for field in embed.fields)
    author = embed.author.name if embed.author else None
    footer = embed.footer.text if embed.footer else None
    return "\n".join(part for part in (author, title, embed.description, *fields, footer) if part)


def answered(message: Message) -> Message | None:
    """Return the message replied to, or None if there is none or it was deleted."""
    reference = message.message_reference
    return message.referenced_message if reference and reference.type != FORWARD else None


def reply_to(message: Message) -> str | None:
    reference = message.message_reference
    if reference is None or reference.type == FORWARD or reference.channel_id not in (None, message.channel_id):
        return None
    return reference.message_id


def speaker(message: Message) -> str:
    """Return the name displayed above a message."""
    return (message.member.nick if message.member else None) or message.author.name


def quoted(message: Message, me: Identity, places: Places) -> str | None:
    """Return `Ann: text` for the message replied to."""
    reply = answered(message)
    if reply is None:
        return None
    files = " ".join(f"[{file.name}]" for file in attachments(reply))
    text = " ".join(part for part in (said(reply, me, places).everything, files) if part)
    return f"{speaker(reply)}: {text}" if text else None


def attachments(message: Message) -> tuple[Attachment, ...]:
    """Return the files of a message and of the messages it forwards."""
    return tuple(_attachments(message))


def _attachments(message: Message) -> Iterator[Attachment]:
    for file in message.attachments:
        yield _attachment(message, file)
    for file in chain.from_iterable(each.message.attachments for each in message.message_snapshots):
        yield _attachment(message, file).model_copy(update={"by": "somebody"})


def _attachment(message: Message, file: File) -> Attachment:
    mime_type = (file.content_type or "application/octet-stream").partition(";")[0].strip()
    return Attachment(
        name=file.filename or f"file-{file.id[-8:]}",
        mime_type=mime_type,
        size=file.size,
        reference=str(Reference(message.channel_id, message.id, file.id, file.url)),
    )
