"""Copies of a workspace's files on their way to people, so that what was promised is what arrives. All of it blocks."""

import hashlib
import mimetypes
import os
import shutil
from pathlib import Path

from agent_core.builtin.files.confined import open_file
from agent_core.tools import ToolFailed
from channels.base import Attachment

FOLDER = "outgoing"
"""Under the home."""
MOST_WAITING = 10
"""Files of one report, as many as Discord and Telegram take with one message."""


def copied(workspace: Path, path: str, target: Path, most: int) -> Attachment:
    """Raises ToolFailed for a file that is not there, not inside the workspace, or larger than `most` bytes."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(open_file(workspace, path), "rb") as source:
        size = os.fstat(source.fileno()).st_size
        if size > most:
            raise ToolFailed(f"the file has {size} bytes, and {most} is the most that can be sent here")
        with target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    return _attachment(target, Path(path).name)


def collect(workspace: Path, path: str, folder: Path, most: int) -> Attachment:
    """A copy that waits in the folder behind those that do already; one that is as it was waits once. Raises ToolFailed
    as `copied` does."""
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
    """What was collected there, in order."""
    return tuple(_attachment(path, path.name) for place in _places(folder) for path in sorted(place.iterdir()))


def _places(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9][0-9]-*"))


def _attachment(path: Path, name: str) -> Attachment:
    mime_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Attachment(name=name, mime_type=mime_type, size=path.stat().st_size, path=str(path))
