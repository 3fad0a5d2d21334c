"""What a Discord message says and carries: its words without the mention of us, its files, what it answers. Pure."""

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
    """Who we are on Discord."""

    id: str
    username: str
    application: str


class Words(NamedTuple):
    """A message's text, and whether it named us."""

    text: str
    mentions_us: bool
    shared: str = ""
    """Words of others that it brings."""

    @property
    def everything(self) -> str:
        return "\n\n".join(filter(None, (self.text, self.shared)))


class Reference(NamedTuple):
    """How a file that came in is asked for: its address, and where to get a new one when that has run out."""

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
    """The content as people read it, without the mentions of us; else a line that says what was sent instead."""
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
    """Contents without words or files, in words."""
    stickers = " ".join(f"[sticker: {sticker.name}]" for sticker in message.sticker_items)
    poll = message.poll if isinstance(message, Message) else None
    if poll is None:
        return stickers
    answers = (answer.poll_media.text or "" for answer in poll.answers)
    return "\n".join([f"Poll: {poll.question.text or ''}", *(f"- {answer}" for answer in answers)])


def said(message: Message, me: Identity, places: Places) -> Words:
    """Everything that a message says: its words, what it forwards, and the embeds that bots speak in."""
    own = words(message, me, places)
    forwarded = [f"Forwarded:\n{_flat(each.message, me, places)}".strip() for each in message.message_snapshots]
    embeds = [embed_text(embed) for embed in message.embeds] if message.is_bots else []
    text = "\n\n".join(part for part in (own.text, *embeds) if part)
    return Words(text, own.mentions_us, "\n\n".join(forwarded))


def _flat(content: Content, me: Identity, places: Places) -> str:
    return "\n".join(part for part in (words(content, me, places).text, *map(embed_text, content.embeds)) if part)


def embed_text(embed: Embed) -> str:
    """An embed as lines."""
    title = f"{embed.title} ({embed.url})" if embed.title and embed.url else embed.title or embed.url
    fields = (f"{field.name}: {field.value}" for field in embed.fields)
    author = embed.author.name if embed.author else None
    footer = embed.footer.text if embed.footer else None
    return "\n".join(part for part in (author, title, embed.description, *fields, footer) if part)


def answered(message: Message) -> Message | None:
    """The message replied to; None where there is none, or it is gone."""
    reference = message.message_reference
    return message.referenced_message if reference and reference.type != FORWARD else None


def reply_to(message: Message) -> str | None:
    reference = message.message_reference
    if reference is None or reference.type == FORWARD or reference.channel_id not in (None, message.channel_id):
        return None
    return reference.message_id


def speaker(message: Message) -> str:
    """The name that people see above a message."""
    return (message.member.nick if message.member else None) or message.author.name


def quoted(message: Message, me: Identity, places: Places) -> str | None:
    """`Ann: words` of the message replied to."""
    reply = answered(message)
    if reply is None:
        return None
    files = " ".join(f"[{file.name}]" for file in attachments(reply))
    text = " ".join(part for part in (said(reply, me, places).everything, files) if part)
    return f"{speaker(reply)}: {text}" if text else None


def attachments(message: Message) -> tuple[Attachment, ...]:
    """The files of a message and of what it forwards."""
    return tuple(_attachments(message))


def _attachments(message: Message) -> Iterator[Attachment]:
    forwarded = chain.from_iterable(each.message.attachments for each in message.message_snapshots)
    for file in (*message.attachments, *forwarded):
        yield _attachment(message, file)


def _attachment(message: Message, file: File) -> Attachment:
    mime_type = (file.content_type or "application/octet-stream").partition(";")[0].strip()
    return Attachment(
        name=file.filename or f"file-{file.id[-8:]}",
        mime_type=mime_type,
        size=file.size,
        reference=str(Reference(message.channel_id, message.id, file.id, file.url)),
    )
