"""Opening of files strictly inside one folder, whatever the path and the links in it. All functions block.

Links are never followed; a file with a second name (a hard link) may belong elsewhere, and is refused.
"""

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from agent_core.encodings import read_text
from agent_core.file_text import FileText
from agent_core.tools.files.unseen import unseen_format
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.safe_open import FILE_FLAGS, FOLDER_FLAGS, Opener, best_opener, open_root

_FACTS = {
    errno.ENOENT: "there is no {path} in the workspace",
    errno.ENOTDIR: "{path} is no folder, or leads through something that is no folder",
    errno.ELOOP: "{path} is a link or leads through one, and links are not followed",
    errno.ENXIO: "{path} is no regular file (a pipe, a socket or a device)",
    errno.EOPNOTSUPP: "{path} is no regular file (a pipe, a socket or a device)",
    errno.EISDIR: "{path} is a folder",
    errno.EACCES: "there is no permission for {path}",
    errno.EPERM: "there is no permission for {path}",
    errno.EROFS: "there is no permission for {path}",
    errno.ENAMETOOLONG: "{path} is too long a name",
    errno.ENOSPC: "there is no room left for {path}",
    errno.EDQUOT: "there is no room left for {path}",
    errno.EFBIG: "there is no room left for {path}",
}
NAME_CHARS = 100
LOOK = "look with list_dir"
_INSIDE = "give a path inside it"
_BLOCK = 1 << 20


def open_folder(root: Path, path: str, opener: Opener | None = None) -> int:
    """Open the folder `path` under `root` and return its descriptor. Raises ToolFailed."""
    return _open(root, names_of(path), FOLDER_FLAGS, path or ".", opener)


def open_file(root: Path, path: str, opener: Opener | None = None) -> int:
    """Open the regular file `path` under `root` for reading and return its descriptor. Raises ToolFailed."""
    handle = _open(root, names_of(path), FILE_FLAGS, path or ".", opener)
    try:
        check_file(os.fstat(handle), path)
    except ToolFailed:
        os.close(handle)
        raise
    return handle


def open_folder_of(root: Path, path: str, opener: Opener) -> tuple[int, str]:
    """Return the descriptor of the folder that contains or will contain the file `path`, and the file's name. Raises
    ToolFailed."""
    names, name = split(path)
    return _open(root, names, FOLDER_FLAGS, path, opener), name


def split(path: str) -> tuple[tuple[str, ...], str]:
    """Split a path into the names of its folders and its last name. Raises ToolFailed for the workspace itself."""
    names = names_of(path)
    if not names:
        raise failure(errno.EISDIR, path or ".")
    return names[:-1], names[-1]


def check_file(about: os.stat_result, path: str) -> None:
    """Raise ToolFailed unless this is a regular file with only one name."""
    if stat.S_ISDIR(about.st_mode):
        raise failure(errno.EISDIR, path)
    if stat.S_ISLNK(about.st_mode):
        raise failure(errno.ELOOP, path)
    if not stat.S_ISREG(about.st_mode):
        raise failure(errno.ENXIO, path)
    if about.st_nlink > 1:
        raise ToolFailed(f"{shown(path)} has a second name (a hard link), which may stand outside", "copy it first")


def failure(number: int, path: str) -> ToolFailed:
    """Return the system error with this number as an error for the model."""
    fact = _FACTS.get(number, f"{{path}} cannot be opened: {os.strerror(number)}")
    return ToolFailed(fact.format(path=shown(path)), LOOK)


def names_of(path: str) -> tuple[str, ...]:
    """Return the names of a path within the workspace; empty for the workspace itself. Raises ToolFailed."""
    if "\0" in path or not is_encodable(path):
        raise ToolFailed("that path is no file name", LOOK)
    if path.startswith("/"):
        raise ToolFailed(f"{shown(path)} is absolute; only the workspace can be reached", _INSIDE)
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if ".." in names:
        raise ToolFailed(f"{shown(path)} leads out of the workspace", _INSIDE)
    return names


def shown(name: str) -> str:
    """Return a file's name for one line of text: printable, and shortened if long."""
    text = printable(name)
    return text if len(text) <= NAME_CHARS else f"{text[: NAME_CHARS - 1]}…"


def printable(name: str) -> str:
    """Return a file's whole name without characters that move the cursor or cannot be sent."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if is_encodable(name) else ascii(name)
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def is_encodable(name: str) -> bool:
    """Return True if the system could have a file of that name, or accept it as an argument."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _open(root: Path, names: Sequence[str], flags: int, path: str, opener: Opener | None) -> int:
    try:
        folder = open_root(root)
        try:
            return (opener or best_opener())(folder, names, flags)
        finally:
            os.close(folder)
    except OSError as error:
        raise failure(error.errno or 0, path) from error


def read_content(handle: int, path: str, most: int) -> bytes:
    """Read a file from its start, even if it grows meanwhile. Raises ToolFailed for more than `most` bytes."""
    blocks: list[bytes] = []
    size = 0
    while block := os.pread(handle, min(_BLOCK, most + 1 - size), size):
        blocks.append(block)
        size += len(block)
        if size > most:
            raise ToolFailed(f"{shown(path)} is larger than {in_words(most)}, too large to read")
    return b"".join(blocks)


def text_in(content: bytes, path: str) -> FileText:
    """Return the text of a file in whatever encoding it is. Raises ToolFailed for a binary file."""
    found = read_text(content)
    if found is None:
        if picture := unseen_format(content):
            told = f"{shown(path)} is a {picture} picture ({in_words(len(content))}), which no model can see"
            raise ToolFailed(told, "convert it to PNG with a program")
        raise ToolFailed(f"{shown(path)} is a binary file ({in_words(len(content))}), not text")
    return found


def in_words(size: int) -> str:
    """Format a number of bytes for reading."""
    power = min((len(str(size)) - 1) // 3, 3)
    return f"{size / 1000**power:.1f} {('B', 'kB', 'MB', 'GB')[power]}" if power else f"{size} B"
