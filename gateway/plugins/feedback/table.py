"""The table of what people said of answers."""

from msgspec import Struct

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.table import Table, readable

START = """
-- What people said of answers: the last word of each person on each run.
CREATE TABLE feedback (
  run TEXT NOT NULL,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  is_good INTEGER NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (run, person)
);
CREATE INDEX feedback_by_time ON feedback (at);
"""


class Rating(Struct, frozen=True):
    """Praise or blame of one person for the answer of a run."""

    run: str
    chat: ChatKey
    person: str
    """Id of the person on the platform."""
    is_good: bool
    at: float


class Feedback(Table):
    """Ratings of answers by people."""

    async def keep(self, rating: Rating) -> None:
        """Keep a rating, instead of an earlier one of the same person for the same run."""
        row = rating.run, str(rating.chat), rating.person, int(rating.is_good), rating.at

        def change(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO feedback (run, chat, person, is_good, at) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (run, person) DO UPDATE SET is_good = excluded.is_good, at = excluded.at",
                row,
            )

        await self.write(change)

    async def take_back(self, rating: Rating) -> None:
        """Drop a rating, unless the person has said something else of the run since."""
        row = rating.run, rating.person, int(rating.is_good)

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM feedback WHERE run = ? AND person = ? AND is_good = ?", row)

        await self.write(change)

    async def since(self, at: float, chat: ChatKey | None) -> list[Rating]:
        """Return the ratings since a time in a chat, or in all (None), newest first."""
        query = (
            "SELECT run, chat, person, is_good, at FROM feedback WHERE at >= ? AND chat = coalesce(?, chat)"
            " ORDER BY at DESC"
        )
        values = at, None if chat is None else str(chat)

        def read(connection: Connection) -> list[Rating]:
            return list(readable(connection.execute(query, values).fetchall(), _rating, "feedback"))

        return await self.read(read)


def _rating(row: tuple[str, str, str, int, float]) -> Rating:
    run, chat, person, is_good, at = row
    return Rating(run, ChatKey.parse(chat), person, bool(is_good), at)


def erase(connection: Connection, forgotten: Forgotten) -> None:
    """Erase what a person said of answers, and all rows of their direct chats."""
    chats = forgotten.account.chats
    connection.execute(
        "DELETE FROM feedback WHERE person = ? AND substr(chat, 1, ?) = ?", (forgotten.account.id, len(chats), chats)
    )
    for chat in forgotten.direct:
        connection.execute("DELETE FROM feedback WHERE chat = ?", (str(chat),))
