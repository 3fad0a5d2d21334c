"""Opening files inside one folder and nowhere else, whatever links are swapped in meanwhile.

The path is walked name by name from a handle of the folder, and no step follows a link. Everything here blocks.
"""

import errno
import os
import stat
from pathlib import Path

from agent_core.tools import ToolFailed

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_FACTS = {
    errno.ENOENT: "there is no {path} in the workspace",
    errno.ENOTDIR: "{path} leads through something that is no folder, or through a link; links are not followed",
    errno.ELOOP: "{path} is a link, and links are not followed",
    errno.ENXIO: "{path} is no regular file",
    errno.EACCES: "{path} may not be read",
    errno.EPERM: "{path} may not be read",
    errno.ENAMETOOLONG: "{path} is too long a name",
}
NAME_CHARS = 100
_LOOK = "look with list_dir"


def open_folder(root: Path, path: str) -> int:
    """A handle of the folder `path` under `root`. Raises ToolFailed."""
    return _walk(root, _names(path), _FOLDER | os.O_NOFOLLOW)


def open_file(root: Path, path: str) -> int:
    """A handle, for reading, of the regular file `path` under `root`. Raises ToolFailed."""
    names = _names(path)
    handle = _walk(root, names, _FILE) if names else _walk(root, names, _FOLDER)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return handle
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise ToolFailed(f"{shown(path)} is a folder", _LOOK)
    raise ToolFailed(f"{shown(path)} is no regular file (a pipe, a socket or a device)", _LOOK)


def shown(name: str) -> str:
    """A file's name for one line of text: printable, and not endless."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if _is_encodable(name) else ascii(name)
    printable = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return printable if len(printable) <= NAME_CHARS else f"{printable[: NAME_CHARS - 1]}…"


def _names(path: str) -> tuple[str, ...]:
    if "\0" in path or not _is_encodable(path):
        raise ToolFailed("that path is no file name", _LOOK)
    if path.startswith("/"):
        raise ToolFailed(f"{shown(path)} is absolute; only the workspace can be read", "give a path inside it")
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if ".." in names:
        raise ToolFailed(f"{shown(path)} leads out of the workspace", "give a path inside it")
    return names


def _is_encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _walk(root: Path, names: tuple[str, ...], last: int) -> int:
    path = "/".join(names)
    handle = _open(str(root), _FOLDER, None, path or "such a folder")
    for position, name in enumerate(names, 1):
        flags = last if position == len(names) else _FOLDER | os.O_NOFOLLOW
        try:
            inner = _open(name, flags, handle, path)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _open(name: str, flags: int, folder: int | None, path: str) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        fact = _FACTS.get(error.errno or 0, f"{{path}} cannot be opened: {error.strerror}")
        raise ToolFailed(fact.format(path=shown(path)), _LOOK) from error
