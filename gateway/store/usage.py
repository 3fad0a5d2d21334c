"""What runs have used, from the table of runs."""

import sqlite3
from dataclasses import dataclass

from channels.base import ChatKey

STEP = 900
"""Seconds: every zone's midnight is one of theirs."""


@dataclass(frozen=True)
class UsageRow:
    """All runs of one kind on one model that began within a quarter of an hour."""

    at: float
    """When that begins, seconds since the epoch."""
    kind: str
    """What they were for: `chat`, `task`, `job`."""
    model: str
    runs: int
    tokens: int
    cost_usd: float


def since(connection: sqlite3.Connection, moment: float, chat: ChatKey | None) -> list[UsageRow]:
    """Those that are over, oldest first; None: of all chats."""
    rows = connection.execute(
        "SELECT CAST(started / ? AS INTEGER) * ? AS at,"
        " CASE WHEN session LIKE 'job-%' THEN 'job' ELSE kind END AS what, coalesce(model, '') AS model, count(*),"
        " coalesce(sum(tokens), 0), coalesce(sum(cost_usd), 0)"
        " FROM runs WHERE started >= ? AND ended IS NOT NULL AND (? IS NULL OR chat = ?)"
        " GROUP BY at, what, model ORDER BY at, what, model",
        (STEP, STEP, moment, chat and str(chat), chat and str(chat)),
    )
    return [UsageRow(float(row[0]), *row[1:]) for row in rows]
