"""Counts what a run has used of its limits from its rows.

The last moments before a crash are missing, as a step is recorded when it is over.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import pairwise

from agent_core.loop.limits import SoFar
from agent_core.messages import AgentMessage
from gateway.store.rows import Run


def of(connection: sqlite3.Connection, run: Run, said: Sequence[AgentMessage]) -> SoFar:
    """Count a run's model calls, tool calls and seconds. `said`: the messages that it added to the transcript."""
    turns = (
        "SELECT count(DISTINCT turn) FROM transcript WHERE run = ? AND json_extract(message, '$.role') = 'assistant'"
    )
    calls = "SELECT count(*) FROM tool_calls WHERE run = ? AND attempts > 0"
    steps = "SELECT at, json_extract(event, '$.type') FROM steps WHERE run = ? ORDER BY seq"
    return SoFar(
        model_calls=connection.execute(turns, (run.id,)).fetchone()[0],
        tool_calls=connection.execute(calls, (run.id,)).fetchone()[0],
        seconds=_ran(connection.execute(steps, (run.id,))),
        said=tuple(said),
    )


def _ran(steps: Iterable[tuple[float, str]]) -> float:
    """Sum the seconds between steps, without the gaps between process starts and the waits for approvals."""
    return sum(
        max(0.0, at - before)
        for (before, kind), (at, following) in pairwise(steps)
        if following != "agent_start" and kind != "permission_request"
    )
