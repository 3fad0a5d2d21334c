"""Opening a path beneath a folder without following a link anywhere on it, whatever is swapped in meanwhile.

The kernel does that by itself where it can (Linux 5.6 and later); elsewhere the path is walked name by name. Both ways
raise the same OSError for the same path.
"""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Opens without waiting for anybody: a pipe has no other end, a terminal becomes nobody's."""

Opener = Callable[[int, Sequence[str], int], int]
"""A folder's handle, names (none: the folder itself) and flags -> a new handle. Raises OSError."""

_OPENAT2 = 437
"""The system call's number; it is the same wherever Python runs today but on Alpha and MIPS, where it fails."""
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_PATH_BYTES = 4096


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_by_kernel(folder: int, names: Sequence[str], flags: int) -> int:
    """In one system call."""
    path = os.fsencode("/".join(names) or ".")
    # Left to RESOLVE_NO_SYMLINKS, a link in the place of a folder is told apart from a file.
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
    """Name by name, each from the handle of the one before."""
    if len(os.fsencode("/".join(names))) >= _PATH_BYTES:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    if not names:
        return os.open(".", flags, dir_fd=folder)
    handle = os.dup(folder)
    for position, name in enumerate(names, 1):
        try:
            inner = _step(handle, name, flags if position == len(names) else FOLDER)
        finally:
            os.close(handle)
        handle = inner
    return handle


@cache
def best_opener() -> Opener:
    """The kernel's way, unless it is missing or forbidden here (an old kernel, a container's filter)."""
    if sys.platform != "linux":
        return open_by_walk
    try:
        root = os.open("/", FOLDER)
        try:
            os.close(open_by_kernel(root, (), FOLDER))
        finally:
            os.close(root)
    except OSError:
        return open_by_walk
    return open_by_kernel


def open_root(root: Path) -> int:
    """The folder that everything is beneath; the way to it is trusted and may lead through links. Raises OSError."""
    return os.open(root, FOLDER & ~os.O_NOFOLLOW)


def _step(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        # Asked for a folder, the kernel says the same of a link as of a file.
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
        raise


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
