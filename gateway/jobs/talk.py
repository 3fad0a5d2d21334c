"""What was said in one chat lately, in lines for a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from zoneinfo import ZoneInfo

import structlog

from agent_core.untrusted import is_tainted, name_of
from channels.base import (
    ButtonPressed,
    Channel,
    ChannelError,
    ChatKey,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    ReadsHistory,
)
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store

MOST_SAID = 300
"""Messages."""
LONGEST = 800
"""Characters of one message."""
MOST_CHARS = 24_000

_NOT_TALK = ":progress:", ":reply:", ":ask:"
"""In the keys of what we say about ourselves."""
_PART = "(Only what was said to Parley is known here: the platform tells nothing of the rest.)\n"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Said:
    """One message."""

    at: float
    who: str
    words: str


@dataclass(frozen=True)
class Lines:
    """What is told of it."""

    text: str
    untrusted: bool
    """Whether strangers may have written some of it."""


class ChatTalk:
    """Reads it from what we have taken in and said, and in a group from the platform as well, where that tells."""

    def __init__(self, store: Store, channel: Channel, chat: ChatKey) -> None:
        self._store = store
        self._channel = channel
        self._chat = chat

    async def since(self, moment: float, zone: ZoneInfo) -> Lines:
        """Newest last, with names and the zone's times; the oldest is left out where it is too much."""
        rows = await self._store.screen(self._chat, 2 * MOST_SAID)
        found = _of_rows(rows)
        is_group = self._channel.is_group(self._chat)
        heard = await self._heard() if is_group else None
        for event in heard or ():
            found[event.message_id] = _said(event, event.words)
        mask = self._store.secrets.mask  # before anything is cut: the half of a secret is not found
        lately = [replace(said, words=mask(said.words)) for said in found.values() if said.at >= moment]
        lately.sort(key=lambda said: said.at)
        untrusted = is_group or await self._is_tainted(rows)
        return Lines((_PART if is_group and heard is None else "") + _lines(lately, zone), untrusted)

    async def _heard(self) -> Sequence[MessageReceived] | None:
        """From the platform; None where it does not tell."""
        if not isinstance(self._channel, ReadsHistory):
            return None
        try:
            said = await self._channel.history(self._chat, most=MOST_SAID)
        except ChannelError as error:
            log.info("talk not read", chat=str(self._chat), reason=error.reason)
            return None
        return [event for event in said if isinstance(event, MessageReceived)]

    async def _is_tainted(self, rows: Iterable[tuple[float, InboxItem | Post]]) -> bool:
        """Whether a person passed on others' words here, or our own answers may hold some."""
        events = [row.event for _, row in rows if isinstance(row, InboxItem)]
        if any(isinstance(event, MessageReceived) and (event.shared or event.quoted) for event in events):
            return True
        chat = await self._store.chat(self._chat)
        return is_tainted(await self._store.history(chat.session))


def _of_rows(rows: Iterable[tuple[float, InboxItem | Post]]) -> dict[str, Said]:
    """By the ids of the messages, as they read now."""
    found: dict[str, Said] = {}
    for at, row in rows:
        if isinstance(row, InboxItem):
            _take_in(row.event, found)
        elif row.message_id and not any(part in row.key for part in _NOT_TALK):
            earlier = found.get(row.message_id)
            found[row.message_id] = Said(earlier.at if earlier else at, "Parley", _words(row))
    return found


def _take_in(event: InboundEvent, found: dict[str, Said]) -> None:
    match event:
        case MessageReceived():
            found[event.message_id] = _said(event, event.words)
        case MessageEdited() if event.message_id in found:
            found[event.message_id] = Said(found[event.message_id].at, event.sender.name, event.text)
        case MessageDeleted():
            found.pop(event.message_id, None)
        case ButtonPressed() if not event.action.startswith("/"):
            found[event.event_id] = Said(event.at, event.sender.name, event.action)
        case _:
            pass


def _said(event: MessageReceived, words: str) -> Said:
    files = [f"[{file.safe_name}]" for file in event.attachments]
    return Said(event.at, event.sender.name, " ".join(filter(None, (words, *files))))


def _words(post: Post) -> str:
    files = [f"[{file.safe_name}]" for file in post.message.attachments]
    return " ".join(filter(None, (post.message.markdown, *files)))


def _lines(said: Sequence[Said], zone: ZoneInfo) -> str:
    """A heading for each day; `09:14 Bob: words`."""
    told: list[tuple[str, str]] = []
    room = MOST_CHARS
    for one in reversed(said[-MOST_SAID:]):
        local = datetime.fromtimestamp(one.at, zone)
        words = one.words if len(one.words) <= LONGEST else f"{one.words[:LONGEST]}..."
        line = f"{local:%H:%M} {name_of(one.who)}: {words}".replace("\n", "\n  ")
        room -= len(line)
        if room < 0:
            break
        told.append((f"{local:%A %Y-%m-%d}", line))
    if not told:
        return "Nothing was said."
    left_out = len(said) - len(told)
    lines = [f"({left_out} older messages are left out.)"] if left_out else []
    for day, group in groupby(reversed(told), key=itemgetter(0)):
        lines += [f"{day}:", *(line for _, line in group)]
    return "\n".join(lines)
