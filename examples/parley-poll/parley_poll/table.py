"""Polls and their votes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from parley import ChatKey, Connection, Forgotten, Table, readable

START = """
CREATE TABLE poll (
  id INTEGER PRIMARY KEY,
  chat TEXT NOT NULL,
  asker TEXT NOT NULL,
  question TEXT NOT NULL,
  choices TEXT NOT NULL
);
CREATE TABLE poll_votes (
  poll INTEGER NOT NULL,
  person TEXT NOT NULL,
  choice INTEGER NOT NULL,
  PRIMARY KEY (poll, person)
);
"""
BY_CHAT = "CREATE INDEX poll_by_chat ON poll (chat);"


@dataclass(frozen=True)
class Poll:
    """A question to a chat, with the number of votes for each of its choices."""

    id: int
    chat: ChatKey
    asker: str
    question: str
    votes: Sequence[tuple[str, int]]

    @property
    def tally(self) -> str:
        """Return the votes in one line."""
        return ", ".join(f"{choice}: {count}" for choice, count in self.votes)


class Polls(Table):
    """Reads the polls."""

    async def of(self, chat: ChatKey) -> list[Poll]:
        """Return the polls of a chat, newest first."""
        return await self.read(lambda connection: found(connection, "chat = ?", str(chat)))

    async def all(self) -> list[Poll]:
        """Return the polls of all chats, newest first."""
        return await self.read(lambda connection: found(connection, "id > ?", 0))


def add(connection: Connection, chat: ChatKey, asker: str, question: str, choices: Sequence[str]) -> Poll:
    """Record a poll without votes."""
    [(number,)] = connection.execute(
        "INSERT INTO poll (chat, asker, question, choices) VALUES (?, ?, ?, ?) RETURNING id",
        (str(chat), asker, question, json.dumps(choices)),
    ).fetchall()
    return Poll(number, chat, asker, question, [(choice, 0) for choice in choices])


def vote(connection: Connection, number: int, person: str, choice: int) -> Poll | None:
    """Record a person's vote, instead of an earlier one. Return the poll, or None if it was erased."""
    if not found(connection, "id = ?", number):
        return None
    connection.execute(
        "INSERT INTO poll_votes (poll, person, choice) VALUES (?, ?, ?)"
        " ON CONFLICT (poll, person) DO UPDATE SET choice = excluded.choice",
        (number, person, choice),
    )
    [poll] = found(connection, "id = ?", number)
    return poll


def erase(connection: Connection, forgotten: Forgotten) -> None:
    """Erase a person's votes, what they asked, and all polls of their direct chats."""
    connection.execute("DELETE FROM poll_votes WHERE person = ?", (forgotten.principal,))
    connection.execute("DELETE FROM poll WHERE asker = ?", (forgotten.principal,))
    for chat in forgotten.direct:
        connection.execute("DELETE FROM poll WHERE chat = ?", (str(chat),))
    connection.execute("DELETE FROM poll_votes WHERE poll NOT IN (SELECT id FROM poll)")


def found(connection: Connection, condition: str, value: str | int) -> list[Poll]:
    """Return the polls that meet a condition, newest first."""
    votes = "SELECT choice, count(*) FROM poll_votes WHERE poll = ? GROUP BY choice"

    def poll(row: tuple[int, str, str, str, str]) -> Poll:
        number, chat, asker, question, choices = row
        counts: dict[int, int] = dict(connection.execute(votes, (number,)).fetchall())
        tally = [(choice, counts.get(place, 0)) for place, choice in enumerate(json.loads(choices))]
        return Poll(number, ChatKey.parse(chat), asker, question, tally)

    query = f"SELECT id, chat, asker, question, choices FROM poll WHERE {condition} ORDER BY id DESC"  # noqa: S608
    return list(readable(connection.execute(query, (value,)).fetchall(), poll, "poll"))
