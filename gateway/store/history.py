"""The part of a session's transcript that the model knows: from the last summary on, without what was taken back.

The rows of a run that has waited for a budget while others went on come after those of the others.
"""

from collections.abc import Mapping

from msgspec import Struct

from gateway.store.connection import Connection

END = 2**63 - 1
"""The number after the last row of every transcript."""
_NOT_TAKEN_BACK = (
    "NOT EXISTS (SELECT 1 FROM rewinds WHERE rewinds.session = transcript.session"
    " AND transcript.seq > rewinds.after AND transcript.seq <= rewinds.until AND rewinds.until < :before)"
)
"""True for rows that no rewind had taken out of the model's context before the row `before` was written."""
_OF_PAUSED = "FROM paused_runs WHERE paused_runs.run = transcript.run AND transcript.seq <= paused_runs.until"
GIVEN_BACK = "given back:"
"""How the rewind begins that takes out a message which a run has given back before it asked a model about it."""
IS_KEPT = f"NOT EXISTS (SELECT 1 FROM rewinds WHERE rewinds.event = '{GIVEN_BACK}' || transcript.seq)"  # noqa: S608
"""True for rows that their run has not given back."""
_COUNTS = (
    f"{_NOT_TAKEN_BACK} AND NOT EXISTS (SELECT 1 {_OF_PAUSED} AND (paused_runs.place IS NULL"
    " OR paused_runs.place >= :before OR json_extract(message, '$.role') = 'summary'))"
)
"""True for rows that count, and do not belong to a run that waited just then. Its summaries, which do not tell of what
was said meanwhile, never count."""
_PLACE = f"coalesce((SELECT paused_runs.place {_OF_PAUSED}), transcript.seq)"
_HAS_WAITED = f"EXISTS (SELECT 1 {_OF_PAUSED})"
_STARTS = (
    "SELECT min(seq) FROM transcript WHERE session = :session"  # noqa: S608
    " AND json_extract(message, '$.role') = 'user'"
    f" AND json_extract(message, '$.id') LIKE 'inbox-%' AND {_NOT_TAKEN_BACK} GROUP BY run"
    f" ORDER BY min({_PLACE}) DESC, 1 DESC LIMIT :most"
)


class Known(Struct, frozen=True):
    """The rows that the model knew: the end of a query of the transcript, and its values."""

    clauses: str
    values: Mapping[str, str | int]


def last_starts(connection: Connection, session: str, most: int) -> list[int]:
    """Return the first rows of a session's last exchanges, the newest first."""
    values = {"session": session, "most": most, "before": END}
    return [seq for (seq,) in connection.execute(_STARTS, values)]


def known_rows(connection: Connection, session: str, before: int = END) -> Known:
    """Return the rows that the model knew when the row `before` was written, in their order."""
    start = _start(connection, session, before)
    first = _first(connection, session, start)
    values: dict[str, str | int] = {"session": session, "before": before, "start": start, "first": first}
    return Known(
        f"WHERE session = :session AND seq >= :first AND seq < :before AND {_COUNTS} AND {_PLACE} >= :start"
        f" ORDER BY {_PLACE}, {_HAS_WAITED}, seq",
        values,
    )


def _start(connection: Connection, session: str, before: int) -> int:
    """Return the place from which rows count: of the first row that the last summary kept, else of the summary, else 0.

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
        f"SELECT {_PLACE} FROM transcript"  # noqa: S608
        " WHERE session = ? AND seq < ? AND json_extract(message, '$.id') = ? ORDER BY seq DESC LIMIT 1"
    )
    kept = connection.execute(query, (session, seq, first_kept))
    return next((int(start) for (start,) in kept if start is not None), int(seq))


def _first(connection: Connection, session: str, start: int) -> int:
    """Return the first row whose place is not before `start`: rows of runs that have waited stand further back."""
    query = (
        "SELECT min(seq) FROM transcript WHERE run IN (SELECT run FROM paused_runs WHERE session = ? AND place >= ?)"
    )
    (first,) = connection.execute(query, (session, start)).fetchone()
    return start if first is None else min(start, int(first))
