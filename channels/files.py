"""Files to upload: their content, their type, and the error for one that is too large. And the deletion of files."""

import asyncio
import errno
import mimetypes
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Literal

from channels.attachments import Attachment
from channels.base import ChannelError

MIB = 1024 * 1024
LACK = errno.EMFILE, errno.ENFILE
"""Errors of a process or a machine that may open no further file, which pass."""
FileTrouble = Literal["too_large", "gone", "kept_back", "not_allowed", "unreachable"]
"""Common reasons for which a file does not arrive, for which there are texts in the person's language."""


class FileRefused(ChannelError):
    """A file that does not arrive.

    Attributes:
        why: The kind of the reason.
        limit: Size of the largest file that would arrive, in bytes; 0 if that is not the reason.
    """

    def __init__(self, reason: str, why: FileTrouble, *, limit: int = 0, permanent: bool = True) -> None:
        super().__init__(reason, permanent=permanent)
        self.why = why
        self.limit = limit


def too_large(file: Attachment, taker: str, limit: int) -> FileRefused:
    """Return the error for a file above a limit in bytes; `taker` begins the reason, as in "Slack takes"."""
    reason = f"{file.safe_name} is too large: {taker} files of at most {limit // MIB} MB"
    return FileRefused(reason, "too_large", limit=limit)


async def read_upload(file: Attachment, taker: str, limit: int) -> bytes:
    """Read a file to upload. Raises a ChannelError if it is too large or cannot be read."""
    path = Path(file.path)
    try:
        if (await asyncio.to_thread(path.stat)).st_size > limit:
            raise too_large(file, taker, limit)
        return await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        reason = f"{file.safe_name} cannot be read: {error.strerror}"
        raise ChannelError(reason, permanent=error.errno not in LACK) from error


def mime_type_of(name: str) -> str:
    """Guess the type of a file from its name alone."""
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def delete_whole(path: Path) -> None:
    """Delete a file or a folder, parts of which may be deleted by others at the same time. Blocks. Raises OSError."""
    while path.is_dir() and not path.is_symlink():
        with suppress(FileNotFoundError):
            shutil.rmtree(path)
    path.unlink(missing_ok=True)
