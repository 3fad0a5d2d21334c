"""Errors that are shown as sentences, without a traceback."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

INTERRUPTED = 130
"""Exit code after Ctrl-C."""
REFUSED = 2
"""Exit code for an expected error that another start does not mend."""
MAY_PASS = 75
"""Exit code for one that another start may mend: EX_TEMPFAIL of sysexits.h."""

_MACHINE = {errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EAGAIN, errno.EIO, errno.EROFS}
_DATABASE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
}
"""SQLite's primary error codes; for PostgreSQL they are given to the same trouble."""


def is_machine_trouble(error: BaseException | None) -> bool:
    """Return True if the machine lacked something for a while, e.g. file handles, memory or disk space.

    Such an error is no bug: the same work may succeed later.
    """
    match error:
        case sqlite3.OperationalError():
            return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DATABASE  # the low byte is the primary code
        case OSError():
            return error.errno in _MACHINE
        case _:
            return isinstance(error, MemoryError)


class ParleyError(Exception):
    """An error that the operator can fix; `sentence` says what failed, why, and what to do."""

    exit_code = REFUSED
    """That of a program that ends with it."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class HomeUnusable(ParleyError):
    """A file or folder in PARLEY_HOME that cannot be created, read or written."""

    def __init__(self, path: Path, reason: str) -> None:
        """`reason` is the operating system's message."""
        super().__init__(
            f"{path} cannot be used ({reason}). See that you own it and that the disk has room, "
            "or set PARLEY_HOME to another folder."
        )


class SettingsError(ParleyError):
    """Invalid settings or settings files; each sentence names the key and the file."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


class Refusals:
    """Collects settings errors so that all of them are reported at once."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Catch and record the first SettingsError raised in the block."""
        try:
            yield
        except SettingsError as error:
            self.note(error)

    def note(self, error: SettingsError) -> None:
        self.sentences.extend(each for each in error.sentences if each not in self.sentences)
