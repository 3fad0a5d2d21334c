"""A conversation as the page displays it: messages with revisions, and the events between revisions.

An edit is sent as a delta of the HTML that the page has: keep so many characters, then append. Lengths are UTF-16
units, as in JavaScript.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Literal
from uuid import uuid4

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, JsonValue

from channels.attachments import Attachment
from channels.base import Button, ChatKey
from channels.text import utf16_len
from channels.values import CallRow, Text
from channels.web.render import plain, render

START_OVER = b'data: {"type": "reset"}\n\n'
BEAT = b": still here\n\n"
KEPT = 1_000
"""Number of recent messages kept in memory; older ones come from the store."""
Wire = dict[str, JsonValue]


class Shown(BaseModel):
    """One message of a conversation, from the user or from Parley."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    who: Literal["person", "parley"]
    message_id: str
    """Id from the inbound event, or from the channel for Parley's messages."""
    markdown: Text
    """Markdown for Parley's messages; the user's are shown as typed."""
    reasoning: Text = ""
    """The model's reasoning, shown folded."""
    at: float
    """Seconds since the epoch."""
    buttons: tuple[tuple[Button, ...], ...] = ()
    attachments: tuple[Attachment, ...] = ()
    calls: tuple[CallRow, ...] = ()


class Past(Struct, frozen=True):
    """Stored messages of a conversation."""

    messages: Sequence[Shown]
    """Oldest first."""
    before: str = ""
    """Where the messages before these begin; empty if there are none."""


History = Callable[[ChatKey, str], Awaitable[Past]]
"""Returns the stored messages of a chat that end where the second argument says, or the newest ones. Raises ValueError
if it says nothing readable."""


class CallDetail(BaseModel):
    """The stored details of a tool call."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    arguments: Text = ""
    result: Text = ""
    error: Text = ""
    ms: int | None = None
    cost: str = ""
    """What the whole run has cost in dollars; empty if nothing or unknown."""


CallDetails = Callable[[ChatKey, str, str], Awaitable[CallDetail | None]]
"""Returns what is stored of a call of the run that posted a message, by chat, message id and call id."""


class EventRing:
    """Events for any number of readers; a reader is only a position in the buffer."""

    def __init__(self, size: int = 2_000, beat: float = 15.0) -> None:
        """`beat` is the silence in seconds after which a comment is sent, so that proxies keep the connection open."""
        self._process = uuid4().hex[:12]
        self._size = size
        self._events: deque[bytes] = deque(maxlen=size)
        self._count = 0
        self._beat = beat
        self._changed = asyncio.Event()
        self._closed = False

    @property
    def last(self) -> str:
        """Id of the newest event, from which reading can continue."""
        return f"{self._process}-{self._count}"

    def put(self, event: Mapping[str, JsonValue]) -> None:
        self._count += 1
        self._events.append(f"id: {self.last}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
        self._wake()

    def close(self) -> None:
        """End all readers."""
        self._closed = True
        self._wake()

    async def read(self, after: str) -> AsyncGenerator[bytes, None]:
        """Yield the events after the one with this id as they occur, encoded as server-sent events."""
        position = self._position(after)
        while not self._closed:
            changed = self._changed
            missed = self._count - position
            if missed > len(self._events):
                position = self._count
                yield f"id: {self.last}\n".encode() + START_OVER
            elif missed:
                position += 1
                yield self._events[-missed]
            elif not await self._wait_for_change(changed):
                yield BEAT

    async def _wait_for_change(self, changed: asyncio.Event) -> bool:
        try:
            async with asyncio.timeout(self._beat):
                await changed.wait()
        except TimeoutError:
            return False
        return True

    def _position(self, after: str) -> int:
        """Return the position of an event id; one before the start of the buffer for an id of another process."""
        process, _, count = after.partition("-")
        known = process == self._process and count.isascii() and count.isdigit() and int(count) <= self._count
        return int(count) if known else -1 - self._size

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Conversation:
    """Messages that arrived or changed since the start of the process, merged with stored ones on request."""

    def __init__(self) -> None:
        self._messages: dict[str, Wire] = {}
        self._deleted: set[str] = set()

    def get(self, message_id: str) -> Wire | None:
        return self._messages.get(message_id)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._messages

    def is_deleted(self, message_id: str) -> bool:
        return message_id in self._deleted

    def put(self, message: Shown) -> Wire | None:
        """Show a new or changed message. Returns the event, or None if nothing changed."""
        new = on_the_wire(message)
        old = self._messages.get(message.message_id)
        if old is None:
            self._messages[message.message_id] = new
            self._forget_oldest()
            return {"type": "message", **new}
        if {**old, "revision": 0, "at": 0} == {**new, "revision": 0, "at": 0}:
            return None
        revision = _revision(old) + 1
        self._messages[message.message_id] = {**new, "revision": revision, "at": old["at"]}
        calls = {} if new["calls"] == old["calls"] else {"calls": new["calls"]}
        return {
            "type": "edit",
            "id": message.message_id,
            "revision": revision,
            **calls,
            "buttons": new["buttons"],
            "attachments": new["attachments"],
            "reasoning": dict(delta(str(old["reasoning"]), str(new["reasoning"]))),
            **delta(str(old["html"]), str(new["html"])),
        }

    def delete(self, message_id: str) -> Wire:
        self._messages.pop(message_id, None)
        self._deleted.add(message_id)
        return {"type": "delete", "id": message_id}

    def with_history(self, past: Past) -> list[Wire]:
        """Return the newest messages, oldest first; those in memory are newer than the stored ones."""
        merged = {each.message_id: on_the_wire(each) for each in past.messages if not self.is_deleted(each.message_id)}
        since = past.messages[0].at if past.messages and past.before else 0.0
        merged.update({name: each for name, each in self._messages.items() if _time(each) >= since})
        return sorted(merged.values(), key=_time)

    def older(self, past: Past) -> list[Wire]:
        """Return messages from before the newest ones, each in its latest version."""
        kept = (each for each in past.messages if not self.is_deleted(each.message_id))
        return [self._messages.get(each.message_id) or on_the_wire(each) for each in kept]

    def _forget_oldest(self) -> None:
        while len(self._messages) > KEPT:
            del self._messages[next(iter(self._messages))]


def on_the_wire(message: Shown) -> Wire:
    text = message.markdown
    return {
        "id": message.message_id,
        "who": message.who,
        "at": message.at,
        "revision": 1,
        "html": plain(text) if message.who == "person" else render(text),
        "reasoning": render(message.reasoning),
        "buttons": [
            [{"label": each.label, "action": each.action, "style": each.style} for each in row]
            for row in message.buttons
        ],
        "calls": [each.model_dump() for each in message.calls],
        "attachments": [_file(message.message_id, index, each) for index, each in enumerate(message.attachments)],
    }


def file_reference(message_id: str, index: int) -> str:
    """Return the reference under which an outgoing file is kept, which is the same in every process."""
    return f"{message_id}-{index}"


def delta(old: str, new: str) -> Mapping[str, JsonValue]:
    """Return the delta between two texts: keep the first `keep` units of the old one, then append `add`."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return {"keep": utf16_len(new[:low]), "add": new[low:]}


def _file(message_id: str, index: int, file: Attachment) -> Wire:
    reference = file.reference or file_reference(message_id, index)
    return {
        "name": file.safe_name,
        "url": f"/api/files/{reference}",
        "size": file.size,
        "image": file.is_image,
    }


def _revision(message: Wire) -> int:
    revision = message["revision"]
    return revision if isinstance(revision, int) else 0


def _time(message: Wire) -> float:
    at = message["at"]
    return float(at) if isinstance(at, int | float) else 0.0
