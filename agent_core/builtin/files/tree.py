"""The files beneath a folder of the workspace, found and opened without ever leaving it. Everything here blocks."""

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from agent_core.beneath import FILE, FOLDER, Opener
from agent_core.builtin.files.confined import check_file
from agent_core.tools import ToolFailed

Names = tuple[str, ...]

MOST_BYTES = 8_000_000


def files_beneath(root: int, folder: Names, opener: Opener, goes_on: Callable[[], bool]) -> Iterator[Names]:
    """Each folder's own files in the order of their names, then those of its folders; `folder` may be a file itself.
    Asked before each folder whether it goes on: there may be a million of them, and no file.

    Folders whose names begin with a dot are left out. Raises OSError where `folder` cannot be opened; what further
    down cannot be opened is left out.
    """
    try:
        files, waiting = _entries(root, folder, opener)
    except NotADirectoryError:
        os.close(opener(root, folder, FILE))
        files, waiting = [folder], []
    yield from files
    while waiting and goes_on():
        try:
            files, folders = _entries(root, waiting.pop(), opener)
        except OSError:
            continue
        yield from files
        waiting += folders


def open_searched(root: int, names: Names, opener: Opener) -> int | None:
    """A handle, None for a file that is too large, has a second name or may not be read."""
    try:
        handle = opener(root, names, FILE)
    except OSError:
        return None
    about = os.fstat(handle)
    try:
        check_file(about, names[-1])
    except ToolFailed:
        os.close(handle)
        return None
    if about.st_size > MOST_BYTES:
        os.close(handle)
        return None
    return handle


def fits(names: Names, glob: str) -> bool:
    """Without a slash the glob is held against the file's name, else against its whole path; `**/` may stand for no
    folder at all."""
    if "/" not in glob:
        return not glob or fnmatchcase(names[-1], glob)
    path = "/".join(names)
    return fnmatchcase(path, glob) or fnmatchcase(path, glob.replace("**/", ""))


def _entries(root: int, folder: Names, opener: Opener) -> tuple[list[Names], list[Names]]:
    """The folder's files, and its folders with the first one last."""
    handle = opener(root, folder, FOLDER)
    try:
        with os.scandir(handle) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        files = [(*folder, entry.name) for entry in entries if entry.is_file(follow_symlinks=False)]
        folders = [
            (*folder, entry.name)
            for entry in reversed(entries)
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
        ]
    finally:
        os.close(handle)
    return files, folders
