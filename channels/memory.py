"""A platform in memory: for tests, for embedding Parley in other programs, and for trying out a channel's limits.

The object is both the platform and its users. It outlives the gateway, so a gateway that is restarted on the same
object finds messages and events as on a real platform.
"""

import asyncio
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Literal

from msgspec import Struct, field

from channels.attachments import Attachment
from channels.base import (
    Accepted,
    Addressed,
    Button,
    ButtonPressed,
    ChannelError,
    ChatKey,
    InboundEvent,
    Inbox,
    Menu,
    MessageEdited,
    MessageGone,
    MessageReceived,
    OutboundMessage,
    Posted,
    Sender,
)
from channels.buttons import Entry
from channels.files import FileRefused, mime_type_of
from channels.limits import Limits
from channels.text import parse_command

CallKind = Literal["send", "edit", "delete", "typing"]

NO_PACE = Limits(max_text=4_000, edit_every=timedelta(0), edit_every_in_groups=timedelta(0))
"""The limits of a platform in memory, which need not wait between two calls."""
LOST = ChannelError("the answer was lost", ambiguous=True)


class Call(Struct, frozen=True):
    """One call of the gateway, successful or not, for tests of rate limits."""

    kind: CallKind
    chat: ChatKey
    at: float
    """Seconds of `time.monotonic`."""
    markdown: str = ""
    key: str = ""


class Fault(Struct):
    """A failure of the next call of a kind; with `lost`, the call has its effect before it fails."""

    kind: CallKind
    error: ChannelError
    lost: bool = False


class Reply(Struct, frozen=True):
    """The message that a user replies to: its id, and its text as the platform quotes it."""

    to: str | None = None
    quoted: str | None = None


class _Message(Struct):
    posted: Posted
    message: OutboundMessage


class _Platform(Struct):
    """State of the platform."""

    messages: list[_Message] = field(default_factory=list)
    by_chat: dict[ChatKey, list[_Message]] = field(default_factory=lambda: defaultdict(list))
    by_key: dict[str, Posted] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    states: list[tuple[str, ...]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def user(name: str, language: str | None = None) -> Sender:
    """Return the user with this id, whose name is the id with a capital letter."""
    return Sender(id=name, name=name.title(), language=language)


class MemoryChannel:
    """Implements Channel, ShowsTyping, Downloads and Deletes."""

    def __init__(
        self,
        *,
        name: str = "memory",
        limits: Limits | None = None,
        keeps_keys: bool = True,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        now: Callable[[], float] = time.time,
    ) -> None:
        """With `keeps_keys`, a repeated send returns the first message, as on Discord; without it, the message is
        posted again, as on Telegram."""
        self.name = name
        self.limits = (limits or NO_PACE).model_copy(update={"keeps_keys": keeps_keys})
        self.menu = Menu()
        self.heard: list[InboundEvent] = []
        """All inbound events, oldest first; `deliver` can deliver one again."""
        self.calls: list[Call] = []
        self._new_id = new_id
        self._now = now
        self._platform = _Platform()
        self._inbox: Inbox | None = None
        self._changed = asyncio.Event()

    # Channel protocol

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        self.menu = menu
        self._inbox = inbox
        self._changed.set()
        try:
            await asyncio.Event().wait()
        finally:
            self._inbox = None

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        fault = self._call("send", chat, message.markdown, key)
        posted = self._platform.by_key.get(key) if self.limits.keeps_keys else None
        if posted is None:
            posted = Posted(chat=chat, message_id=self._new_id(), at=self._now())
            shown = _Message(posted, message)
            self._platform.messages.append(shown)
            self._platform.by_chat[chat].append(shown)
            self._platform.by_key[key] = posted
            self._screen_changed(chat)
        if fault:
            raise fault.error
        return posted

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        fault = self._call("edit", posted.chat, message.markdown)
        shown = self._find(posted)
        if shown.message != message:
            shown.message = message
            self._screen_changed(posted.chat)
        if fault:
            raise fault.error

    async def delete(self, posted: Posted) -> None:
        fault = self._call("delete", posted.chat)
        shown = self._find(posted)
        self._platform.messages.remove(shown)
        self._platform.by_chat[posted.chat].remove(shown)
        self._screen_changed(posted.chat)
        if fault:
            raise fault.error

    async def typing(self, chat: ChatKey) -> bool:
        fault = self._call("typing", chat)
        self._changed.set()
        if fault:
            raise fault.error
        return True

    async def download(self, attachment: Attachment) -> bytes:
        kept = self._platform.files.get(attachment.reference)
        if kept is None:
            raise FileRefused(f"there is no file {attachment.safe_name}", "gone")
        return kept

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """Split at line ends if possible; Markdown is not considered."""
        texts = _cut(message.markdown, self.limits.max_text)
        bare = {"buttons": (), "choice": None, "form": None, "attachments": ()}
        parts = [message.model_copy(update={"markdown": text, **bare}) for text in texts]
        parts[1:] = [part.model_copy(update={"reply_to": None}) for part in parts[1:]]
        parts[-1] = parts[-1].model_copy(update={name: getattr(message, name) for name in bare})
        return tuple(parts)

    def is_group(self, chat: ChatKey) -> bool:
        return chat.chat.startswith("#")

    async def close(self) -> None:
        """Do nothing; there are no connections."""

    # What users see

    @property
    def screen(self) -> list[str]:
        """Current texts of the bot's messages in all chats, oldest first."""
        return [shown.message.markdown for shown in self._platform.messages]

    @property
    def states(self) -> list[tuple[str, ...]]:
        """After each change, the messages of the chat that changed."""
        return list(self._platform.states)

    @property
    def posts(self) -> list[tuple[Posted, OutboundMessage]]:
        """The bot's messages in all chats, oldest first."""
        return [(shown.posted, shown.message) for shown in self._platform.messages]

    def screen_of(self, chat: ChatKey) -> list[str]:
        return [shown.message.markdown for shown in self._platform.by_chat[chat]]

    def chat(self, sender: str = "ann", *, group: str | None = None, thread: str | None = None) -> ChatKey:
        """Return the private chat with a user, or a group by its name."""
        return ChatKey(platform=self.name, account="here", chat=f"#{group}" if group else sender, thread=thread)

    async def until(self, predicate: Callable[[], bool], within: float = 30.0) -> None:
        """Wait up to `within` seconds until the predicate is true.

        Raises TimeoutError with the current screen.
        """
        try:
            async with asyncio.timeout(within):
                while not predicate():
                    self._changed.clear()
                    try:  # the predicate may depend on things that this channel does not notice
                        async with asyncio.timeout(0.02):
                            await self._changed.wait()
                    except TimeoutError:
                        continue
        except TimeoutError:
            raise TimeoutError(f"not so after {within:g} s; the screen reads {self.screen}") from None

    # What users do

    async def hears(
        self,
        text: str,
        *,
        sender: str | Sender = "ann",
        group: str | None = None,
        thread: str | None = None,
        addressed: Addressed | None = None,
        files: Mapping[str, bytes] | None = None,
        reply: Reply | None = None,
    ) -> Accepted:
        """Send a message as a user; `/name` is a command.

        Args:
            text: The message as the user types it.
            sender: A user, or the id of one (see `user`).
            group: Name of the group; None for the private chat with the user.
            thread: Name of a thread in the chat.
            addressed: Relation to the bot, which by default is mentioned in groups.
            files: Contents of attached files by name.
            reply: The message that this one replies to.
        """
        await self._connected()
        addressed = addressed or (Addressed.MENTION if group else Addressed.DIRECT)
        who = sender if isinstance(sender, Sender) else user(sender)
        chat, reply = self.chat(who.id, group=group, thread=thread), reply or Reply()
        message = MessageReceived(
            event_id=self._new_id(),
            chat=chat,
            sender=who,
            at=self._now(),
            addressed=addressed,
            group=group or "",
            message_id=self._new_id(),
            text=text,
            attachments=tuple(self._keep(name, content) for name, content in (files or {}).items()),
            reply_to=reply.to,
            quoted=reply.quoted,
        )
        command = parse_command(text, (self.name,))
        return await self.deliver(message.as_command(command.name, command.arguments) if command else message)

    async def presses(self, button: str, *, sender: str = "ann") -> Accepted:
        """Press the newest button or entry with this label or action. Raises LookupError if there is none."""
        for shown in reversed(self._platform.messages):
            entries = shown.message.choice.entries if shown.message.choice else ()
            offered: list[Button | Entry] = [*(each for row in shown.message.buttons for each in row), *entries]
            for pressed in (each for each in offered if button in (each.label, each.action)):
                return await self.deliver(
                    ButtonPressed(
                        event_id=self._new_id(),
                        chat=shown.posted.chat,
                        sender=user(sender),
                        at=self._now(),
                        message_id=shown.posted.message_id,
                        action=pressed.action,
                    )
                )
        raise LookupError(f"no button {button!r}; the screen reads {self.screen}")

    async def changes(self, message: MessageReceived, text: str) -> Accepted:
        """Edit a user's message."""
        return await self.deliver(
            MessageEdited(
                event_id=self._new_id(),
                chat=message.chat,
                sender=message.sender,
                at=self._now(),
                addressed=message.addressed,
                message_id=message.message_id,
                text=text,
            )
        )

    async def deliver(self, event: InboundEvent) -> Accepted:
        """Deliver an event; twice is a duplicate delivery. Raises what the inbox raises."""
        inbox = await self._connected()
        self.heard.append(event)
        return await inbox(event)

    # What goes wrong

    def fails(self, kind: CallKind, error: ChannelError = LOST, *, times: int = 1, lost: bool = False) -> None:
        """Let the next calls of a kind raise `error`; with `lost`, after they had their effect."""
        self._platform.faults.extend(Fault(kind, error, lost) for _ in range(times))

    # Shared by both sides

    def _call(self, kind: CallKind, chat: ChatKey, markdown: str = "", key: str = "") -> Fault | None:
        """Record a call. Raises the fault that it meets, or returns one that follows its effect."""
        self.calls.append(Call(kind, chat, time.monotonic(), markdown, key))
        fault = next((each for each in self._platform.faults if each.kind == kind), None)
        if fault is None:
            return None
        self._platform.faults.remove(fault)
        if not fault.lost:
            raise fault.error
        return fault

    def _find(self, posted: Posted) -> _Message:
        for shown in reversed(self._platform.by_chat[posted.chat]):
            if shown.posted.message_id == posted.message_id:
                return shown
        raise MessageGone(f"there is no message {posted.message_id}")

    def _screen_changed(self, chat: ChatKey) -> None:
        self._platform.states.append(tuple(self.screen_of(chat)))
        self._changed.set()

    def _keep(self, name: str, content: bytes) -> Attachment:
        """Keep a file that a user attaches; one that is named `voice` is a recording of them."""
        is_voice = name.startswith("voice.")
        reference = self._new_id()
        self._platform.files[reference] = content
        return Attachment(
            name=name, mime_type=mime_type_of(name), size=len(content), reference=reference, is_voice=is_voice
        )

    async def _connected(self) -> Inbox:
        await self.until(lambda: self._inbox is not None)
        if self._inbox is None:
            raise ChannelError("nothing is listening")
        return self._inbox


def _cut(text: str, longest: int) -> list[str]:
    parts = []
    while len(text) > longest:
        end = text.rfind("\n", 1, longest) + 1 or longest
        parts.append(text[:end].rstrip("\n"))
        text = text[end:]
    return [*parts, text]
