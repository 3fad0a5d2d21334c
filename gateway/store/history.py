"""The part of a session's transcript that the model knows: from the last summary on, without what was taken back."""

from gateway.store.connection import Connection

END = 2**63 - 1
"""The number after the last row of every transcript."""
_COUNTS = (
    "NOT EXISTS (SELECT 1 FROM rewinds WHERE rewinds.session = transcript.session"
    " AND transcript.seq > rewinds.after AND transcript.seq <= rewinds.until AND rewinds.until < :before)"
)
"""True for rows that no rewind had taken out of the model's context before the row `before` was written."""
_STARTS = (
    "SELECT min(seq) FROM transcript WHERE session = :session"  # noqa: S608
    " AND json_extract(message, '$.role') = 'user'"
    f" AND json_extract(message, '$.id') LIKE 'inbox-%' AND {_COUNTS} GROUP BY run ORDER BY 1 DESC LIMIT :most"
)


def last_starts(connection: Connection, session: str, most: int) -> list[int]:
    """Return the first rows of a session's last exchanges, the newest first."""
    values = {"session": session, "most": most, "before": END}
    return [seq for (seq,) in connection.execute(_STARTS, values)]


def known_rows(connection: Connection, session: str, before: int = END) -> tuple[str, dict[str, str | int]]:
    """Return a condition, with its values, for the rows that the model knew when the row `before` was written."""
    condition = f"session = :session AND seq >= :start AND seq < :before AND {_COUNTS}"
    return condition, {"session": session, "before": before, "start": _start(connection, session, before)}


def _start(connection: Connection, session: str, before: int) -> int:
    """Return the first row that counts: the first one that the last summary kept, else the summary, else 0.

    The search starts at the end, so that a long history costs nothing.
    """
    query = (
        "SELECT seq, json_extract(message, '$.first_kept_id') FROM transcript WHERE session = :session"  # noqa: S608
        f" AND seq < :before AND json_extract(message, '$.role') = 'summary' AND {_COUNTS} ORDER BY seq DESC LIMIT 1"
    )
    summary = connection.execute(query, {"session": session, "before": before}).fetchone()
    if summary is None:
        return 0
    seq, first_kept = summary
    query = (
        "SELECT seq FROM transcript"
        " WHERE session = ? AND seq < ? AND json_extract(message, '$.id') = ? ORDER BY seq DESC LIMIT 1"
    )
    kept = connection.execute(query, (session, seq, first_kept))
    return next((int(start) for (start,) in kept), int(seq))
