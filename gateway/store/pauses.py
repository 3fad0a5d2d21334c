"""Runs that wait for room in a budget while others go on in their chat."""

from collections.abc import Callable

from gateway.store.connection import Connection
from gateway.store.divided_runs import OfOthers, divide
from gateway.store.rows import Run


def begin_pause(connection: Connection, run: Run, now: float, new_id: Callable[[], str]) -> OfOthers:
    """Record that a run waits: its rows so far are in no history until `end_pause`. Return what it leaves to others."""
    left = divide(connection, run, now, new_id)
    connection.execute(
        "INSERT INTO paused_runs (run, session, until)"
        " SELECT run, session, max(seq) FROM transcript WHERE run = ? GROUP BY run, session"
        " ON CONFLICT (run) DO UPDATE SET until = excluded.until, place = NULL",
        (run.id,),
    )
    return left


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
