"""Reading channel history through REST: messages missed while offline, and messages from before a mention."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import JsonValue

from channels.base import ChatKey, CommandInvoked, MessageReceived, OutboundMessage, Posted
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.errors import UNKNOWN_CHANNEL, Refused
from channels.discord.layout import actions, layout, shown
from channels.discord.normalise import DIRECT, View, created_at, past_message
from channels.discord.render import render, rows_of
from channels.discord.wire import THREAD_STARTER, Message
from channels.values import Known, parse

LEAST_IN_PAGE, MOST_IN_PAGE = 50, 100
CLOCKS_DIFFER = 600.0
"""Tolerance for differing clocks, in seconds."""
MOST_PAGES = 5
"""Pages read at most; the bot's own messages take up part of them."""

Said = MessageReceived | CommandInvoked


async def read_history(
    rest: Rest, view: View, chat: ChatKey, *, after: str | None, before: str | None, most: int
) -> list[Said]:
    """See `ReadsHistory.history`."""
    floor = int(after) if after else 0
    found: list[Said] = []
    for _ in range(MOST_PAGES):
        page = await _page(rest, view, chat, before, min(MOST_IN_PAGE, max(LEAST_IN_PAGE, 2 * most)))
        new = [message for message in page if int(message.id) > floor]
        events = (event for message in new for event in _events(message, view, chat))
        found += [event for event in events if int(event.message_id) > floor]
        if len(found) >= most or not page or len(new) < len(page):
            break
        before = page[-1].id
    return found[:most][::-1]


async def read_since(rest: Rest, view: View, chat: ChatKey, since: float) -> list[Said]:
    """See `CatchesUp.messages_since`."""
    found: list[Said] = []
    before = None
    while True:
        page = await _page(rest, view, chat, before, MOST_IN_PAGE)
        new = [message for message in page if created_at(message.id) >= since]
        found += [event for message in new for event in _events(message, view, chat) if event.at >= since]
        if len(page) < MOST_IN_PAGE or len(new) < len(page):
            return found[::-1]
        before = page[-1].id


async def _page(rest: Rest, view: View, chat: ChatKey, before: str | None, limit: int) -> list[Message]:
    """Return one page, newest first; empty for a thread that does not exist yet."""
    route = Endpoint("GET", "/channels/{channel_id}/messages", {"channel_id": chat.thread or chat.chat})
    query = {"limit": str(limit)} | ({"before": before} if before else {})
    try:
        answer: JsonValue = await rest.call(Call(route, query=query, needs="Read Message History"))
    except Refused as error:
        if error.code == UNKNOWN_CHANNEL and chat.thread is not None and view.config.has_threads(chat.chat):
            return []
        raise
    read_all = (parse(Message, raw) for raw in (answer if isinstance(answer, list) else []))
    return [message for message in read_all if message is not None]


def _events(message: Message, view: View, chat: ChatKey) -> Iterator[Said]:
    """Yield the event of a message. A thread starts with a system message that refers to the message it was made
    from."""
    told = message.referenced_message if message.type == THREAD_STARTER else message
    event = past_message(told, view, None if chat.account == DIRECT else chat.account) if told else None
    if event is not None:
        yield event.model_copy(update={"chat": chat}) if chat.thread is not None else event


async def find_sent(rest: Rest, view: View, chat: ChatKey, message: OutboundMessage, known: Known) -> Posted | None:
    """See `FindsSent.find_sent`. Discord does not return nonces, so author, content, and names and sizes of files are
    compared; of a message whose text is not known, the actions of its buttons."""
    sizes = await asyncio.to_thread(_sizes, message)
    for said in await _page(rest, view, chat, None, MOST_IN_PAGE):
        at = created_at(said.id)
        is_new = said.id not in known.others and at > known.since - CLOCKS_DIFFER
        if said.author.id == view.me.id and is_new and _reads(said, message, sizes):
            return Posted(chat=chat, message_id=said.id, at=at)
    return None


def _reads(said: Message, message: OutboundMessage, sizes: Sequence[int | None]) -> bool:
    """Return True if Discord's message is `message`. Discord strips white space, and special characters from file
    names."""
    components = layout(message)
    if components is not None:
        return shown(said.components) == shown([*components])
    names = [_bare(file.name) for file in said.attachments]
    if names != [_bare(file.safe_name) for file in message.attachments]:
        return False
    pairs = zip(said.attachments, sizes, strict=True)
    if any(file.size != size for file, size in pairs if None not in (file.size, size)):
        return False
    if not message.markdown.strip():
        wanted = actions(rows_of(message))
        return bool(names or wanted) and wanted <= actions(said.components)
    return said.content.split() == render(message.markdown).split()


def _sizes(message: OutboundMessage) -> list[int | None]:
    """Return the size of each file in bytes, None for a missing one."""
    return [_size(Path(file.path)) for file in message.attachments]


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name))
