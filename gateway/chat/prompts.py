"""Converts users' messages to prompts: text, attachments, and context."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct

from agent_core.clock import Clock
from agent_core.file_handles import raise_lack
from agent_core.messages import UserMessage, user
from agent_core.origin import CLEAN, DATA, Origin, joined, named
from agent_core.sources import person
from agent_core.untrusted import harmless
from channels.base import Addressed, Channel, ChatKey, MessageReceived
from channels.unread import Unread
from gateway.chat.attachments import Attachments, Fetched
from gateway.chat.earlier_talk import EarlierTalk
from gateway.chat.prompt_notes import NotesOf, PromptNote
from gateway.chat.received_files import Read, note_on, room_of
from gateway.chat.sounds import Hear, Sound, Understood, understood
from gateway.permissions.sources import origin_of_event, origin_of_names, with_plain_names
from gateway.permissions.workspaces import Workspaces
from gateway.runs.chat_models import ChatModels
from gateway.schedule.jobs.chat_notes import ChatNotes
from gateway.security.secrets import Secrets
from gateway.store.rows import InboxItem, Run, message_id
from gateway.texts.say import Language, say

LONGEST_TEXT = 20_000
"""Most characters of a message; of a longer one the model gets the start, and the whole as a file."""
LONGEST_START = 4_000

log = structlog.get_logger(__name__)


class PromptMaker(Struct, frozen=True):
    """Makes prompts from one chat's events."""

    channel: Channel
    attachments: Callable[[], Awaitable[Attachments]]
    """Returns what keeps the chat's files, which only some messages need."""
    clock: Clock
    zone: ZoneInfo
    talk: EarlierTalk
    secrets: Secrets
    """Secrets to mask, including those stored before they were known to be secret."""
    hear: Hear
    read: Read
    run: Run | None
    """The run that answers."""
    language: Language = "en"
    """The sender's language."""

    async def make(
        self,
        item: InboxItem,
        notes: Sequence[PromptNote] = (),
        *,
        begins: bool = False,
        follows_unread: bool = True,
    ) -> UserMessage:
        """Return the prompt for an item. Its id is derived from the item, so that it is recognised after a restart.

        Args:
            notes: What the model is told beside it; what is one line stands first.
            begins: True for the first message of a conversation.
            follows_unread: False if what came before it is known to have been read.
        """
        # First of all and as a whole: cutting a text could leave half a secret, which is not recognised.
        event = self.secrets.masked(item.event)
        if not isinstance(event, MessageReceived):
            raise TypeError(f"{event.type} is no message")
        by_guest = not self.talk.is_trusted(event.chat, event.sender)
        event = _with_author(event) if by_guest else event
        names = origin_of_names(event, self.talk.is_trusted) if event.named else CLEAN
        fetched = await (await self.attachments()).fetch(event) if event.attachments else Fetched()
        await self._read(InboxItem(item.seq, event), fetched)
        heard = [each for sound in fetched.sounds async for each in self._heard(InboxItem(item.seq, event), sound)]
        words = with_plain_names(event.text, event, self.talk.is_trusted) if event.named else event.text
        said = "\n\n".join(filter(None, [words, *(each.words for each in heard)]))
        own = names | named(person(event.sender.name)) if by_guest else names
        text = await self._shortened(said, f"message-{item.seq}.txt", own)
        in_group = self.channel.is_group(event.chat)
        ours, by_others, above = await self._above(item) if begins else ([], [], CLEAN)
        others, theirs = await self._by_others(item, event)
        by_others += [*others, *fetched.notes, *(each.note for each in heard)]
        now = datetime.fromtimestamp(self.clock.time(), self.zone)
        time = f"Now: {now:%A %Y-%m-%d %H:%M} ({self.zone.key})"
        before = await self.talk.unread_before(item) if follows_unread else []
        lost = _lost(before, event.unread) if before or event.unread else []
        told = sorted((harmless(self.secrets.mask(each.text)) for each in notes), key=lambda text: "\n" in text)
        circumstances = [time, *lost, *told, *ours, *by_others]
        message = user(
            text,
            *fetched.images,
            origin=joined(
                [
                    *(DATA if by_others else CLEAN, own, above, theirs),
                    *(each.origin for each in notes),
                    *(each.origin for each in heard),
                ]
            ),
            source=event.sender.name if in_group else None,
            context="\n".join(circumstances),
        )
        unread = [f"> {say(f'unread_{kind}', self.language)}" for kind in event.unread]
        about = {
            "id": message_id(item),
            "created_at": event.at,
            "files": tuple(each.safe_name for each in event.attachments),
            "by_guest": own.is_tainted,
            "private": bool(told or ours or by_others),
            "heard": "\n\n".join([*unread, *fetched.shown, *(each.shown for each in heard if each.shown)]),
        }
        return message.model_copy(update=about)

    async def _heard(self, item: InboxItem, sound: Sound) -> AsyncIterator[Understood]:
        """Yield what is said in a recording, if anything listens."""
        heard = await self.hear(item, self.run, sound, self.language)
        if heard is not None:
            yield understood(heard, sound.attachment, self.secrets)

    async def _read(self, item: InboxItem, fetched: Fetched) -> None:
        """Add what is in the files, as far as anything reads them and there is room."""
        room = fetched.room
        for file in fetched.files:
            contents = await self.read(item, self.run, file, room, self.language) if room > 0 else None
            if contents is None:
                continue
            if note := note_on(contents, file, self.secrets, room):
                fetched.notes.append(note)
                room -= len(note)
            if contents.shown:
                fetched.shown.append(self.secrets.mask(contents.shown))

    async def _above(self, item: InboxItem) -> tuple[list[str], list[str], Origin]:
        """Return the message above the thread as lines of ours, or of others if it is not clean."""
        root = await self.talk.root(item.event.chat)
        if root is None:
            return [], [], CLEAN
        words = await self._shortened(harmless(root.text), f"message-{item.seq}-thread.txt", root.origin)
        lines = [f"This thread is under a message of yours, which reads: {words}"]
        return ([], lines, root.origin) if root.origin.is_data else (lines, [], CLEAN)

    async def _by_others(self, item: InboxItem, event: MessageReceived) -> tuple[list[str], Origin]:
        """Return what comes with the message and is not its text, and the origin of that."""
        lines: list[str] = []
        origin = origin_of_event(event) if event.shared or event.attachments else CLEAN
        if event.addressed is Addressed.MENTION and (earlier := await self.talk.before(item, event)).lines:
            origin |= earlier.origin
            lines += ["Said here earlier, and not to you:", *earlier.lines]
        if event.quoted and not await self.talk.quotes_stranger(event):
            told = await self.talk.quoted(event)
            origin |= told.origin
            lines.append(f"In reply to: {told.text[:LONGEST_START]}")
        if event.shared:
            shared = await self._shortened(event.shared, f"message-{item.seq}-shared.txt", origin)
            lines.append(f"Brought along by the message: {shared}")
        return lines, origin

    async def _shortened(self, text: str, name: str, origin: Origin) -> str:
        if len(text) <= LONGEST_TEXT:
            return text
        try:
            path = await asyncio.to_thread((await self.attachments()).keep, name, text.encode(), origin)
        except OSError as error:
            raise_lack(error)
            log.warning("message not kept as a file", channel=self.channel.name, reason=str(error))
            return (
                f"{text[:LONGEST_START]}\n[... the rest of {len(text)} characters could not be kept: {error.strerror}]"
            )
        return f"{text[:LONGEST_START]}\n[... the whole message, {len(text)} characters, is in the file {path.name}]"


def _lost(before: Sequence[Unread], here: Sequence[Unread]) -> list[str]:
    """Return lines for the model on what the user sent, before this message and in it, and nobody can read here."""
    lines = {
        "Before this, the user sent something that could not be read here": before,
        "Parts of this message could not be read here": here,
    }
    return [f"{line}: {', '.join(kinds)}" for line, kinds in lines.items() if kinds]


def _with_author(event: MessageReceived) -> MessageReceived:
    """Return a guest's message with the guest as the author of its files. Recordings become the guest's own words."""
    files = (
        each if each.is_own_speech else each.model_copy(update={"by": event.sender.name}) for each in event.attachments
    )
    return event.model_copy(update={"attachments": tuple(files)})


class Media(Struct, frozen=True):
    """The parts of a prompt that pictures, recordings and other files become."""

    models: ChatModels
    """Tells if the model that answers sees pictures."""
    hear: Hear
    """Tells what is said in a recording."""
    read: Read
    """Tells what is in another file."""
    samples: Callable[[], Mapping[str, str]] = dict
    """Returns the sample files that folders of chats may have, by name."""


class ChatPrompts:
    """Makes prompts, with the facts and circumstances that belong to them."""

    def __init__(
        self,
        talk_of: Callable[[Channel], EarlierTalk],
        workspaces: Workspaces,
        notes_of: NotesOf,
        notes: ChatNotes,
        clock: Clock,
        *,
        secrets: Secrets,
        media: Media,
    ) -> None:
        """Create the maker of prompts.

        Args:
            talk_of: Returns what reads earlier messages of a channel.
            notes_of: Returns what the model is told beside a message.
            notes: Tells what jobs have posted.
            media: What becomes of pictures, recordings and other files.
        """
        self._talk_of = talk_of
        self._workspaces = workspaces
        self.notes_of = notes_of
        self._notes = notes
        self._clock = clock
        self._secrets = secrets
        self._media = media

    def maker(
        self, chat: ChatKey, channel: Channel, zone: ZoneInfo, language: Language, run: Run | None
    ) -> PromptMaker:
        """Return what makes the prompts of a chat, for a sender with this language; `run` answers them."""
        files = partial(self._attachments, chat, channel, language, run)
        talk, hear, read = self._talk_of(channel), self._media.hear, self._media.read
        return PromptMaker(channel, files, self._clock, zone, talk, self._secrets, hear, read, run, language)

    async def _attachments(self, chat: ChatKey, channel: Channel, language: Language, run: Run | None) -> Attachments:
        models = self._media.models
        model = await models.model_of(run) if run else (await models.chosen(chat)).model
        return Attachments(
            channel,
            self._workspaces.folder(chat),
            model.vision,
            self._workspaces.sources(chat),
            self._workspaces.versions.of(chat).quota,
            language,
            room_of(model.context_window),
            self._media.samples(),
        )

    async def told(self, chat: ChatKey) -> None:
        """Wait until the chat's agent knows what is being posted."""
        await self._notes.told(chat)
