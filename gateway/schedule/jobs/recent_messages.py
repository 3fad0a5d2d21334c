"""Recent messages of a chat as lines for a model."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent_core.origin import CLEAN, Origin, named
from agent_core.sources import person
from agent_core.untrusted import name_of
from channels.base import (
    ButtonPressed,
    Channel,
    ChannelError,
    ChatKey,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Sender,
)
from channels.capabilities import ReadsHistory
from gateway.permissions.sources import origin_of_event, origin_of_names, origin_of_post
from gateway.store.rows import STRANGER, InboxItem, Post
from gateway.store.store import Store
from gateway.texts.moments import moment_words

MOST_SAID = 300
"""Messages."""
LONGEST = 800
"""Characters of one message."""
MOST_CHARS = 24_000

_NOT_TALK = ":progress:", ":reply:", ":ask:", STRANGER
"""Parts of the keys of posts that are about Parley itself."""
_PART = "(Only what was said to Parley is known here: the platform tells nothing of the rest.)\n"

log = structlog.get_logger(__name__)


class Said(Struct, frozen=True):
    """A message."""

    at: float
    who: str
    words: str
    origin: Origin


class Lines(Struct, frozen=True):
    """The text of recent messages."""

    text: str
    origin: Origin
    """The origin of the messages that are included."""


class RecentMessages:
    """Reads a chat's messages from the store and, in a group, from the platform's history if it has one."""

    def __init__(
        self, store: Store, channel: Channel, chat: ChatKey, is_trusted: Callable[[ChatKey, Sender], bool]
    ) -> None:
        self._is_trusted = is_trusted
        self._store = store
        self._channel = channel
        self._chat = chat

    async def since(self, moment: float, zone: ZoneInfo) -> Lines:
        """Return the messages since `moment`, newest last, with times in `zone`; the oldest are dropped if too long."""
        found = await self._of_rows(await self._store.outbox.screen(self._chat, 2 * MOST_SAID))
        is_group = self._channel.is_group(self._chat)
        heard = await self._heard() if is_group else None
        for event in heard or ():
            found[event.message_id] = self._said(event)
        mask = self._store.secrets.mask  # before anything is cut: half a secret would not be recognised
        lately = [replace(said, words=mask(said.words)) for said in found.values() if said.at >= moment]
        lately.sort(key=lambda said: said.at)
        text, origin = _lines(lately, zone)
        return Lines((_PART if is_group and heard is None else "") + text, origin)

    async def _heard(self) -> Sequence[MessageReceived] | None:
        """Read the platform's history; None if it has none."""
        if not isinstance(self._channel, ReadsHistory):
            return None
        try:
            said = await self._channel.history(self._chat, most=MOST_SAID)
        except ChannelError as error:
            log.info("chat history not read", chat=str(self._chat), reason=error.reason)
            return None
        return [event for event in said if isinstance(event, MessageReceived)]

    async def _of_rows(self, rows: Iterable[tuple[float, InboxItem | Post]]) -> dict[str, Said]:
        """Return the messages in the store by message id, with their current text."""
        found: dict[str, Said] = {}
        ours: dict[str, Origin] = {}
        for at, row in rows:
            if isinstance(row, InboxItem):
                self._take_in(row.event, found)
            elif row.message_id and not any(part in row.key for part in _NOT_TALK):
                earlier = found.get(row.message_id)
                if row.key not in ours:
                    ours[row.key] = await origin_of_post(self._store, row)
                found[row.message_id] = Said(earlier.at if earlier else at, "Parley", _words(row), ours[row.key])
        return found

    def _take_in(self, event: InboundEvent, found: dict[str, Said]) -> None:
        match event:
            case MessageReceived():
                found[event.message_id] = self._said(event)
            case MessageEdited() if event.message_id in found:
                was = found[event.message_id]
                origin = was.origin | self._own(event) | origin_of_event(event)
                found[event.message_id] = Said(was.at, event.sender.name, event.words, origin)
            case MessageDeleted():
                found.pop(event.message_id, None)
            case ButtonPressed() if not event.action.startswith("/"):
                found[event.event_id] = Said(event.at, event.sender.name, event.action, self._own(event))
            case _:
                pass

    def _said(self, event: MessageReceived) -> Said:
        words = " ".join(filter(None, (event.words, *(f"[{file.safe_name}]" for file in event.attachments))))
        return Said(event.at, event.sender.name, words, self._own(event) | origin_of_event(event))

    def _own(self, event: InboundEvent) -> Origin:
        """Return the origin of what somebody says here, and of the names in it."""
        is_trusted = self._is_trusted(event.chat, event.sender)
        own = CLEAN if is_trusted else named(person(event.sender.name))
        return own | origin_of_names(event, self._is_trusted)


def _words(post: Post) -> str:
    files = [f"[{file.safe_name}]" for file in post.message.attachments]
    return " ".join(filter(None, (post.message.markdown, *files)))


def _lines(said: Sequence[Said], zone: ZoneInfo) -> tuple[str, Origin]:
    """Format messages as `09:14 Bob: words` under a heading per day, with the origin of what is included."""
    told: list[tuple[str, str]] = []
    origin = CLEAN
    room = MOST_CHARS
    for one in reversed(said[-MOST_SAID:]):
        words = one.words if len(one.words) <= LONGEST else f"{one.words[:LONGEST]}..."
        line = f"{moment_words(one.at, zone, '%H:%M')} {name_of(one.who)}: {words}".replace("\n", "\n  ")
        room -= len(line)
        if room < 0:
            break
        told.append((moment_words(one.at, zone, "%A %Y-%m-%d"), line))
        origin |= one.origin
    if not told:
        return "Nothing was said.", CLEAN
    left_out = len(said) - len(told)
    lines = [f"({left_out} older messages are left out.)"] if left_out else []
    for day, group in groupby(reversed(told), key=itemgetter(0)):
        lines += [f"{day}:", *(line for _, line in group)]
    return "\n".join(lines), origin
