"""The words of a message: its text without mentions of the bot, and what it carries besides."""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from channels.attachments import shows
from channels.base import Sender
from channels.discord.cache import Servers
from channels.discord.wire import Content, Embed, Message
from channels.text import MessageText, emoji_told, in_utc, linked, with_votes, without
from channels.unread import Unread
from channels.values import Standing

_MARK = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+|/(?P<command>[^:<>]+):\d+"
    r"|t:(?P<time>-?\d{1,12})(?::\w)?)>"
)

_LOST: dict[str, Unread] = {
    "attachments": "file",
    "poll": "poll",
    "sticker_items": "sticker",
    "content": "part",
    "message_snapshots": "part",
    "referenced_message": "part",
}
"""Kinds of what people would miss, by field."""


def message_text(message: Content, me: str, servers: Servers) -> MessageText:
    """Return the readable text without mentions of the bot, or a line that describes other content."""
    people = {user.id: user for user in message.mentions}
    named: list[Sender] = []

    def is_bot(mark: re.Match[str]) -> bool:
        return mark["user"] == me or bool(mark["role"] and servers.is_role_of(mark["role"], me))

    def spell(mark: re.Match[str]) -> str:
        if mark["time"]:  # Discord shows it by each reader's clock
            return in_utc(int(mark["time"])) or mark[0]
        if mark["emoji"]:
            return emoji_told(mark["emoji"])
        if mark["command"]:  # another app chose its name
            named.append(Sender(id="", name=mark["command"]))
            return f"/{mark['command']}"
        if mark["user"]:
            user = people.get(mark["user"])
            name = user.name if user else None
        else:
            user, name = None, servers.role(mark["role"]) if mark["role"] else servers.name(mark["channel"])
        if not name:
            return mark[0]
        standing = Standing(roles=user.member.roles) if user and user.member else None
        named.append(Sender(id=user.id if user else "", name=name, standing=standing))
        return f"{'#' if mark['channel'] else '@'}{name}"

    ours = [mark.span() for mark in _MARK.finditer(message.content) if is_bot(mark)]
    text = _MARK.sub(spell, without(message.content, ours))
    stickers, poll = _stickers(message), _poll(message)
    if text:  # the names of stickers are their makers' words
        return MessageText(text, bool(ours), "\n".join(filter(None, (stickers, poll))), tuple(dict.fromkeys(named)))
    named += [Sender(id="", name=sticker.name or "") for sticker in message.sticker_items]
    return MessageText(stickers, bool(ours), poll, tuple(dict.fromkeys(named)))


def _stickers(message: Content) -> str:
    return " ".join(f"[sticker: {sticker.name}]" if sticker.name else "[sticker]" for sticker in message.sticker_items)


def _poll(message: Content) -> str:
    """Describe a poll in words: its answers may be anybody's."""
    poll = message.poll
    if poll is None:
        return ""
    votes = {each.id: each.count for each in poll.results.answer_counts} if poll.results else {}
    question, answers = poll.question.shown, [each for each in poll.answers if each.poll_media.shown]
    answered = ((each.poll_media.shown, votes.get(each.answer_id, 0)) for each in answers)
    lines = [f"Poll: {question}".strip(), *with_votes(answered)]
    return "\n".join(lines) if question or len(lines) > 1 else ""


def said(message: Message, me: str, servers: Servers) -> MessageText:
    """Return all text of a message: its own, that of forwarded messages, and the embeds that bots use as text."""
    own = message_text(message, me, servers)
    shown = ((_flat(each, me, servers), each.attachments) for each in message.forwarded)
    forwarded = [f"Forwarded:\n{words}".strip() for words, files in shown if words or files]
    posted = _posted(message) if message.is_from_bot else []
    text = "\n\n".join(part for part in (own.text, *posted, _described(message)) if part)
    return own._replace(text=text, shared="\n\n".join(filter(None, [own.shared, *forwarded])))


def _flat(content: Content, me: str, servers: Servers) -> str:
    parts = (message_text(content, me, servers).full_text, *_posted(content), _described(content))
    return "\n".join(part for part in parts if part)


def _described(content: Content) -> str:
    """Return what its sender says that the pictures show."""
    return "\n".join(shows(file.name, file.description or "") for file in content.attachments if file.description)


def unread_kinds(message: Message) -> tuple[Unread, ...]:
    """Return the kind of a message without anything that could be read."""
    if message.activity is not None:
        return ("activity",)
    if lost := lost_kinds(message):
        return lost
    is_posted = any(each.components or each.embeds for each in message.forwarded)
    return ("app",) if is_posted else ("unknown",)


def lost_kinds(message: Message) -> tuple[Unread, ...]:
    """Return the kinds of what is lost from a message of which the rest can be read."""
    contents = [message, *message.forwarded]
    lost = [kind for content in contents for name, kind in _LOST.items() if name in content.odd]
    lost += ["poll"] if any(each.poll and each.poll.odd for each in contents) else []
    lost += ["part"] if {"embeds"} & message.odd and message.is_from_bot else []
    return tuple(dict.fromkeys(lost))


def _posted(content: Content) -> list[str]:
    """Return the texts that only apps can post: those of embeds and components."""
    return [*map(_embed_text, content.embeds), "\n".join(_component_words(content.components))]


def _component_words(component: JsonValue) -> Iterator[str]:
    """Yield the texts inside components, with the entries of menus and the addresses of buttons, pictures and files."""
    if isinstance(component, list):
        for each in component:
            yield from _component_words(each)
    if not isinstance(component, dict):
        return
    if isinstance(text := component.get("content"), str):
        yield text
    for shown in (component, component.get("media"), component.get("file")):
        if isinstance(shown, dict) and isinstance(url := shown.get("url"), str):
            yield linked(str(component.get("label") or component.get("description") or ""), url)
    options = component.get("options")
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict) and isinstance(label := option.get("label"), str):
            yield f"- {label}"
    for inner in ("components", "accessory", "items"):
        yield from _component_words(component.get(inner))


def _embed_text(embed: Embed) -> str:
    """Render an embed as lines of text."""
    title = _linked(embed.title, embed.url)
    fields = (f"{field.name}: {field.value}" for field in embed.fields)
    author = _linked(embed.author.name, embed.author.url) if embed.author else None
    picture = embed.image.url if embed.image else None
    footer = embed.footer.text if embed.footer else None
    words = "\n".join(part for part in (author, title, embed.description, *fields, picture, footer) if part)
    media = (each.url for each in (embed.video, embed.thumbnail) if each and each.url)
    return words or next(media, "")


def _linked(label: str | None, url: str | None) -> str | None:
    return linked(label or "", url) if url else label
