"""Walking of files beneath a workspace folder, without ever leaving it. All functions block."""

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from agent_core.tools.files.confined import check_file
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.safe_open import FILE, FOLDER, Opener

Names = tuple[str, ...]

MOST_BYTES = 8_000_000


def files_beneath(root: int, folder: Names, opener: Opener, goes_on: Callable[[], bool]) -> Iterator[Names]:
    """Yield each folder's files sorted by name, then those of its folders; `folder` may be a file itself.

    `goes_on` is called before each folder, since there may be a million of them without a file. Folders whose names
    start with a dot are left out. Raises OSError if `folder` cannot be opened; anything deeper that cannot be opened is
    left out.
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
    """Open a file; None if it is too large, has a second name or may not be read."""
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
    """Match a glob against the file's name, or, if it contains a slash, the whole path; `**/` also matches no
    folder."""
    if "/" not in glob:
        return not glob or fnmatchcase(names[-1], glob)
    path = "/".join(names)
    return fnmatchcase(path, glob) or fnmatchcase(path, glob.replace("**/", ""))


def _entries(root: int, folder: Names, opener: Opener) -> tuple[list[Names], list[Names]]:
    """Return the folder's files, and its folders in reverse order."""
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
