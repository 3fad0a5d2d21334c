"""The web page from the user's side: a tab's content, built from events, and the posts it makes."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import cast
from uuid import uuid4

from aiohttp import ClientSession
from pydantic import JsonValue

from parley.testing.emulators.control import Changes
from tests.end_to_end.platforms import platform
from tests.end_to_end.platforms.web_words import words_of

Wire = dict[str, JsonValue]
EDGE = "edge-of-a-form-7f3c"


MARKS = {"running": "…", "waiting": "…", "done": "✓", "failed": "✗"}
"""Signs of the rows of tool calls."""


@dataclass(frozen=True)
class Person:
    """The user of the page, with the language of the browser."""

    id: str
    name: str
    language: str


@dataclass(frozen=True)
class Button:
    text: str
    action: str


@dataclass(frozen=True)
class File:
    name: str
    content: bytes = field(repr=False)
    is_picture: bool = False


@dataclass(frozen=True)
class Edit:
    text: str
    at: float


@dataclass
class Message:
    """One message of the page; times are those of its arrival."""

    id: str
    who: str
    sorted_at: float
    html: str
    revision: int
    at: float
    first: str = ""
    buttons: list[list[Button]] = field(default_factory=list)
    document: File | None = None
    edits: list[Edit] = field(default_factory=list)
    silent: bool = False
    reply_to: "Message | None" = None
    calls: list[str] = field(default_factory=list)
    """The rows of tool calls."""

    @property
    def text(self) -> str:
        """Its text; while it is in progress with the rows of tool calls above."""
        rows = self.calls if any(each.action.startswith("/stop") for row in self.buttons for each in row) else []
        return "\n".join([*rows, words_of(self.html)]).strip()

    @property
    def shown(self) -> str:
        if self.document is None:
            return self.text
        return f"[{self.document.name}] {self.text}".strip()

    @property
    def history(self) -> list[str]:
        return [self.first, *(edit.text for edit in self.edits)]

    def button(self, text: str) -> Button | None:
        return next((each for row in self.buttons for each in row if each.text == text), None)


@dataclass(frozen=True)
class Press:
    answered: bool


@dataclass(frozen=True)
class Action:
    at: float


class Tab:
    """A tab's messages, and which of them existed before the test."""

    def __init__(self) -> None:
        self.changes = Changes()
        self.messages: dict[str, Message] = {}
        self.actions: list[Action] = []
        self._before: frozenset[str] = frozenset()

    def begin(self) -> None:
        """Ignore all messages so far."""
        self._before = frozenset(self.messages)
        self.actions.clear()

    def forget(self) -> None:
        """Forget all messages, as those of another process may have the same ids."""
        self.messages.clear()
        self._before = frozenset()

    @property
    def bot_messages(self) -> list[Message]:
        """New messages in the order of the page."""
        new = (each for each in self.messages.values() if each.who == "parley" and each.id not in self._before)
        return sorted(new, key=lambda each: each.sorted_at)

    def put(self, told: Wire, document: File | None) -> None:
        """Store a whole message, new or read again."""
        name = str(told["id"])
        at = cast("float", told["at"])
        now = time.monotonic()
        message = Message(name, str(told["who"]), at, str(told["html"]), cast("int", told["revision"]), now)
        self._finish(message, told, document)
        old = self.messages.get(name)
        message.first = old.first if old else message.text
        message.edits = old.edits if old else []
        if old and old.text != message.text:
            message.edits.append(Edit(message.text, now))
        self.messages[name] = message
        self.changes.notify()

    def edit(self, told: Wire, document: File | None) -> bool:
        """Apply an edit; return False if it does not fit the message."""
        message = self.messages.get(str(told["id"]))
        if message is None or told["revision"] != message.revision + 1:
            return False
        kept = message.html.encode("utf-16-le")[: 2 * cast("int", told["keep"])].decode("utf-16-le")
        message.html, message.revision = kept + str(told["add"]), message.revision + 1
        self._finish(message, told, document)
        message.edits.append(Edit(message.text, time.monotonic()))
        self.changes.notify()
        return True

    def delete(self, message_id: str) -> None:
        self.messages.pop(message_id, None)
        self.changes.notify()

    def typing(self) -> None:
        self.actions.append(Action(time.monotonic()))
        self.changes.notify()

    def _finish(self, message: Message, told: Wire, document: File | None) -> None:
        rows = cast("list[list[Mapping[str, str]]]", told["buttons"])
        message.buttons = [[Button(each["label"], each["action"]) for each in row] for row in rows]
        message.document = document
        if "calls" in told:  # an edit leaves out what stays
            calls = cast("list[Mapping[str, str]]", told["calls"])
            message.calls = [f"{MARKS[each['state']]} {each['label']}" for each in calls]


class Chat:
    """The only conversation of the page."""

    id = "main"

    def __init__(self, tab: Tab, session: ClientSession) -> None:
        self._tab = tab
        self._session = session
        self._posted: tuple[str, Wire, str] | None = None
        self.worn = False
        """True if the chat was changed in a way that /new does not undo."""

    @property
    def bot_messages(self) -> list[Message]:
        return self._tab.bot_messages

    @property
    def screen(self) -> list[str]:
        return [each.shown for each in self.bot_messages]

    @property
    def actions(self) -> list[Action]:
        return self._tab.actions

    def until(self, condition: "Callable[[Chat], bool]", timeout: float = 30.0) -> Awaitable[None]:
        return self._tab.changes.until(lambda: condition(self), timeout, lambda: f"the screen shows {self.screen}")

    async def says(
        self,
        person: Person,
        text: str = "",
        *,
        reply_to: platform.Message | None = None,
        photo: bytes | None = None,
        document: tuple[str, bytes, str] | None = None,
    ) -> Message:
        if reply_to is not None:
            raise AssertionError("on the page nobody replies to a message")
        if photo is not None:
            document = ("photo.png", photo, "image/png")
        files: list[JsonValue] = [await self._upload(*document)] if document else []
        message = Message(str(uuid4()), "person", time.time(), text, 1, time.monotonic())  # an answer comes later
        await self._post("/api/messages", {"id": message.id, "text": text, "files": files}, person.language)
        return message

    async def edits(self, message: Message, text: str) -> None:
        raise AssertionError(f"on the page nobody changes {message.text!r} to {text!r}")

    async def deletes(self, message: Message) -> None:
        raise AssertionError(f"on the page nobody deletes {message.text!r}")

    async def presses(self, person: Person, button: str) -> Press:
        def find() -> tuple[str, str] | None:
            for each in reversed(self.bot_messages):
                if found := each.button(button):
                    return each.id, found.action
            return None

        shown, action = await self._tab.changes.found(find, lambda: f"no button {button!r} on {self.screen}")
        press: Wire = {"id": str(uuid4()), "message_id": shown, "action": action}
        await self._post("/api/buttons", press, person.language)
        return Press(answered=True)

    async def again(self) -> None:
        """Repeat the last post, as the page does without a response."""
        if self._posted is None:
            raise AssertionError("nobody has done anything")
        await self._post(*self._posted)

    async def _post(self, path: str, body: Wire, language: str) -> None:
        self._posted = (path, body, language)
        self.worn = self.worn or "/language" in (body.get("text"), body.get("action"))
        async with self._session.post(path, json=body, headers={"Accept-Language": language}) as answer:
            assert answer.status == 200, await answer.text()

    async def _upload(self, name: str, content: bytes, mime: str) -> JsonValue:
        """Upload a file as a browser does, with any file name."""
        quoted = name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
        head = f'--{EDGE}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\nContent-Type: {mime}'
        form = f"{head}\r\n\r\n".encode() + content + f"\r\n--{EDGE}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={EDGE}"}
        async with self._session.post("/api/files", data=form, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            told = await answer.json()
        return cast("JsonValue", told["files"][0]["reference"])
