"""Copies of a store: taken while it is in use, and prepared for use when one is restored."""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from gateway.store.file_connection import connect, connect_to_read
from gateway.store.inbox import WAITING, parse_item
from gateway.store.job import Job, Reminder
from gateway.store.jobs import Advance, active, advance
from gateway.store.opening import StoreDamaged, check, give_back_space, migrate
from gateway.store.restores import add, note
from gateway.store.side_file import Mark, mark_of
from gateway.store.table import readable

OPEN_ENDS = (
    "UPDATE outbox SET state = 'failed', reason = 'restored from a backup' WHERE state IN ('pending', 'sending')",
    "UPDATE runs SET state = 'done', reason = 'aborted', error = 'restored from a backup', ended = :now"
    " WHERE state = 'running'",
    "UPDATE tasks SET state = 'killed', error = 'restored from a backup', ended = :now"
    " WHERE state IN ('pending', 'running')",
    "UPDATE approvals SET state = 'withdrawn', answered_at = :now WHERE state = 'pending'",
    "UPDATE firings SET state = 'failed', error = 'restored from a backup', ended = :now WHERE state = 'begun'",
    "UPDATE firings SET delivery = 'failed', delivery_error = 'restored from a backup'"
    " WHERE delivery IN ('pending', 'held')",
    "UPDATE inbox SET state = 'done' WHERE state = 'new'",
    "DELETE FROM owed",
)
"""Closes what was open when the copy was taken: it has been delivered since, or is out of date."""

REMINDER = "⏰"
"""The name shown as the sender of reminders that came due before the restore."""

NextAt = Callable[[Job], float | None]
"""Returns the next due time of a job that was due before, or None if it has none."""


def take(source: Path, target: Path) -> Mark:
    """Copy a store, even while it is in use, to a new private file. Returns the copy's mark.

    Raises StoreDamaged if the copy fails its integrity check, sqlite3.Error and OSError.
    """
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(connect_to_read(source)) as live, closing(connect(target)) as copy:
        live.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        if verdict := check(copy):
            raise StoreDamaged(source, verdict)
        return mark_of(copy) or Mark("", 0)


def settle(path: Path, now: float, taken_at: float, next_at: NextAt) -> Mark:
    """Prepare a copy for use, so that nothing from before `now` is sent. Returns its new mark.

    Raises StoreTooNew and sqlite3.Error.
    """
    with closing(connect(path)) as connection:
        migrate(connection, path)
        connection.execute("BEGIN IMMEDIATE")
        for item in list(readable(connection.execute(WAITING), parse_item, "inbox")):
            add(connection, item.event)
        for query in OPEN_ENDS:
            connection.execute(query, {"now": now})
        for job in list(active(connection)):
            if job.next_at is not None and job.next_at <= now:
                advance(connection, Advance(job.id, job.next_at, next_at(job)))
                if isinstance(job.work, Reminder):
                    note(connection, job.next_at, str(job.chat), REMINDER, job.work.text)
        connection.execute(
            "UPDATE store SET id = lower(hex(randomblob(16))), sequence = sequence + 1,"
            " restored = :now, restored_from = :taken_at",
            {"now": now, "taken_at": taken_at},
        )
        connection.execute("COMMIT")
        give_back_space(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return mark_of(connection) or Mark("", 0)
