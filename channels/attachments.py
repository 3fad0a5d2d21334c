"""Files that are received with messages, or sent with them, and the kinds that are shown as pictures."""

import re
import unicodedata
from pathlib import PurePosixPath

from channels.values import Text, Value

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Image types that models and browsers display and that cannot contain scripts, as SVG can."""
_LONGEST = 120
"""Length of a name in bytes."""
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices, with any extension."""


def shows(name: str, words: str) -> str:
    """Return the line for what somebody says that a picture shows."""
    return f"[{Attachment(name=name).safe_name} shows: {words.strip()}]" if words.strip() else ""


class Attachment(Value):
    """A file that was received with a message, or is sent with one.

    Inbound: `download` takes `reference`; `by` is the first sender of a forwarded file. Outbound: `path` exists.
    """

    name: Text
    mime_type: str = "application/octet-stream"
    size: int | None = None  # bytes, where the platform tells
    reference: str = ""
    path: str = ""
    by: Text = ""
    is_voice: bool = False
    """True if the platform says that it is a recording of somebody speaking."""
    seconds: float | None = None
    """Length of a recording, where the platform tells."""

    @property
    def is_audio(self) -> bool:
        """True for recordings and other audio files."""
        return self.is_voice or self.mime_type.startswith("audio/")

    @property
    def is_own_speech(self) -> bool:
        """True for a recording that its sender has made; in others anybody may speak."""
        return self.is_voice and not self.by

    @property
    def is_image(self) -> bool:
        return self.mime_type in IMAGES

    @property
    def safe_name(self) -> str:
        """Return the last path component without what file systems or terminals interpret; never empty.

        Letters that macOS takes apart are put together, as models write them when they name the file.
        """
        name = PurePosixPath(self.name.replace("\\", "/").replace("\0", "")).name
        printed = "".join(char for char in name if char.isprintable())
        kept = unicodedata.normalize("NFC", printed).strip(" .")
        short = kept.encode()[-_LONGEST:].decode(errors="ignore").strip(" .")
        return f"_{short}" if _DEVICE.fullmatch(short) else short or "file"
