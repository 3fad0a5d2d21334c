"""Atomic replacement of files: readers see the old or the new content, even after a crash.

All functions block and work on descriptors, so that links cannot redirect a write.
"""

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_core.tools.files.confined import check_file, failure, shown
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.safe_open import FOLDER_FLAGS, Opener, open_root

WAIT_S = 5.0
"""Seconds to wait for a lock."""
_POLL_S = 0.01
_NAME_BYTES = 255


@contextmanager
def locked(folder: int, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the folder's lock, which everything that changes its files takes.

    Raises ToolFailed after `wait_s` seconds, since a program that the model started might hold the lock for ever.
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
    """Replace the content of the folder's file of that name; call it with the lock held. Raises OSError."""
    temporary = _temporary(name)
    with suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=folder)  # left behind by a killed process
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
    """Return the state of a file that may be replaced; None if there is none.

    Raises ToolFailed for a folder, a link, a file with a second name or without write permission, and any other kind.
    """
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
    """Return the descriptor of the folder of these names under `root`, creating what is missing. Raises OSError."""
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
        return opener(folder, (name,), FOLDER_FLAGS)
    except FileNotFoundError:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=folder)
    return opener(folder, (name,), FOLDER_FLAGS)


def _temporary(name: str) -> str:
    """Return a temporary name that is unique for the name and never too long."""
    temporary = f".{name}.new"
    if len(os.fsencode(temporary)) <= _NAME_BYTES:
        return temporary
    if len(os.fsencode(name)) > _NAME_BYTES:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    return f".{hashlib.sha256(os.fsencode(name)).hexdigest()}.new"
