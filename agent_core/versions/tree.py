"""Scanning of a workspace, and storing of files that changed. All methods block.

Links are never followed, and everything is opened relative to the workspace's descriptor, because programs may run in
it.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agent_core.late_pattern import LatePattern
from agent_core.versions.blobs import Blobs, Budget
from agent_core.versions.group import FILE, FOLDER, LINK, Change, Entry
from agent_core.workspace.keeper import CannotKeep
from agent_core.workspace.outputs import FOLDER as OUTPUT
from agent_core.workspace.safe_open import FILE_FLAGS, FOLDER_FLAGS, Opener, best_opener, open_root

Tree = dict[str, Entry]
"""Entries by relative path, folders before their contents."""

_OURS = LatePattern(rf"\.tmp-[0-9a-f]{{8}}|\.arriving-[0-9a-f]+|{re.escape(OUTPUT)}/[0-9]+\.txt")
"""Parley's own files: temporary folders of commands, files being written, kept outputs."""


class Look:
    """Reads entries of one workspace."""

    def __init__(self, workspace: Path, opener: Opener | None = None) -> None:
        self._workspace = workspace
        self._opener = opener or best_opener()

    def all(self, budget: Budget) -> Tree:
        """Return all entries, without contents. Raises CannotKeep."""
        try:
            root = open_root(self._workspace)
        except FileNotFoundError:
            return {}
        try:
            found: Tree = {}
            waiting: list[str] = [""]
            while waiting:
                for path, entry in self._entries(root, waiting.pop(), budget):
                    found[path] = entry
                    if entry.kind == FOLDER:
                        waiting.append(path)
            return found
        finally:
            os.close(root)

    def one(self, path: str) -> Entry | None:
        """Return the entry of a path, or None. Raises OSError if the path leads through a link."""
        *names, last = path.split("/")
        with suppress(FileNotFoundError, NotADirectoryError):
            folder = self._open(names, FOLDER_FLAGS)
            try:
                about = os.stat(last, dir_fd=folder, follow_symlinks=False)
                return _entry(folder, last, about, time.time_ns())
            finally:
                os.close(folder)
        return None

    def keep(self, path: str, entry: Entry, blobs: Blobs, budget: Budget) -> Entry:
        """Store the file's content and return the entry with its digest. Raises CannotKeep."""
        try:
            handle = self._open(path.split("/"), FILE_FLAGS)
        except FileNotFoundError:
            return entry  # deleted meanwhile
        except OSError as error:
            raise CannotKeep(f"a file cannot be read ({error.strerror})") from error
        try:
            about = os.fstat(handle)
            now = Entry.of(about, now_ns=time.time_ns())
            return now._replace(digest=blobs.keep(handle, budget)) if now.kind == FILE else entry
        except OSError as error:
            raise CannotKeep(f"a file cannot be kept ({error.strerror})") from error
        finally:
            os.close(handle)

    def _open(self, names: Sequence[str], flags: int) -> int:
        root = open_root(self._workspace)
        try:
            return self._opener(root, names, flags)
        finally:
            os.close(root)

    def _entries(self, root: int, folder: str, budget: Budget) -> Iterator[tuple[str, Entry]]:
        try:
            handle = self._opener(root, folder.split("/") if folder else (), FOLDER_FLAGS)
        except FileNotFoundError:
            return
        except OSError as error:
            raise CannotKeep(f"a folder cannot be looked into ({error.strerror})") from error
        now = time.time_ns()
        try:
            with os.scandir(handle) as entries:
                for each in entries:
                    path = f"{folder}/{each.name}" if folder else each.name
                    if _OURS.fullmatch(path):
                        continue
                    budget.look()
                    with suppress(FileNotFoundError):
                        yield path, _entry(handle, each.name, each.stat(follow_symlinks=False), now)
        finally:
            os.close(handle)


def _entry(folder: int, name: str, about: os.stat_result, now_ns: int) -> Entry:
    entry = Entry.of(about, now_ns=now_ns)
    return entry._replace(target=os.readlink(name, dir_fd=folder)) if entry.kind == LINK else entry


def kept(look: Look, found: Tree, known: Mapping[str, Entry], blobs: Blobs, budget: Budget) -> Tree:
    """Return the entries with every file's content stored; unchanged files are not read again. Raises CannotKeep."""
    return {
        path: entry if entry.kind != FILE else known_as(entry, known.get(path)) or look.keep(path, entry, blobs, budget)
        for path, entry in found.items()
    }


def known_as(entry: Entry, known: Entry | None) -> Entry | None:
    """Return the entry with its known digest if it is certainly unchanged, else None."""
    if known is None or not (known.digest and known.settled and known.stamp == entry.stamp):
        return None
    return entry._replace(digest=known.digest)


def changes(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> Iterator[Change]:
    """Yield the differences between two trees."""
    for path in dict.fromkeys([*before, *after]):
        old, new = before.get(path), after.get(path)
        if old is None or new is None or not old.looks_like(new):
            if path == OUTPUT and old is None and new is not None and new.kind == FOLDER:
                continue  # Parley makes it for outputs that it keeps
            yield Change(path, old, new)
