"""Opens paths beneath a folder without following symbolic links, safe against concurrent replacement.

Uses openat2(2) where the kernel has it (Linux 5.6 and later), and otherwise walks the path name by name. Both raise the
same OSError for the same path.
"""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Never blocks on a FIFO without a writer, and never acquires a controlling terminal."""

Opener = Callable[[int, Sequence[str], int], int]
"""Takes a folder's descriptor, names (empty for the folder itself) and flags; returns a descriptor. Raises OSError."""

_OPENAT2 = 437
"""Number of openat2; the same on all platforms Python runs on except Alpha and MIPS, where the call fails."""
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_PATH_BYTES = 4096


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_by_kernel(folder: int, names: Sequence[str], flags: int) -> int:
    """Open with a single openat2 call."""
    path = os.fsencode("/".join(names) or ".")
    # O_NOFOLLOW is left out: RESOLVE_NO_SYMLINKS alone reports a link in place of a folder differently from a file.
    how = _How(flags=flags & ~os.O_NOFOLLOW, mode=0, resolve=_BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS)
    call = _libc().syscall
    while True:
        handle = int(call(ctypes.c_long(_OPENAT2), folder, path, ctypes.byref(how), ctypes.sizeof(how)))
        if handle >= 0:
            return handle
        number = ctypes.get_errno()
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number))


def open_by_walk(folder: int, names: Sequence[str], flags: int) -> int:
    """Open name by name, each relative to the descriptor of the one before."""
    if len(os.fsencode("/".join(names))) >= _PATH_BYTES:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    if not names:
        return os.open(".", flags, dir_fd=folder)
    handle = os.dup(folder)
    for position, name in enumerate(names, 1):
        try:
            inner = _step(handle, name, flags if position == len(names) else FOLDER_FLAGS)
        finally:
            os.close(handle)
        handle = inner
    return handle


@cache
def best_opener() -> Opener:
    """Return `open_by_kernel`, or `open_by_walk` if openat2 is missing or forbidden (old kernel, container filter)."""
    if sys.platform != "linux":
        return open_by_walk
    try:
        root = os.open("/", FOLDER_FLAGS)
        try:
            os.close(open_by_kernel(root, (), FOLDER_FLAGS))
        finally:
            os.close(root)
    except OSError:
        return open_by_walk
    return open_by_kernel


def open_root(root: Path) -> int:
    """Open the root folder. The path to it is trusted and may contain symbolic links. Raises OSError."""
    return os.open(root, FOLDER_FLAGS & ~os.O_NOFOLLOW)


def _step(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        # With O_DIRECTORY, the kernel reports a link and a file in the same way.
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
        raise


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
