"""Version history of one chat's workspace and memory, recorded before tool calls change them.

Contents are stored by digest in a folder outside the workspace, which programs cannot reach. The changes of a call are
a `Group`. Methods block, except `everything`; one lock serialises them, and keeps out `prune_alone` of other processes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, convert
from msgspec.structs import replace

from agent_core.clock import Clock
from agent_core.file_handles import raise_lack
from agent_core.file_lock import FolderLock
from agent_core.json_text import UNREADABLE, read_json
from agent_core.sandbox.usage import Usage, usage_of
from agent_core.versions.blobs import Blobs, Budget, NoRoom
from agent_core.versions.group import FILE, Change, Entry, Group, Groups, write_json
from agent_core.versions.tree import Look, Tree, changes, kept
from agent_core.workspace.keeper import Allowance, Author, Boundless, CannotKeep, Quota

T = TypeVar("T")

DAYS = 30
DAY = 86_400.0
_PATIENCE_AFTER = 10
"""Factor for the limits after a call: a program may have made many files."""


class KeepLimits(Struct, frozen=True):
    """Limits of recording."""

    bytes: int = 500_000_000
    """All versions of a chat on disk."""
    seconds: float = 2.0
    """Time before one call."""
    files: int = 20_000
    """Files in a workspace."""


class ChatVersions:
    """Implements `Keeper`. Only one instance at a time may change a chat's versions; others may call `prune_alone`."""

    def __init__(
        self,
        folder: Path,
        workspace: Path,
        clock: Clock,
        limits: KeepLimits | None = None,
        quota: Quota | None = None,
    ) -> None:
        self.workspace = workspace
        self.quota = quota or Boundless()
        self.groups = Groups(folder / "groups")
        self.blobs = Blobs(folder / "blobs")
        self.lock = FolderLock(folder)
        self._index = folder / "index.json"
        self._clock = clock
        self._limits = limits or KeepLimits()
        self._look = Look(workspace)
        self._active: dict[int, frozenset[str]] = {}
        """Digests that running calls need, by group number."""
        self._has_recovered = False
        self._not_kept: set[str] = set()
        """Calls approved although their files cannot be recorded."""

    # Before a permission is decided

    def why_not(self, author: Author) -> str:
        """Record what a program could change; returns why that is impossible, or an empty string.

        A call that is then approved all the same runs without being recorded.
        """
        try:
            with self.lock:
                self._keep_all()
        except CannotKeep as error:
            self._not_kept.add(author.call)
            return str(error)
        self._not_kept.discard(author.call)
        return ""

    # During a call

    @contextmanager
    def file(self, author: Author, path: str, size: int) -> Iterator[None]:
        with self.lock:
            self._close_left_open()
            self._check_room(author, size)
            before = self._now(path)
            if before is not None and before.kind == FILE:
                before = self._with_room(partial(self._look.keep, path, before, self.blobs))
            group = self._opened(author, (Change(path, before, None),), [before] if before else ())
        try:
            yield
        finally:
            with self.lock:
                after = self._now(path)
                self._closed(group, changes(_tree(path, before), _tree(path, after)))
                grown = (after.size if after else 0) - (before.size if before else 0)
                self.quota.grew(author.person, grown, (after is not None) - (before is not None))

    @asynccontextmanager
    async def everything(self, author: Author) -> AsyncIterator[Allowance]:
        before, group = await asyncio.to_thread(self._begin, author)
        size = await asyncio.to_thread(usage_of, self.workspace)
        try:
            yield await asyncio.to_thread(self._room, author)
        finally:
            await asyncio.to_thread(self._end, author, before, group, size)

    def facts(self, author: Author, memory: Path, removed: Sequence[str], added: Sequence[str]) -> None:
        with self.lock:
            group = self._new(author)
            self.groups.write(replace(group, memory=memory.name, removed=tuple(removed), added=tuple(added)))
            self.prune()

    # For undo

    @property
    def is_busy(self) -> bool:
        """Return True if a call is changing files now."""
        return bool(self._active)

    def current(self, paths: Sequence[str]) -> dict[str, Entry | None]:
        """Return the present state of the paths, with contents stored. Raises CannotKeep."""

        def keep(budget: Budget) -> dict[str, Entry | None]:
            found = {path: self._now(path) for path in paths}
            return {
                path: self._look.keep(path, entry, self.blobs, budget) if entry and entry.kind == FILE else entry
                for path, entry in found.items()
            }

        with self.lock:
            self._close_left_open()
            return self._with_room(keep, patience=_PATIENCE_AFTER)

    def record(self, author: Author, made: Sequence[Change], group: Group) -> Group:
        """Record a change just made; `group` provides the other fields."""
        with self.lock:
            new = replace(self._new(author), changes=tuple(made), memory=group.memory, undoes=group.undoes)
            new = replace(new, removed=group.removed, added=group.added)
            self.groups.write(new)
        return new

    # Storage

    def prune(self, days: float = DAYS) -> None:
        """Delete groups older than this many days, and contents no longer needed."""
        with self.lock:
            oldest = self._clock.time() - days * DAY
            old = []
            for number in self.groups.numbers():
                group = self.groups.read(number)
                if group and group.at >= oldest:
                    break
                old.append(number)
            for number in old:
                self.groups.drop(number)
            if old:
                self.blobs.drop_all_but(self._needed())

    def prune_alone(self) -> None:
        """Prune, also what another process may change meanwhile. Raises BlockingIOError if it changes something now."""
        with self.lock.alone():
            self.prune()

    def size(self) -> int:
        """Return the bytes on disk."""
        return self.blobs.size()

    # Internals

    def _begin(self, author: Author) -> tuple[Tree, Group | None]:
        with self.lock:
            self._close_left_open()
            try:
                before = self._keep_all()
            except CannotKeep:
                if author.call not in self._not_kept:
                    raise
                self._not_kept.discard(author.call)
                return {}, None
            return before, self._opened(author, (), before.values())

    def _room(self, author: Author) -> Allowance:
        """Return the space left; if there is none, after deleting versions older than a day."""
        room = self.quota.room(author.person)
        if not room.is_used_up:
            return room
        with self.lock:
            self.prune(days=1)
            self.blobs.drop_all_but(self._needed())
        return self.quota.room(author.person)

    def _check_room(self, author: Author, size: int) -> None:
        room = self._room(author)
        if (room.bytes is not None and size > room.bytes) or room.files == 0:
            raise NoRoom("there is no room left for the files of this chat")

    def _end(self, author: Author, before: Tree, group: Group | None, size: Usage) -> None:
        now = usage_of(self.workspace)
        self.quota.grew(author.person, now.bytes - size.bytes, now.files - size.files)
        if group is None:
            return
        try:
            after = self._look.all(self._budget(_PATIENCE_AFTER))
        except CannotKeep:  # earlier files are known, new ones are not
            after = {path: entry for path in before if (entry := self._now(path))}
        with self.lock:
            others = self._written_since(group)
            self._closed(group, (each for each in changes(before, after) if (each.path, each.after) not in others))

    def _keep_all(self) -> Tree:
        """Return the whole tree with all contents stored. Raises CannotKeep."""
        index = self._read_index()

        def keep(budget: Budget) -> Tree:
            return kept(self._look, self._look.all(budget), index, self.blobs, budget)

        found = self._with_room(keep)
        if found != index:
            write_json(self._index, found)
        return found

    def _with_room(self, keep: Callable[[Budget], T], *, patience: int = 1) -> T:
        """Call `keep`; if there is no room, delete versions older than a day and try again."""
        try:
            return keep(self._budget(patience))
        except NoRoom:
            self.prune(days=1)
            self.blobs.drop_all_but(self._needed())
            return keep(self._budget(patience))

    def _budget(self, patience: int = 1) -> Budget:
        limits = self._limits
        room = limits.bytes - self.blobs.size()
        left = self.quota.room(None).bytes
        room = room if left is None else min(room, left)
        return Budget(room, limits.seconds * patience, limits.files * patience)

    def _now(self, path: str) -> Entry | None:
        try:
            return self._look.one(path)
        except OSError as error:
            raise_lack(error)
            return None

    def _opened(self, author: Author, planned: tuple[Change, ...], needed: Iterable[Entry]) -> Group:
        group = replace(self._new(author), changes=planned, is_open=True)
        self.groups.write(group)
        self._active[group.number] = frozenset(entry.digest for entry in needed if entry.digest)
        return group

    def _new(self, author: Author) -> Group:
        number = self.groups.next_number()
        return Group(number, self._clock.time(), author.person, author.tool, author.call)

    def _closed(self, group: Group, made: Iterator[Change]) -> None:
        self._active.pop(group.number, None)
        done = replace(group, changes=tuple(made), is_open=False)
        if done.is_empty:
            self.groups.drop(done.number)
        else:
            self.groups.write(done)
            self.prune()

    def _close_left_open(self) -> None:
        """Close groups left open by an earlier process start: every difference from before counts as their change."""
        if self._has_recovered:
            return
        self._has_recovered = True
        for group in list(self.groups.newest_first()):
            if group.is_open and group.number not in self._active:
                if group.changes:
                    before = {each.path: each.before for each in group.changes if each.before}
                    after = {each.path: now for each in group.changes if (now := self._now(each.path))}
                else:
                    before, after = self._read_index(), self._look.all(self._budget(_PATIENCE_AFTER))
                self._closed(group, changes(before, after))

    def _written_since(self, group: Group) -> set[tuple[str, Entry | None]]:
        """Return the changes of other calls made while this one ran."""
        found: set[tuple[str, Entry | None]] = set()
        for other in self.groups.newest_first():
            if other.number <= group.number:
                break
            found |= {(each.path, each.after) for each in other.changes if not other.is_open}
        return found

    def _needed(self) -> set[str]:
        digests = {entry.digest for entry in self._read_index().values() if entry.digest}
        return digests.union(*(group.digests for group in self.groups.newest_first()), *self._active.values())

    def _read_index(self) -> Tree:
        try:
            return convert(read_json(self._index.read_bytes()), dict[str, Entry])
        except (OSError, *UNREADABLE) as error:
            raise_lack(error)
            return {}


def _tree(path: str, entry: Entry | None) -> Tree:
    return {path: entry} if entry else {}
