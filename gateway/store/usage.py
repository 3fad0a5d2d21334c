"""Usage statistics from the table of runs."""

import sqlite3
from dataclasses import dataclass

from channels.base import ChatKey

STEP = 900
"""Seconds. Midnight is a multiple of it in every time zone."""


@dataclass(frozen=True)
class UsageRow:
    """The runs of one kind and model that began within the same quarter of an hour."""

    at: float
    """The start of the quarter hour, in seconds since the epoch."""
    kind: str
    """`chat`, `task` or `job`."""
    model: str
    runs: int
    tokens: int
    cost_usd: float


def since(connection: sqlite3.Connection, moment: float, chat: ChatKey | None) -> list[UsageRow]:
    """Return the usage of runs that are over, oldest first; in all chats if `chat` is None."""
    rows = connection.execute(
        "SELECT CAST(started / ? AS INTEGER) * ? AS at,"
        " CASE WHEN session LIKE 'job-%' THEN 'job' ELSE kind END AS what, coalesce(model, '') AS model, count(*),"
        " coalesce(sum(tokens), 0), coalesce(sum(cost_usd), 0)"
        " FROM runs WHERE started >= ? AND ended IS NOT NULL AND (? IS NULL OR chat = ?)"
        " GROUP BY at, what, model ORDER BY at, what, model",
        (STEP, STEP, moment, chat and str(chat), chat and str(chat)),
    )
    return [UsageRow(float(row[0]), *row[1:]) for row in rows]
