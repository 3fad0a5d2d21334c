"""Origins of the files of a workspace, recorded in a file outside of it that no program can write.

The record of a file is valid while only Parley's own tools have changed it. That is checked by its state on disk
(programs cannot set the inode's change time), or else by its content. Files without a valid record count as untrusted.
All methods block.
"""

import hashlib
import math
import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path
from weakref import WeakValueDictionary

from msgspec import Struct
from pydantic import JsonValue

from agent_core.file_lock import Watched
from agent_core.origin import CLEAN, NOT_KNOWN, Origin, in_line, joined, named
from agent_core.sources import file
from agent_core.workspace.file_record import NOWHERE, FileRecord, State
from agent_core.workspace.outputs import FOLDER as OUTPUTS
from agent_core.workspace.rows_file import RowsFile
from agent_core.workspace.safe_open import FILE_FLAGS, best_opener, open_root

MOST_FILES = 20_000
"""Files of a workspace that are tracked individually."""
MOST_CONTENTS = 8
"""Earlier contents of a file that are remembered, in case they are restored."""
LARGEST = 64 * 1024**2
"""Largest file, in bytes, whose content is hashed."""

MOST_GONE = 1_000
"""Deleted files that are remembered, in case they are restored."""

_RUNNING = ""
"""In the place of a file's name: what the programs have read that run."""


class Before(Struct, frozen=True):
    """The workspace's files when a program started."""

    number: int
    """Of the program."""
    states: Mapping[str, State]


class _Killed(Struct, frozen=True):
    """Programs that ran when their process was killed."""

    seen: Origin
    """The origin of all that they could read."""
    until: float
    """The time at which the last of them has ended at the latest."""


class TooManyFiles(Exception):
    """The workspace holds more files than are tracked."""


class FileSources:
    """Sources of one workspace's files. Without the file `kept` they last only as long as this object."""

    def __init__(self, workspace: Path, kept: Path | None = None) -> None:
        self._workspace = workspace
        self._file = Watched(kept) if kept else None
        self._rows = RowsFile(kept) if kept else None
        self._lock = threading.RLock()
        self._known: dict[str, FileRecord] = {}
        self._changed: set[str] = set()
        """Names of records that are not saved yet."""
        self._is_running_saved = False
        """True if the file says that programs run."""
        self._running: dict[int, float] = {}
        """The time at which each running program has ended at the latest, by its number."""
        self._seen = CLEAN
        """The origin of all that the running programs can have read, from each other, too."""
        self._begun = 0
        self._killed: _Killed | None = None
        self._refresh()
        self._end_of_killed()

    def of(self, paths: Iterable[str]) -> Origin:
        """Return the origin of the contents and names of these files."""
        with self._lock:
            self._refresh()
            return joined(self._of_file(_plain(path), self._state(path)) for path in paths)

    def of_content(self, path: str, content: bytes) -> Origin:
        """Return the origin of a content that was read from a file, whatever has become of the file since."""
        digest = _short(hashlib.sha256(content).hexdigest())
        with self._lock:
            self._refresh()
            known = self._known.get(_plain(path))
            found = known.contents.get(digest) if known else None
            return named(file(_plain(path))) if found is None else found

    def of_names(self, folder: str) -> Origin:
        """Return the origin of the names in a folder.

        The folder of kept outputs is left out: Parley chose its name, and may create it at any time.
        """
        with self._lock:
            self._refresh()
            inside = f"{_plain(folder)}/" if _plain(folder) else ""
            found, others = CLEAN, set[str]()
            with suppress(OSError), os.scandir(self._workspace / folder) as entries:
                for count, entry in enumerate(entries):
                    if count >= MOST_FILES:
                        return NOT_KNOWN
                    if not inside and entry.name == OUTPUTS:
                        continue
                    if known := self._known.get(f"{inside}{entry.name}"):
                        found |= known.origin
                    else:
                        others.add(f"{inside}{entry.name}")
            return found | self._beneath(others)

    def of_named(self, paths: Iterable[str]) -> Origin:
        """Return the origin of the names of these files, of which some may be gone."""
        with self._lock:
            self._refresh()
            known = ((name, self._known.get(name)) for name in map(_plain, paths))
            return joined(its.origin if its else named(file(name)) for name, its in known)

    def _gone(self, *names: str) -> None:
        """Keep the contents of deleted files known, so that restoring one restores its origin."""
        for name in names:
            self._changed.add(name)
            known = self._known.pop(name, None)
            if known is not None and known.contents:
                self._known[name] = FileRecord(NOWHERE, known.origin, known.contents)
        gone = [each for each, its in self._known.items() if its.state == NOWHERE]
        for old in gone[:-MOST_GONE]:
            self._changed.add(old)
            del self._known[old]

    def wrote(self, path: str, origin: Origin, above: Origin | None = None) -> None:
        """Record that a tool wrote this file, from such an origin. `above` is that of its folders' names, if
        different."""
        with self._lock:
            self._refresh()
            if self._running:  # a program may have read it already, or have changed it in between
                self._seen |= origin
                origin = self._seen
            name, state = _plain(path), self._state(path)
            if state is None:
                self._gone(name)
            else:
                for at in range(name.count("/")):  # new folders get the origin of their names
                    folder = "/".join(name.split("/")[: at + 1])
                    if folder not in self._known:
                        self._changed.add(folder)
                        self._known[folder] = FileRecord((0, 0, 0), origin if above is None else above)
                self._learn(name, state, origin)
            self._write()

    def begin(self, more: Origin, seconds: float) -> Before:
        """Record that a program starts, with what else it is given; it ends within so many seconds."""
        with self._lock:
            self._refresh()
            try:
                states = dict(self._states())
                others = {name for name, state in states.items() if not (state[2] or name in self._known)}
                entries = ((name, state) for name, state in states.items() if name not in others)
                found = joined(self._of_entry(name, state) for name, state in entries) | self._beneath(others)
            except TooManyFiles:
                states, found = {}, NOT_KNOWN
            self._begun += 1
            self._seen |= more | found
            self._running[self._begun] = time.time() + seconds
            self._write()
            return Before(self._begun, states)

    def end(self, before: Before) -> Origin:
        """Record that a program ended, and return the origin of what it says.

        That is of all that it could read until now: the files at its start, what arrived meanwhile, and what other
        programs made that ran beside it. The files that have changed get the same origin.
        """
        with self._lock:
            self._refresh()
            origin = self._seen
            try:
                after = dict(self._states())
            except TooManyFiles:
                after, origin = {}, origin | NOT_KNOWN
            for name, state in after.items():
                if before.states.get(name) == state:
                    continue
                known = self._known.get(name)
                is_known = known is not None and known.state == state
                self._learn(name, state, known.origin | origin if known and is_known else origin)
            known_ones = self._known.items()
            self._gone(*[each for each, its in known_ones if each not in after and its.state != NOWHERE])
            del self._running[before.number]
            if not self._running:
                self._seen = CLEAN
            self._write()
            return origin

    # Internals

    def _end_of_killed(self) -> None:
        """Give what the programs of a killed process have changed the origin of what they could read."""
        left, self._killed = self._killed, None
        if left is None:
            return
        with suppress(TooManyFiles):
            for name, state in self._states():
                if not self._has_record(name, state) and self._changed_at(name) <= left.until:
                    self._learn(name, state, left.seen)
        self._write()

    def _has_record(self, name: str, state: State) -> bool:
        known = self._known.get(name)
        return known is not None and (known.state == state or self._digest(name, state) in known.contents)

    def _changed_at(self, name: str) -> float:
        try:
            return (self._workspace / name).lstat().st_ctime
        except OSError:
            return math.inf

    def _refresh(self) -> None:
        """Read the records again if another process, which works on the chat in between, has changed them."""
        if self._file is not None and self._file.has_changed():
            self._known = self._read()

    def _of_entry(self, name: str, state: State) -> Origin:
        """Return the origin of a file, or of the name of a folder that has a record."""
        return self._of_file(name, state) if state[2] else self._known[name].origin

    def _of_file(self, name: str, state: State | None) -> Origin:
        known = self._known.get(name)
        if known is None or state is None:
            return CLEAN if state is None else named(file(name))
        if known.state == state:
            return known.origin
        again = known.contents.get(self._digest(name, state))
        if again is None:
            return named(file(name))
        known.state, known.origin = state, again
        return again

    def _beneath(self, names: Set[str]) -> Origin:
        """Return the origin of names that have no record of their own, each from the files in its folder."""
        held: dict[str, Origin] = {}
        for name, known in self._known.items() if names else ():
            for parent in _parents(name) if known.state != NOWHERE else ():
                if parent in names:
                    held[parent] = held.get(parent, CLEAN) | known.origin
        return joined(held[each] if each in held else named(file(f"{each}/")) for each in names)

    def _learn(self, name: str, state: State, origin: Origin) -> None:
        earlier = self._known.get(name)
        contents = dict(earlier.contents) if earlier else {}
        if digest := self._digest(name, state):
            contents.pop(digest, None)
            contents[digest] = origin
        for old in list(contents)[:-MOST_CONTENTS]:
            del contents[old]
        self._known[name] = FileRecord(state, origin, contents)
        self._changed.add(name)

    def _state(self, path: str) -> State | None:
        try:
            about = (self._workspace / path).lstat()
        except (OSError, ValueError):
            return None
        return _state(about)

    def _states(self) -> Iterator[tuple[str, State]]:
        """Yield the states of all files and folders. Raises TooManyFiles."""
        waiting, count = [""], 0
        while waiting:
            inside = waiting.pop()
            try:
                entries = list(os.scandir(self._workspace / inside))
            except OSError:
                continue
            for entry in entries:
                count += 1
                if count > MOST_FILES:
                    raise TooManyFiles
                name = f"{inside}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{name}/")
                with suppress(OSError):
                    yield name, _state(entry.stat(follow_symlinks=False))

    def _digest(self, name: str, state: State) -> str:
        """Return the digest of the content; empty for what is no regular file or is too large."""
        if state[0] > LARGEST or not state[2]:
            return ""
        try:
            root = open_root(self._workspace)
            try:
                handle = best_opener()(root, tuple(name.split("/")), FILE_FLAGS)
            finally:
                os.close(root)
            with os.fdopen(handle, "rb") as content:
                return _short(hashlib.file_digest(content, "sha256").hexdigest())
        except OSError:
            return ""

    def _read(self) -> dict[str, FileRecord]:
        """Read the records; empty if they cannot be read, so that all files count as unknown."""
        self._changed.clear()
        try:
            rows = dict(self._rows.read()) if self._rows else {}
            left = rows.pop(_RUNNING, None)
            self._is_running_saved = left is not None
            if isinstance(left, dict):
                self._killed = _Killed(in_line(str(left["seen"])), float(str(left["until"])))
            return {name: FileRecord.parse(row) for name, row in rows.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            return {}

    def _row(self, name: str) -> JsonValue:
        """Return a record as it is saved, or None if there is none."""
        if name == _RUNNING:
            return {"seen": self._seen.line, "until": max(self._running.values())} if self._running else None
        return its.row if (its := self._known.get(name)) else None

    def _all_rows(self) -> dict[str, JsonValue]:
        rows = {name: its.row for name, its in self._known.items()}
        return rows if (running := self._row(_RUNNING)) is None else {**rows, _RUNNING: running}

    def _write(self) -> None:
        """Save what has changed; what cannot be saved is unknown after a restart."""
        if self._rows is None:
            return
        names, self._changed = self._changed, set()
        changed = {name: self._row(name) for name in names}
        if self._running or self._is_running_saved:
            self._is_running_saved = bool(self._running)
            changed[_RUNNING] = self._row(_RUNNING)
        self._rows.write(changed, len(self._known), self._all_rows)
        if self._file is not None:
            self._file.has_changed()  # by this very change


class FileLedger:
    """The `FileSources` of all workspaces, shared so that all writers of a workspace use the same records."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._opened: WeakValueDictionary[Path, FileSources] = WeakValueDictionary()
        self._lock = threading.Lock()

    def of(self, workspace: Path) -> FileSources:
        """Return the record of a workspace. Blocks shortly on first use."""
        with self._lock:
            found = self._opened.get(workspace)
            if found is None:
                kept = self._folder / f"{workspace.name}.json" if self._folder else None
                found = self._opened[workspace] = FileSources(workspace, kept)
            return found


def _short(digest: str) -> str:
    return digest[:32]


def _plain(path: str) -> str:
    return "/".join(name for name in path.split("/") if name not in ("", "."))


def _parents(name: str) -> Iterator[str]:
    """Yield the folders in which a file is, the outermost first."""
    end = name.find("/")
    while end >= 0:
        yield name[:end]
        end = name.find("/", end + 1)


def _state(about: os.stat_result) -> State:
    """Return the state. A folder's is constant, because its own changes with each file in it."""
    is_folder = stat.S_ISDIR(about.st_mode)
    return (0, 0, 0) if is_folder else (about.st_size, about.st_ctime_ns, about.st_ino)
