"""The chat as the page sees it: messages with revisions, and the events that lead from one revision to the next.

An edit travels as a delta over the HTML that the page already has: keep so many characters, then add these. Lengths
count UTF-16 units, as JavaScript does.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from channels.base import Attachment
from channels.text import utf16_len
from channels.web.render import plain, render
from channels.web.shown import Shown

KEPT = 1_000
"""How many messages of this process are held; older ones are the store's."""

Wire = dict[str, JsonValue]


class Conversation:
    """Messages that came or changed since the start of the process; what the store knows is merged in when asked."""

    def __init__(self) -> None:
        self._messages: dict[str, Wire] = {}
        self._deleted: set[str] = set()

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._messages

    def is_deleted(self, message_id: str) -> bool:
        return message_id in self._deleted

    def put(self, message: Shown) -> Wire | None:
        """Show a message, new or changed. Returns the event, or None where it reads so already."""
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
        return {
            "type": "edit",
            "id": message.message_id,
            "revision": revision,
            "buttons": new["buttons"],
            "attachments": new["attachments"],
            **delta(str(old["html"]), str(new["html"])),
        }

    def delete(self, message_id: str) -> Wire:
        self._messages.pop(message_id, None)
        self._deleted.add(message_id)
        return {"type": "delete", "id": message_id}

    def with_history(self, history: Sequence[Shown]) -> list[Wire]:
        """Everything, oldest first; what this process holds is newer than what the store says."""
        merged = {shown.message_id: on_the_wire(shown) for shown in history if not self.is_deleted(shown.message_id)}
        merged.update(self._messages)
        return sorted(merged.values(), key=_time)

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
        "buttons": [[{"label": each.label, "action": each.action} for each in row] for row in message.buttons],
        "attachments": [_file(message.message_id, index, each) for index, each in enumerate(message.attachments)],
    }


def file_reference(message_id: str, index: int) -> str:
    """Where a file that goes with a message of ours is kept, the same in every process."""
    return f"{message_id}-{index}"


def delta(old: str, new: str) -> Mapping[str, JsonValue]:
    """Keep the first `keep` units of the old text, then add `add`."""
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
