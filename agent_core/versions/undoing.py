"""Undo of a tool call's changes. An undo is a change itself, and can be undone. All functions block."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.versions.entry import FOLDER, Entry
from agent_core.versions.group import Change, Group
from agent_core.versions.restoring import Restorer
from agent_core.versions.versions import ChatVersions
from agent_core.workspace.keeper import Author

TOOL = "undo"


@dataclass(frozen=True)
class Undone:
    group: Group
    """The group that was undone, or would have been."""
    changed_since: tuple[str, ...] = ()
    """Files changed after the call; if there are any, nothing is done unless `anyway` was set."""
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


def undo(versions: ChatVersions, group: Group, person: str, *, anyway: bool) -> Undone:
    """Restore the files to their state before the group, also those changed since if `anyway` is set.

    Raises CannotKeep if their present state cannot be recorded first.
    """
    with versions.lock:
        now = versions.current([change.path for change in group.changes])
        since = tuple(_changed_since(versions, group, now))
        if since and not anyway:
            return Undone(group, since)
        wanted = [
            Change(change.path, change.before, now[change.path])
            for change in group.changes
            if not _same(change.before, now[change.path])
        ]
        failed = Restorer(versions.workspace, versions.blobs).restore(wanted)
        restored = versions.current([change.path for change in wanted])
        made = [Change(path, now[path], entry) for path, entry in restored.items() if not _same(now[path], entry)]
        turned = replace(group, removed=group.added, added=group.removed, undoes=group.number, undone_by=None)
        done = versions.record(Author(TOOL, person=person), made, turned)
        _link(versions, group, done)
        return Undone(group, since, tuple(failed), done)


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
