"""Reads what was said in a chat before the bot was mentioned, as context for the model.

The first mention brings the last messages of the thread or channel, later ones what is new since; in a thread begun
under a message of Parley, that message comes too.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import takewhile

import structlog
from msgspec import Struct

from agent_core.origin import CLEAN, DATA, Origin, joined, named
from agent_core.sources import person
from agent_core.untrusted import name_of
from channels.attachments import Attachment
from channels.base import Channel, ChannelError, ChatKey, CommandInvoked, MessageReceived, Sender
from channels.capabilities import ReadsHistory
from channels.unread import Unread
from gateway.permissions.sources import (
    origin_of_event,
    origin_of_file,
    origin_of_names,
    origin_of_post,
    plain_name,
    speaker_of,
    with_plain_names,
)
from gateway.security.masking import masked
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store

MOST_MESSAGES = 20
MOST_UNREAD = 5
"""Messages in a row that could not be read, of which the model is told."""
LONGEST = 500
"""Most characters of one message."""

_EMPHASIS = re.compile(r"[*_~`\\]")
_NAMES = re.compile(r"(?:\s*\[[^\[\]]+\])+$")
"""The names of files at the end of a quotation."""
_MARKS = re.compile(r"[|\[\]()<>#]")

log = structlog.get_logger(__name__)


class Told(Struct, frozen=True):
    """A message, as the model reads it."""

    text: str
    origin: Origin


class Heard(Struct, frozen=True):
    """Earlier messages, one line each."""

    lines: tuple[str, ...]
    origin: Origin


_NOTHING = Heard((), CLEAN)


class EarlierTalk(Struct, frozen=True):
    """Reads earlier messages from the platform, except those already in the store."""

    channel: Channel
    store: Store
    is_trusted: Callable[[ChatKey, Sender], bool]
    """Returns True for people whose words are no untrusted input."""
    caught_up: Callable[[ChatKey], Awaitable[None]]
    """Waits until the store has recorded which of our messages are on the screen of a chat."""

    async def before(self, item: InboxItem, event: MessageReceived) -> Heard:
        """Return the messages before a mention as `Bob: text`, oldest first.

        Return nothing outside of groups, or if the platform has no readable history.
        """
        begins_thread = event.chat.thread == event.message_id
        if begins_thread or not self.channel.is_group(event.chat) or not isinstance(self.channel, ReadsHistory):
            return _NOTHING
        known = await self.store.inbox.messages_before(item, MOST_MESSAGES)
        try:
            said = await self.channel.history(
                event.chat, after=known.last_mention, before=event.message_id, most=MOST_MESSAGES
            )
        except ChannelError as error:
            log.info("earlier talk not read", chat=str(event.chat), reason=error.reason)
            return _NOTHING
        new = [masked(each, self.store.secrets.mask) for each in said if each.message_id not in known.ids]
        return Heard(tuple(map(_line, new)), joined(map(self._origin, new)))

    async def unread_before(self, item: InboxItem) -> list[Unread]:
        """Return the kinds of the sender's messages just before this one that could not be read, oldest first."""
        earlier = await self.store.inbox.before(item, MOST_UNREAD)
        run = takewhile(lambda each: _is_unreadable(each) and each.sender.id == item.event.sender.id, earlier)
        return [kind for each in reversed([*run]) for kind in each.unread]

    async def quoted(self, event: MessageReceived) -> Told:
        """Return the text that a message quotes, with its origin: data, if it is of a person with rights or of Parley.

        Others set the names in it: those of people with rights and of Parley tell the model nothing, and the other
        names are untrusted input.
        """
        quoted = event.quoted or ""
        speaker, _, said_words = quoted.partition(": ")
        words = _plain(said_words)
        plain = f"{plain_name(speaker)}: {said_words}"
        for chat in _places(event) if words else ():
            said = await self.store.inbox.find(chat, event.reply_to or "")
            if said and isinstance(said.event, MessageReceived) and words in _plain(_own(said.event)):
                if not self.is_trusted(chat, said.event.sender):
                    break
                files = joined(map(origin_of_file, said.event.attachments))
                names = origin_of_names(said.event, self.is_trusted)
                return Told(with_plain_names(plain, said.event, self.is_trusted), files | names | DATA)
            parts = await self._parts(chat, event.reply_to or "")
            ours = _plain(" ".join(part.message.markdown for part in parts))
            if not parts or _plain(_NAMES.sub("", said_words)) not in ours:
                continue
            if words not in ours:
                plain = await self._naming_file(chat, event.reply_to or "", parts, plain)
            return Told(plain, joined([DATA, *[await origin_of_post(self.store, part) for part in parts]]))
        return Told(quoted, named(speaker_of(quoted)))

    async def _naming_file(self, chat: ChatKey, message_id: str, parts: Sequence[Post], quoted: str) -> str:
        """Return a quotation with our own name of the file that a message of ours shows: the platform may have none."""
        files = [file for part in parts for file in part.message.attachments]
        place = await self.store.outbox.place(chat, message_id)
        return _with_files(_NAMES.sub("", quoted), files[place : place + 1])

    async def quotes_stranger(self, event: MessageReceived) -> bool:
        """Return True if the message replies to one that shows the words of a stranger."""
        for chat in _places(event):
            if any(part.is_of_stranger for part in await self._parts(chat, event.reply_to or "")):
                return True
        return False

    async def _parts(self, chat: ChatKey, message_id: str) -> list[Post]:
        """Return the parts of our message, which a user may answer before its send is acknowledged."""
        if parts := await self.store.outbox.parts(chat, message_id):
            return parts
        await self.caught_up(chat)
        return await self.store.outbox.parts(chat, message_id)

    def _origin(self, said: MessageReceived | CommandInvoked) -> Origin:
        theirs = origin_of_event(said) if isinstance(said, MessageReceived) else CLEAN
        name = said.sender.name  # others may have set it
        is_plain = self.is_trusted(said.chat, said.sender) and name_of(name) == name
        own = DATA if is_plain else named(person(name))
        return own | theirs | origin_of_names(said, self.is_trusted)

    async def root(self, chat: ChatKey) -> Told | None:
        """Return Parley's message above a thread, or None.

        The model would not know it otherwise, since each thread is a chat of its own.
        """
        if chat.thread is None:
            return None
        parts = await self._parts(chat.without_thread, chat.thread)
        if not parts or any(part.is_of_stranger for part in parts):
            return None
        text = "\n".join(_with_files(part.message.markdown, part.message.attachments) for part in parts)
        return Told(text, joined([await origin_of_post(self.store, part) for part in parts]))


def _is_unreadable(said: MessageReceived) -> bool:
    return bool(said.unread) and not (said.words or said.attachments)


def _places(event: MessageReceived) -> Iterator[ChatKey]:
    """Yield chats where the message replied to may be: here, above this thread, or in the thread begun by it."""
    if event.reply_to is not None:
        yield from dict.fromkeys(
            event.chat.model_copy(update={"thread": thread}) for thread in (event.chat.thread, None, event.reply_to)
        )


def _own(said: MessageReceived) -> str:
    """Return the user's own text in a message, and the names of its files."""
    return _with_files(said.text, said.attachments)


def _plain(text: str) -> str:
    """Strip emphasis and list marks, since platforms quote a text as displayed, without its Markdown."""
    return " ".join(_MARKS.sub(" ", _EMPHASIS.sub("", text)).split())


def _line(said: MessageReceived | CommandInvoked) -> str:
    if isinstance(said, CommandInvoked):
        words = f"/{said.name} {said.arguments}".strip()
    else:
        words = _with_files(said.words, said.attachments)
    shortened = words if len(words) <= LONGEST else f"{words[:LONGEST]}..."
    return f"{said.sender.name}: {shortened}".replace("\n", "\n  ")


def _with_files(words: str, files: Iterable[Attachment]) -> str:
    return " ".join(filter(None, (words, *(f"[{file.safe_name}]" for file in files))))
