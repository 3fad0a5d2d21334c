"""One platform in the showroom: its users, its conversations, and their representation on the page."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

from parley.testing.emulators.server import LoopbackServer
from tests.emulators.showroom.shown import Condition, ShownFile, ShownMessage, ShownRoom, Sign
from tests.emulators.showroom.trouble import Troubles

PEOPLE = ("Ann", "Bob", "Zoe")
"""An owner, a member, and a stranger, who is in no setting."""
GROUP = "group"
MOST_MESSAGES = 200
"""Number of the newest messages of a conversation that the page gets."""
CALLS_KEPT = 500
_BOT = re.compile(r"@parley\b(?!_)", re.IGNORECASE)

Now = Callable[[], float]
PersonT = TypeVar("PersonT")
ChatT = TypeVar("ChatT")
MessageT = TypeVar("MessageT")


class NotThere(LookupError):
    """The page refers to something that does not exist any more."""


@dataclass(frozen=True)
class Upload:
    name: str
    mime: str
    content: bytes


@dataclass(frozen=True)
class Said:
    """Text of a user, as a reply, in a thread, or directly in the conversation."""

    text: str
    reply_to: str | None = None
    thread: str | None = None
    file: Upload | None = None


def direct(person: str) -> str:
    """Return the name of the private chat of a user with the bot."""
    return f"direct-{person}"


class Exhibit(ABC, Generic[PersonT, ChatT, MessageT]):
    """A platform. Its conversations are named GROUP and, for each person, `direct("Ann")`."""

    name: str
    title: str
    group_title: str
    help: str
    """Text that lists the commands on this platform."""
    hint: str
    """Hint how commands are entered here."""

    def __init__(
        self,
        emulator: LoopbackServer,
        people: Mapping[str, PersonT],
        rooms: Mapping[str, ChatT],
        troubles: Troubles,
        now: Now,
    ) -> None:
        """`now` is the page's clock, in seconds since the epoch."""
        self.emulator = emulator
        self.troubles = troubles
        self.people = people
        self.rooms = rooms
        self._offset = now() - emulator.clock()

    # Differences between platforms

    @property
    @abstractmethod
    def settings(self) -> dict[str, str]:
        """Return the settings with which Parley finds the running emulator."""

    @property
    @abstractmethod
    def connected(self) -> bool: ...

    @property
    @abstractmethod
    def commands(self) -> dict[str, str]: ...

    @abstractmethod
    def person_id(self, name: str) -> str: ...

    @abstractmethod
    def _messages(self, chat: ChatT) -> Sequence[MessageT]:
        """Return all visible messages, oldest first."""

    @abstractmethod
    def _id(self, message: MessageT) -> str: ...

    @abstractmethod
    def _sender(self, message: MessageT) -> PersonT: ...

    @abstractmethod
    def _show(self, room: str, message: MessageT) -> ShownMessage: ...

    def _previews(self, chat: ChatT) -> Sequence[ShownMessage]:
        """Return what is shown below the messages until it becomes one."""
        return ()

    @abstractmethod
    def _signs(self, chat: ChatT) -> Sequence[Sign]: ...

    @abstractmethod
    def _files(self, message: MessageT) -> Sequence[Upload]: ...

    @abstractmethod
    async def _say(
        self, chat: ChatT, person: PersonT, text: str, said: Said, answered: MessageT | None, root: MessageT | None
    ) -> None:
        """Write a message; `answered` and `root` are the messages that `said` names."""

    @abstractmethod
    async def _press(self, chat: ChatT, person: PersonT, message: MessageT, label: str, data: str | None) -> None: ...

    @abstractmethod
    async def _edit(self, chat: ChatT, message: MessageT, text: str) -> None: ...

    def _notices(self, chat: ChatT) -> Sequence[str]:
        """Return messages of the platform itself to the users of this conversation."""
        return ()

    # Common parts

    @property
    def condition(self) -> Condition:
        del self.emulator.calls[:-CALLS_KEPT]
        return Condition(self.connected, self.commands, self.troubles.armed, tuple(self.emulator.violations))

    def show(self, room: str) -> ShownRoom:
        chat = self._chat(room)
        newest = self._messages(chat)[-MOST_MESSAGES:]
        messages = tuple(self._show(room, message) for message in newest)
        return ShownRoom((*messages, *self._previews(chat)), tuple(self._signs(chat)), tuple(self._notices(chat)))

    async def say(self, room: str, person: str, said: Said) -> None:
        """Write a message. Raises NotThere if the platform does not let anyone do that."""
        chat = self._chat(room)
        answered = None if said.reply_to is None else self._find(chat, said.reply_to)
        root = None if said.thread is None else self._find(chat, said.thread)
        try:
            await self._say(chat, self._person(person), _BOT.sub("@parley_bot", said.text), said, answered, root)
        except AssertionError as error:
            raise NotThere(str(error)) from error

    async def press(self, room: str, person: str, message: str, label: str, data: str | None) -> None:
        chat = self._chat(room)
        try:
            await self._press(chat, self._person(person), self._find(chat, message), label, data)
        except AssertionError as error:
            raise NotThere(str(error)) from error

    async def edit(self, room: str, person: str, message: str, text: str) -> None:
        """Edit one's own message."""
        chat = self._chat(room)
        found = self._find(chat, message)
        if self._sender(found) != self._person(person):
            raise NotThere("that is somebody else's message")
        await self._edit(chat, found, text)

    def file(self, room: str, message: str, index: int) -> Upload:
        files = self._files(self._find(self._chat(room), message))
        if not 0 <= index < len(files):
            raise NotThere("no such file")
        return files[index]

    def _shown_files(self, room: str, message: MessageT) -> tuple[ShownFile, ...]:
        about = {"platform": self.name, "room": room, "message": self._id(message)}
        return tuple(
            ShownFile(
                file.name,
                len(file.content),
                f"/api/file?{urlencode({**about, 'index': index})}",
                file.mime in ("image/png", "image/jpeg", "image/gif", "image/webp"),
            )
            for index, file in enumerate(self._files(message))
        )

    def _when(self, at: float) -> float:
        """Convert a time of the emulator's clock to seconds since the epoch."""
        return round(at + self._offset, 3)

    def _chat(self, room: str) -> ChatT:
        if room not in self.rooms:
            raise NotThere(f"no conversation {room}")
        return self.rooms[room]

    def _person(self, name: str) -> PersonT:
        if name not in self.people:
            raise NotThere(f"nobody is called {name}")
        return self.people[name]

    def _find(self, chat: ChatT, message: str) -> MessageT:
        found = next((each for each in self._messages(chat) if self._id(each) == message), None)
        if found is None:
            raise NotThere("that message is gone")
        return found
