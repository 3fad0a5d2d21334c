"""Restoring of files, folders and links of a workspace. All methods block.

Each is replaced as a whole, and links are never followed.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_core.tools.files.replace import open_made_folder
from agent_core.versions.blobs import Blobs
from agent_core.versions.entry import FOLDER, LINK, OTHER, Entry
from agent_core.versions.group import Change
from agent_core.workspace.safe_open import FOLDER as LIST
from agent_core.workspace.safe_open import Opener, best_opener

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Restorer:
    """Restores paths of one workspace."""

    def __init__(self, workspace: Path, blobs: Blobs, opener: Opener | None = None) -> None:
        self._workspace = workspace
        self._blobs = blobs
        self._opener = opener or best_opener()

    def restore(self, wanted: Sequence[Change]) -> list[str]:
        """Turn each path from its present state `after` into its `before`; returns the paths that failed."""
        failed: list[str] = []
        deepest_first = sorted(wanted, key=lambda change: -change.path.count("/"))
        for change in deepest_first:
            if change.after and (change.before is None or change.before.kind != change.after.kind):
                self._try(change, failed, put=False)
        for change in reversed(deepest_first):
            if change.before:
                self._try(change, failed, put=True)
        for change in deepest_first:  # last, so that read-only folders can be filled first
            if change.before and change.before.kind == FOLDER and change.path not in failed:
                with suppress(OSError):
                    self._set_mode(change.path, change.before.mode)
        return failed

    def _try(self, change: Change, failed: list[str], *, put: bool) -> None:
        try:
            with self._folder_of(change.path) as (folder, name):
                if not put:
                    done = _removed(folder, name, change.after)
                else:
                    done = bool(change.before) and self._put(folder, name, change.before)
        except OSError:
            done = False
        if not done and change.path not in failed:
            failed.append(change.path)

    @contextmanager
    def _folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        *names, name = path.split("/")
        folder = open_made_folder(self._workspace, names, self._opener)
        try:
            yield folder, name
        finally:
            os.close(folder)

    def _put(self, folder: int, name: str, entry: Entry | None) -> bool:
        if entry is None or entry.kind == OTHER:
            return False
        if entry.kind == FOLDER:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=folder)
            return True
        arriving = f".arriving-{os.urandom(8).hex()}"
        try:
            if entry.kind == LINK:
                os.symlink(entry.target, arriving, dir_fd=folder)
            elif not self._written(folder, arriving, entry):
                return False
            os.rename(arriving, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(arriving, dir_fd=folder)
        return True

    def _written(self, folder: int, name: str, entry: Entry) -> bool:
        handle = os.open(name, _NEW, 0o600, dir_fd=folder)
        try:
            if not (entry.digest and self._blobs.copy_to(entry.digest, handle)):
                return False
            os.fchmod(handle, entry.mode)
            os.fsync(handle)
        finally:
            os.close(handle)
        return True

    def _set_mode(self, path: str, mode: int) -> None:
        with self._folder_of(path) as (folder, name):
            handle = os.open(name, LIST, dir_fd=folder)
            try:
                os.fchmod(handle, mode)
            finally:
                os.close(handle)


def _removed(folder: int, name: str, entry: Entry | None) -> bool:
    """Remove the entry. A folder that is not empty raises OSError and stays."""
    try:
        if entry and entry.kind == FOLDER:
            os.rmdir(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return True
    return True
