"""Undo of a tool call's changes. An undo is a change itself, and can be undone. All functions block.

A restored file, folder or link is replaced as a whole, and links are never followed.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agent_core.file_handles import raise_lack
from agent_core.tools.files.replace import open_made_folder
from agent_core.versions.blobs import Blobs
from agent_core.versions.group import FOLDER, LINK, OTHER, Change, Entry, Group
from agent_core.versions.versions import ChatVersions
from agent_core.workspace.keeper import Author
from agent_core.workspace.safe_open import FOLDER_FLAGS, Opener, best_opener

TOOL = "undo"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Undone(Struct, frozen=True):
    group: Group
    """The group that was undone, or would have been."""
    changed_since: tuple[str, ...] = ()
    """Files changed after the call; if there are any, nothing is done unless they are as they were shown."""
    mark: str = ""
    """A digest of their present state."""
    failed: tuple[str, ...] = ()
    """Paths that could not be restored."""
    by: Group | None = None
    """The undo itself; None if nothing was done."""


def newest(versions: ChatVersions, person: str) -> Group | None:
    """Return the newest change made for this user that is not undone."""
    return next((each for each in versions.groups.newest_first() if each.person == person and is_undoable(each)), None)


def is_undoable(group: Group) -> bool:
    """Return True if an undo without a number may choose the group; an undo is undone only by its number."""
    return group.undone_by is None and group.undoes is None and not (group.is_open or group.is_empty)


def carried_out(versions: ChatVersions, call: str) -> Undone | None:
    """Return what the undo with this call did, if it was carried out: a command is given again after a crash."""
    with versions.lock:
        done = next((each for each in versions.groups.newest_first() if each.tool == TOOL and each.call == call), None)
        if done is None or done.undoes is None or (group := versions.groups.read(done.undoes)) is None:
            return None
        if group.undone_by is None:
            _link(versions, group, done)
        return Undone(group, by=done)


def undo(versions: ChatVersions, group: Group, person: str, *, anyway: str, call: str = "") -> Undone:
    """Restore the files to their state before the group.

    Args:
        anyway: The mark with which the files were shown that changed since; they are restored only in that state.
        call: The id of the command, by which `carried_out` finds this undo.

    Raises CannotKeep if their present state cannot be recorded first.
    """
    with versions.lock:
        now = versions.current([change.path for change in group.changes])
        since = tuple(_changed_since(versions, group, now))
        mark = _mark(since, now)
        if since and anyway != mark:
            return Undone(group, since, mark)
        wanted = [
            Change(change.path, change.before, now[change.path])
            for change in group.changes
            if not _same(change.before, now[change.path])
        ]
        failed = Restorer(versions.workspace, versions.blobs).restore(wanted)
        restored = versions.current([change.path for change in wanted])
        made = [Change(path, now[path], entry) for path, entry in restored.items() if not _same(now[path], entry)]
        turned = replace(group, removed=group.added, added=group.removed, undoes=group.number, undone_by=None)
        done = versions.record(Author(TOOL, call, person), made, turned)
        _link(versions, group, done)
        return Undone(group, since, mark, tuple(failed), done)


def _mark(paths: Sequence[str], now: Mapping[str, Entry | None]) -> str:
    state = repr([(path, _content(now[path])) for path in paths])
    return hashlib.sha256(state.encode(errors="surrogateescape")).hexdigest()[:12]


def _content(entry: Entry | None) -> tuple[object, ...]:
    """Return what a person would call the state of a path: with the same content, it is the same at any later time."""
    if entry is None:
        return ()
    if entry.kind in (FOLDER, LINK):
        return entry.kind, entry.mode, entry.target
    return entry.kind, entry.mode, entry.digest or entry.stamp


def _link(versions: ChatVersions, group: Group, done: Group) -> None:
    versions.groups.write(replace(group, undone_by=done.number))
    if group.undoes is not None and (original := versions.groups.read(group.undoes)):
        versions.groups.write(replace(original, undone_by=None))


def _changed_since(versions: ChatVersions, group: Group, now: Mapping[str, Entry | None]) -> Iterator[str]:
    later = [each for each in versions.groups.newest_first() if each.number > group.number]
    for change in group.changes:
        expected = _with_digest(change, later)
        if not _same(expected, now[change.path]) and not _same(change.before, now[change.path]):
            yield change.path


def _with_digest(change: Change, later: Sequence[Group]) -> Entry | None:
    """Return the state after the call, with the digest known from later calls that changed it again."""
    after = change.after
    if after is None or after.digest:
        return after
    for group in later:
        for each in group.changes:
            for entry in (each.before, each.after):
                if each.path == change.path and entry and entry.digest and entry.looks_like(after):
                    return after._replace(digest=entry.digest)
    return after


def _same(one: Entry | None, other: Entry | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.kind != other.kind or one.kind == FOLDER or one.looks_like(other):
        return one.kind == other.kind and one.mode == other.mode
    return bool(one.digest) and one.digest == other.digest and one.mode == other.mode


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
        except OSError as error:
            raise_lack(error)
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
            handle = os.open(name, FOLDER_FLAGS, dir_fd=folder)
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
