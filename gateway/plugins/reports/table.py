"""The table of what feeds had when a report looked at them."""

from collections.abc import Sequence

from gateway.schedule.jobs.report_kinds import ReportOrder
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.table import Table

START = """
CREATE TABLE reports_told (
  job TEXT NOT NULL,
  item TEXT NOT NULL,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  firing TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (job, item)
);
"""
KEPT = 90 * 86_400.0
"""Seconds for which an entry that is in the feed no longer is remembered."""


class Told(Table):
    """The entries of feeds, each with the first firing that has told it."""

    async def new(self, order: ReportOrder, items: Sequence[str]) -> set[str] | None:
        """Return which of these items no earlier firing of the job has told; None if it has told nothing before.

        The same firing gets the same answer again after a crash.
        """

        def change(connection: Connection) -> set[str] | None:
            job, query = order.job, "SELECT 1 FROM reports_told WHERE job = ? AND firing != ? LIMIT 1"
            is_first = connection.execute(query, (job, order.firing)).fetchone() is None
            for item in items:
                connection.execute(
                    "INSERT INTO reports_told (job, item, chat, person, firing, at) VALUES (?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT (job, item) DO UPDATE SET at = excluded.at",
                    (job, item, str(order.chat), order.person, order.firing, order.at),
                )
            connection.execute("DELETE FROM reports_told WHERE at < ?", (order.at - KEPT,))
            rows = connection.execute("SELECT item, firing FROM reports_told WHERE job = ?", (job,)).fetchall()
            return None if is_first else {item for item, firing in rows if firing == order.firing} & {*items}

        return await self.write(change)


def erase(connection: Connection, forgotten: Forgotten) -> None:
    """Delete what was remembered for a person's jobs, and all of their direct chats."""
    for chat in forgotten.direct:
        connection.execute("DELETE FROM reports_told WHERE chat = ?", (str(chat),))
    for chat in forgotten.groups:
        values = str(chat), forgotten.account.id
        connection.execute("DELETE FROM reports_told WHERE chat = ? AND person = ?", values)
