"""Writes the audit file as a chain, and keeps its key and the heads of its days outside the folder.

The heads say for each day how many entries it has and the code of the last one. They are written after the entries, so
after a crash the file may be ahead of them; the entries beyond are taken over if their codes are right. Several
processes may write there: each change is made under a lock, with the heads as they are on the disk. All methods block.
"""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from agent_core.file_lock import Held, file_locked, is_held
from gateway.records.audit_entry import GAP, Content, Entry, first_code, read_entry, sealed

FOLDER = "audit"
KEY = "audit.key"
HEADS = "audit.heads"
LOCK = "audit.lock"
WRITERS = "audit.writers"
"""A folder with a file for each process that writes, locked as long as that lives."""
DAYS = 30
KEY_BYTES = 32
NAME = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")
NEWEST = 2
"""Days that the last process may have written to when it was killed: around midnight there are two."""

log = structlog.get_logger(__name__)


class DayHead(BaseModel):
    """The anchor of a day."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    entries: int
    code: str
    """That of the last entry."""
    has_unsigned: bool = False
    """True if the file begins with lines from before there was a chain."""
    size: int = -1
    """Bytes of the file; another size is that of a process which was killed before it wrote the head. -1: unknown."""


class Heads(BaseModel):
    """The anchors of all days."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    days: dict[str, DayHead] = {}
    is_open: bool = False
    """True while a process writes, and after it was killed."""
    faults: dict[str, str] = {}
    """By day: heads that had been removed or changed when a process started."""

    def after(self, oldest: str) -> "Heads":
        """Return the heads of later days only."""
        days = {day: head for day, head in self.days.items() if day > oldest}
        faults = {day: fault for day, fault in self.faults.items() if day > oldest}
        return self.model_copy(update={"days": days, "faults": faults})


class Chain:
    """The chained files, as one process among others writes them."""

    def __init__(self, home: Path, known: Callable[[str], None] = lambda _: None) -> None:
        """`known` is told the key, as a secret."""
        self._home = home
        self._folder = home / FOLDER
        self._known = known
        self._key = b""
        self._heads = Heads()
        self._lost: dict[str, int] = {}
        """By day: entries that could not be written."""
        self._presence: Held | None = None

    def open(self, today: str, at: str) -> None:
        """Read the key and the heads, or create them, and note what dead processes left. Raises OSError."""
        with self._alone():
            self._open(today, at)

    def _open(self, today: str, at: str) -> None:
        if self._key:
            return
        self._key = key_of(self._home, create=True)
        self._known(self._key.hex())
        try:
            self._heads = read_heads(self._home, self._key) or self._adopted(today)
            if self._bury() or (self._heads.is_open and not self._others()):
                self._note_kill(at)
            self._presence = Held(self._home / WRITERS / secrets.token_hex(8))
            self._save(self._heads.model_copy(update={"is_open": True}))
        except OSError:
            self._key = b""
            raise

    def close(self) -> None:
        """Note that all entries are written; after losses the next start notes a gap."""
        if self._presence is None:
            return
        with self._alone():
            self._presence.release()
            if not self._lost:
                self._presence.path.unlink()
                if not self._others():
                    self._save(self._heads.model_copy(update={"is_open": False}))

    def append(self, day: str, at: str, lines: Sequence[tuple[str, str, Content]]) -> None:
        """Add entries, each with time, status and content, to the file of a day. Raises OSError."""
        lost = self._lost.get(day, 0)
        try:
            with self._alone():
                self._open(day, at)
                first: list[tuple[str, str, Content]] = []
                if lost:
                    self._roll_forward(day)
                    first = [(at, GAP, {"lost": lost})]
                self._write(day, at, [*first, *lines])
        except OSError:
            self._lost[day] = lost + len(lines)
            raise
        self._lost.pop(day, None)

    def erase(self, is_theirs: Callable[[Content], bool]) -> int:
        """Erase the contents of entries and return how many; their places in the chain stay. Raises OSError."""
        with self._alone():
            return self._erase(is_theirs)

    def _erase(self, is_theirs: Callable[[Content], bool]) -> int:
        count = 0
        for file in sorted(self._folder.glob("*.jsonl")):
            lines = file.read_bytes().splitlines(keepends=True)
            changed = 0
            for number, line in enumerate(lines):
                entry = read_entry(line.rstrip(b"\n"))
                if entry is not None and entry.content is not None and is_theirs(entry.content):
                    lines[number] = entry.without_content(self._key).line().encode()
                    changed += 1
            if changed:
                part = file.with_name(f".{file.name}.part")
                part.unlink(missing_ok=True)
                _write_whole(part, b"".join(lines))
                part.replace(file)
                if (head := self._heads.days.get(file.stem)) is not None:
                    self._put(file.stem, head.model_copy(update={"size": file.stat().st_size}))
            count += changed
        return count

    def sweep(self, day: str) -> None:
        """Remove audit files that have expired by that day, and no other files. Raises OSError."""
        with self._alone():
            self._sweep(oldest_on(day))

    def _sweep(self, oldest: str) -> None:
        for file in self._folder.iterdir() if self._folder.is_dir() else ():
            if NAME.fullmatch(file.name) and file.stem <= oldest:
                file.unlink()
        if self._key and any(each <= oldest for each in self._heads.days):
            self._save(self._heads.after(oldest))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process write while the context is open, and go by the heads that the last one left."""
        with file_locked(self._home / LOCK):
            if self._key:
                self._heads = read_heads(self._home, self._key) or self._heads
            yield

    def _bury(self) -> bool:
        """Forget the processes that died while they wrote. Returns True if there were any."""
        folder = self._home / WRITERS
        dead = [file for file in folder.iterdir() if not is_held(file)] if folder.is_dir() else []
        for file in dead:
            file.unlink()
        return bool(dead)

    def _others(self) -> bool:
        """Return True if another process writes."""
        return (self._home / WRITERS).is_dir() and any((self._home / WRITERS).iterdir())

    def _note_kill(self, at: str) -> None:
        """Take over what a process wrote before it was killed, and note that the rest is missing."""
        newest = sorted(self._heads.days)[-NEWEST:]
        for day in newest:
            self._roll_forward(day)
        if newest:
            self._write(newest[-1], at, [(at, GAP, {"lost": None})])

    def _adopted(self, today: str) -> Heads:
        """Return heads for the files that are there, which are from before the chain or have lost their heads."""
        days: dict[str, DayHead] = {}
        is_signed = False
        for file in sorted(self._folder.glob("*.jsonl")) if self._folder.is_dir() else ():
            if NAME.fullmatch(file.name):
                entries = [entry for _, entry in entries_of(file.read_bytes())]
                last = entries[-1].code if entries else first_code(self._key, file.stem)
                days[file.stem] = DayHead(entries=len(entries), code=last, has_unsigned=not entries)
                is_signed |= bool(entries)
        if not is_signed:
            return Heads(days=days)
        log.error("the heads of the audit files were missing or not written by this Parley", day=today)
        return Heads(days=days, faults={today: "the key or the list of heads was missing or changed, and begun anew"})

    def _head(self, day: str) -> DayHead:
        """Return the head of a day, which is saved before its first entry is written."""
        if day not in self._heads.days:
            head = DayHead(entries=0, code=first_code(self._key, day))
            self._save(self._heads.model_copy(update={"days": {**self._heads.days, day: head}}))
        return self._heads.days[day]

    def _roll_forward(self, day: str) -> None:
        """Take over entries beyond the head of a day that were written before a crash."""
        head, file = self._head(day), self._folder / f"{day}.jsonl"
        if not file.is_file():
            return
        code, count = head.code, head.entries
        for number, (_, entry) in enumerate(entries_of(file.read_bytes())):
            if number >= head.entries and entry.follows(self._key, code):
                code, count = entry.code, count + 1
        size = file.stat().st_size
        self._put(day, head.model_copy(update={"code": code, "entries": count, "size": size}))

    def _write(self, day: str, at: str, lines: Sequence[tuple[str, str, Content]]) -> None:
        self._head(day)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(self._folder / f"{day}.jsonl", flags, 0o600), "a+b") as file:
            if self._head(day).size not in (-1, file.tell()):
                self._roll_forward(day)
            head, entries = self._head(day), list[Entry]()
            for line in lines:
                entries.append(sealed(self._key, entries[-1].code if entries else head.code, *line))
            # A full disk or a crash may have left half a line.
            torn = file.tell() and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
            file.write("".join(["\n" if torn else "", *(entry.line() for entry in entries)]).encode())
            file.flush()
            os.fdatasync(file.fileno())
            size = file.tell()
        count = head.entries + len(entries)
        self._put(day, head.model_copy(update={"entries": count, "code": entries[-1].code, "size": size}))

    def _put(self, day: str, head: DayHead) -> None:
        """Set the head of a day. If it cannot be saved, the file is ahead of it, as after a crash."""
        heads = self._heads.model_copy(update={"days": {**self._heads.days, day: head}})
        try:
            self._save(heads)
        except OSError as error:
            self._heads = heads
            log.warning("the heads of the audit files are not saved", reason=str(error))

    def _save(self, heads: Heads) -> None:
        if heads != self._heads or not (self._home / HEADS).exists():
            body = heads.model_dump_json().encode()
            new = self._home / f"{HEADS}.new"
            _write_whole(new, body + b"\n" + _signature(self._key, body) + b"\n")
            new.replace(self._home / HEADS)
        self._heads = heads


def entries_of(data: bytes) -> Iterator[tuple[int, Entry]]:
    """Yield the entries of a file with the numbers of their lines."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if (entry := read_entry(line)) is not None:
            yield number, entry


def oldest_on(day: str) -> str:
    """Return the newest day whose file has expired on a day."""
    return (date.fromisoformat(day) - timedelta(days=DAYS)).isoformat()


def key_of(home: Path, *, create: bool = False) -> bytes:
    """Return the key, empty if there is none. Raises OSError."""
    file = home / KEY
    try:
        return file.read_bytes()
    except FileNotFoundError:
        if not create:
            return b""
    key = secrets.token_bytes(KEY_BYTES)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = home / f"{KEY}.new"
    _write_whole(new, key)
    new.replace(file)
    return key


def read_heads(home: Path, key: bytes) -> Heads | None:
    """Return the heads; None if they are missing or not signed with this key."""
    try:
        body, signature, *_ = (home / HEADS).read_bytes().split(b"\n")
        if hmac.compare_digest(signature, _signature(key, body)):
            return Heads.model_validate_json(body)
    except (OSError, ValueError, ValidationError):
        pass
    return None


def _signature(key: bytes, body: bytes) -> bytes:
    return hmac.new(key, b"heads " + body, hashlib.sha256).hexdigest().encode()


def _write_whole(path: Path, data: bytes) -> None:
    """Write a private file that is on disk when this returns."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
