"""Runs that wait for room in a budget while others go on in their chat, and the words that they give back."""

from gateway.store.connection import Connection
from gateway.store.history import GIVEN_BACK, IS_KEPT
from gateway.store.inbox import parse_item
from gateway.store.rows import Run, inbox_seqs
from gateway.store.table import readable

_UNANSWERED = (
    "SELECT seq, json_extract(message, '$.id') FROM transcript"  # noqa: S608
    f" WHERE run = :run AND {IS_KEPT} AND json_extract(message, '$.role') = 'user'"
    " AND json_extract(message, '$.id') LIKE 'inbox-%' AND seq > coalesce((SELECT max(seq)"
    " FROM transcript WHERE run = :run AND json_extract(message, '$.role') = 'assistant'), 0) ORDER BY seq"
)
"""The users' messages of a run for which it has asked no model yet."""


def begin_pause(connection: Connection, run: Run, now: float) -> list[int]:
    """Record that a run waits: its rows so far are in no history until `end_pause`.

    Returns:
        The numbers of the inbox items that it gives back.
    """
    given_back = _give_back(connection, run, now)
    connection.execute(
        "INSERT INTO paused_runs (run, session, until)"
        " SELECT run, session, max(seq) FROM transcript WHERE run = ? GROUP BY run, session"
        " ON CONFLICT (run) DO UPDATE SET until = excluded.until, place = NULL",
        (run.id,),
    )
    return given_back


def end_pause(connection: Connection, run: Run) -> bool:
    """Record that a run goes on: its rows so far come last in the history. Returns False if it did not wait."""
    taken_up = connection.execute(
        "UPDATE paused_runs SET place = (SELECT max(seq) FROM transcript WHERE session = paused_runs.session)"
        " WHERE run = ? AND place IS NULL",
        (run.id,),
    )
    # Nobody else has said anything since its first row, so it stands where it is.
    connection.execute(
        "DELETE FROM paused_runs WHERE run = ? AND NOT EXISTS (SELECT 1 FROM transcript"
        " WHERE session = paused_runs.session AND run <> paused_runs.run"
        " AND seq > (SELECT min(seq) FROM transcript WHERE run = paused_runs.run))",
        (run.id,),
    )
    return taken_up.rowcount == 1


def _give_back(connection: Connection, run: Run, now: float) -> list[int]:
    """Let others' messages that a run took in but has asked no model about wait for runs of their own.

    They would wait for the budget of somebody else.
    """
    given_back: list[int] = []
    for row, name in connection.execute(_UNANSWERED, {"run": run.id}).fetchall():
        for seq in inbox_seqs([name]):
            if _is_of_other(connection, seq, run.person):
                connection.execute("UPDATE inbox SET state = 'new' WHERE seq = ?", (seq,))
                connection.execute(
                    "INSERT INTO rewinds (event, session, after, until, exchanges, at) VALUES (?, ?, ?, ?, 0, ?)",
                    (f"{GIVEN_BACK}{row}", run.session, row - 1, row, now),
                )
                given_back.append(seq)
    return given_back


def _is_of_other(connection: Connection, seq: int, person: str) -> bool:
    rows = connection.execute("SELECT seq, payload FROM inbox WHERE seq = ?", (seq,))
    return any(
        item.event.type == "message" and item.event.sender.id != person for item in readable(rows, parse_item, "inbox")
    )
