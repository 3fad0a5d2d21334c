"""Changing a file as a whole: whoever reads it, or is killed in the middle, finds the old content or the new one.

Everything here blocks and works on handles, so that no link can lead a write away.
"""

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_core.beneath import FOLDER, Opener, open_root
from agent_core.builtin.files.confined import check_file, failure, shown
from agent_core.tools import ToolFailed

WAIT_S = 5.0
"""For a lock that somebody else holds."""
_POLL_S = 0.01
_NAME_BYTES = 255


@contextmanager
def locked(folder: int, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the folder's lock, which all who change its files take.

    Raises ToolFailed where somebody else keeps it; a program that the model started might do that for ever.
    """
    end = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > end:
                raise ToolFailed("something else is writing in that folder", "try again in a moment") from None
            time.sleep(_POLL_S)
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def replace(folder: int, name: str, content: bytes, mode: int = 0o600) -> None:
    """Put the content in the place of the folder's file of that name; call it with the lock held. Raises OSError."""
    temporary = _temporary(name)
    with suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=folder)  # left behind by one who was killed
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)


def replaceable(folder: int, name: str, path: str) -> os.stat_result | None:
    """What stands there and may be replaced, None for nothing. Raises ToolFailed for a folder, a link, a file with a
    second name, a file that may not be written, and anything else that is no file."""
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failure(error.errno or 0, path) from error
    check_file(about, path)
    if not about.st_mode & 0o200:
        raise ToolFailed(f"{shown(path)} is read-only")
    return about


def open_made_folder(root: Path, names: Sequence[str], opener: Opener) -> int:
    """A handle of the folder of these names under `root`, both made where they are missing. Raises OSError."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = open_root(root)
    for name in names:
        try:
            inner = _open_or_make(handle, name, opener)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _open_or_make(folder: int, name: str, opener: Opener) -> int:
    try:
        return opener(folder, (name,), FOLDER)
    except FileNotFoundError:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=folder)
    return opener(folder, (name,), FOLDER)


def _temporary(name: str) -> str:
    """One that stands for that name alone and is never too long itself."""
    temporary = f".{name}.new"
    if len(os.fsencode(temporary)) <= _NAME_BYTES:
        return temporary
    if len(os.fsencode(name)) > _NAME_BYTES:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    return f".{hashlib.sha256(os.fsencode(name)).hexdigest()}.new"
