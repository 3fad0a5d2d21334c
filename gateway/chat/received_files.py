"""Files that people send, and what the model and the person are told of what is in them."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from channels.attachments import Attachment
from gateway.security.secrets import Secrets
from gateway.store.rows import InboxItem, Run
from gateway.texts.say import Language

ROOM = 12_000
"""Characters of the files of one message that the model is told with it, at most."""


class ReceivedFile(Struct, frozen=True):
    """A received file that is neither a recording nor a picture that is shown to the model."""

    place: int
    """Its position among the message's attachments."""
    attachment: Attachment
    content: bytes
    name: str
    """Its name in the chat's workspace."""


class FileContents(Struct, frozen=True):
    """The content of a file, or the reason why it is not known."""

    text: str = ""
    """For the model; it is told of the file as untrusted input from whoever the file is from."""
    shown: str = ""
    """A line for the person, in Markdown."""


Read = Callable[[InboxItem, Run | None, ReceivedFile, int, Language], Awaitable[FileContents | None]]
"""Returns what is in a file of a message, or None if nothing reads it. See `Plugin.read`."""


def room_of(window: int) -> int:
    """Return the characters of files that fit beside all else into a window of so many tokens, of which Chinese takes
    one a character."""
    return min(ROOM, window // 2)


def note_on(contents: FileContents, file: ReceivedFile, secrets: Secrets, room: int) -> str:
    """Return what the model is told of a file; empty if that is nothing. A secret is masked before it could be cut."""
    text = secrets.mask(contents.text)
    if not text:
        return ""
    cut = f"{text[:room]}\n[... the rest is left out here]" if len(text) > room else text
    return f"[{file.name} reads:]\n{cut}\n[End of {file.name}.]"
