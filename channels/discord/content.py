"""The words of a message: its text without mentions of the bot, and what it carries besides."""

import re

from channels.discord.cache import Servers
from channels.discord.wire import Content, Embed, Message
from channels.text import MessageText, without

_MARK = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+|/(?P<command>[^:<>]+):\d+)>"
)


def message_text(message: Content, me: str, servers: Servers) -> MessageText:
    """Return the readable text without mentions of the bot, or a line that describes other content."""
    people = {user.id: user.name for user in message.mentions}

    def is_bot(mark: re.Match[str]) -> bool:
        return mark["user"] == me or bool(mark["role"] and servers.is_role_of(mark["role"], me))

    def spell(mark: re.Match[str]) -> str:
        if mark["user"]:
            name = people.get(mark["user"])
        elif mark["role"]:
            name = servers.role(mark["role"])
        elif mark["channel"]:
            found = servers.name(mark["channel"])
            return f"#{found}" if found else mark[0]
        else:
            return f":{mark['emoji']}:" if mark["emoji"] else f"/{mark['command']}"
        return f"@{name}" if name else mark[0]

    ours = [mark.span() for mark in _MARK.finditer(message.content) if is_bot(mark)]
    text = _MARK.sub(spell, without(message.content, ours))
    return MessageText(text or _stickers(message), bool(ours), _poll(message))


def _stickers(message: Content) -> str:
    return " ".join(f"[sticker: {sticker.name}]" for sticker in message.sticker_items)


def _poll(message: Content) -> str:
    """Describe a poll in words: its answers may be anybody's."""
    poll = message.poll if isinstance(message, Message) else None
    if poll is None:
        return ""
    answers = (answer.poll_media.text or "" for answer in poll.answers)
    return "\n".join([f"Poll: {poll.question.text or ''}", *(f"- {answer}" for answer in answers)])


def said(message: Message, me: str, servers: Servers) -> MessageText:
    """Return all text of a message: its own, that of forwarded messages, and the embeds that bots use as text."""
    own = message_text(message, me, servers)
    forwarded = [f"Forwarded:\n{_flat(each.message, me, servers)}".strip() for each in message.message_snapshots]
    embeds = [embed_text(embed) for embed in message.embeds] if message.is_from_bot else []
    text = "\n\n".join(part for part in (own.text, *embeds) if part)
    return MessageText(text, own.mentions_bot, "\n\n".join(filter(None, [own.shared, *forwarded])))


def _flat(content: Content, me: str, servers: Servers) -> str:
    return "\n".join(
        part for part in (message_text(content, me, servers).full_text, *map(embed_text, content.embeds)) if part
    )


def embed_text(embed: Embed) -> str:
    """Render an embed as lines of text."""
    title = f"{embed.title} ({embed.url})" if embed.title and embed.url else embed.title or embed.url
    fields = (f"{field.name}: {field.value}" for field in embed.fields)
    author = embed.author.name if embed.author else None
    footer = embed.footer.text if embed.footer else None
    return "\n".join(part for part in (author, title, embed.description, *fields, footer) if part)
