"""Files that are to be sent: new ones, and copies of workspace files, so that later edits do not change what arrives.

All functions block.
"""

import hashlib
import mimetypes
import os
import shutil
from pathlib import Path

from agent_core.tools.files.confined import open_file
from agent_core.tools.tool import ToolFailed
from channels.attachments import Attachment

FOLDER = "outgoing"
"""Folder of the copies, in PARLEY_HOME."""
MOST_WAITING = 10
"""Most files in one report; Discord and Telegram take this many with one message."""


def write(target: Path, content: bytes) -> Attachment:
    """Write a file that is to be sent. Returns it as an attachment."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target.write_bytes(content)
    return _attachment(target, target.name)


def copied(workspace: Path, path: str, target: Path, most: int) -> Attachment:
    """Copy a workspace file to `target`. Raises ToolFailed if it is missing, outside, or larger than `most` bytes."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(open_file(workspace, path), "rb") as source:
        size = os.fstat(source.fileno()).st_size
        if size > most:
            raise ToolFailed(f"the file has {size} bytes, and {most} is the most that can be sent here")
        with target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    return _attachment(target, Path(path).name)


def collect(workspace: Path, path: str, folder: Path, most: int) -> Attachment:
    """Copy a file to the end of the queue in `folder`; an unchanged file is queued once. Raises ToolFailed.

    Failures are those of `copied`, and a full queue.
    """
    arriving = folder / f".arriving-{hashlib.sha256(path.encode(errors='surrogatepass')).hexdigest()[:16]}"
    try:
        file = copied(workspace, path, arriving / Attachment(name=path).safe_name, most)
        there = _places(folder)
        with Path(file.path).open("rb") as content:
            which = hashlib.file_digest(content, "sha256")
        which.update(file.name.encode(errors="surrogatepass"))
        place = next((each for each in there if each.name.endswith(which.hexdigest()[:16])), None)
        if place is None:
            if len(there) >= MOST_WAITING:
                raise ToolFailed(f"{MOST_WAITING} files wait already, and that is the most", "send those")
            place = folder / f"{len(there):02}-{which.hexdigest()[:16]}"
            arriving.rename(place)
    finally:
        shutil.rmtree(arriving, ignore_errors=True)
    return file.model_copy(update={"path": str(place / Path(file.path).name)})


def waiting(folder: Path) -> tuple[Attachment, ...]:
    """Return the queued files in order."""
    return tuple(_attachment(path, path.name) for place in _places(folder) for path in sorted(place.iterdir()))


def _places(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9][0-9]-*"))


def _attachment(path: Path, name: str) -> Attachment:
    mime_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Attachment(name=name, mime_type=mime_type, size=path.stat().st_size, path=str(path))
