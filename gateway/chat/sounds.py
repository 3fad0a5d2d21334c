"""Recordings that people send, and what the model and the person are told of them."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from agent_core.origin import CLEAN, Origin
from channels.attachments import Attachment
from gateway.permissions.sources import origin_of_file
from gateway.security.secrets import Secrets
from gateway.store.rows import InboxItem, Run
from gateway.texts.say import Language


class Sound(Struct, frozen=True):
    """A received audio file."""

    place: int
    """Its position among the message's attachments."""
    attachment: Attachment
    content: bytes


class Heard(Struct, frozen=True):
    """The words of a recording, or the reason why they are not known."""

    words: str = ""
    note: str = ""
    """A line for the model if there are no words."""
    shown: str = ""
    """A line for the person, in Markdown."""


Hear = Callable[[InboxItem, Run | None, Sound, Language], Awaitable[Heard | None]]
"""Returns what is said in a recording of a message, or None if nothing listens. See `Plugin.hear`."""


class Understood(Struct, frozen=True):
    """A recording as it stands in a prompt."""

    origin: Origin
    """That of the note, which holds the words if others may speak in the recording."""
    words: str = ""
    """What the sender says."""
    note: str = ""
    shown: str = ""


def understood(heard: Heard, file: Attachment, secrets: Secrets) -> Understood:
    """Return what becomes of a recording: only what its sender has said is the sender's own word."""
    words, note, shown = (secrets.mask(each) for each in (heard.words, heard.note, heard.shown))
    if not words:
        return Understood(CLEAN, note=note, shown=shown)
    name = file.safe_name
    if file.is_own_speech:
        return Understood(CLEAN, words, f"[{name} is the voice message; its transcript is above]", shown)
    who = f"{file.by} or others speak" if file.by else "others may speak"
    return Understood(origin_of_file(file), note=f"[{name}, transcribed, in which {who}]: {words}", shown=shown)
