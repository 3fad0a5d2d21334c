"""Polls and their votes."""

import json
from dataclasses import dataclass

from parley import ChatKey, Connection, Table

START = """
CREATE TABLE poll (
  id INTEGER PRIMARY KEY,
  chat TEXT NOT NULL,
  event TEXT NOT NULL UNIQUE,
  question TEXT NOT NULL,
  answers TEXT NOT NULL
);
CREATE TABLE poll_votes (
  poll INTEGER NOT NULL,
  person TEXT NOT NULL,
  answer INTEGER NOT NULL,
  PRIMARY KEY (poll, person)
);
"""
BY_CHAT = "CREATE INDEX poll_by_chat ON poll (chat);"


@dataclass(frozen=True)
class Poll:
    """A question to a chat, with the number of votes for each of its answers."""

    id: int
    question: str
    votes: tuple[tuple[str, int], ...]


class Polls(Table):
    """The polls of all chats."""

    async def ask(self, chat: ChatKey, event: str, question: str, answers: list[str]) -> Poll:
        """Record a poll, or find it if the event has made it already, and return it."""

        def change(connection: Connection) -> Poll:
            connection.execute(
                "INSERT INTO poll (chat, event, question, answers) VALUES (?, ?, ?, ?) ON CONFLICT (event) DO NOTHING",
                (str(chat), event, question, json.dumps(answers)),
            )
            (made,) = _polls(connection, "event = ?", event)
            return made

        return await self.write(change)

    async def vote(self, chat: ChatKey, number: int, person: str, answer: int) -> Poll | None:
        """Record a person's vote instead of an earlier one. Return the poll, or None if the chat has no such answer."""

        def change(connection: Connection) -> Poll | None:
            found = _polls(connection, "id = ? AND chat = ?", number, str(chat))
            if not found or not 0 <= answer < len(found[0].votes):
                return None
            connection.execute(
                "INSERT INTO poll_votes (poll, person, answer) VALUES (?, ?, ?)"
                " ON CONFLICT (poll, person) DO UPDATE SET answer = excluded.answer",
                (number, person, answer),
            )
            (voted,) = _polls(connection, "id = ?", number)
            return voted

        return await self.write(change)

    async def of(self, chat: ChatKey) -> list[Poll]:
        """Return the polls of a chat, newest first."""

        def read(connection: Connection) -> list[Poll]:
            return _polls(connection, "chat = ?", str(chat))

        return await self.read(read)


def _polls(connection: Connection, condition: str, *values: str | int) -> list[Poll]:
    query = f"SELECT id, question, answers FROM poll WHERE {condition} ORDER BY id DESC"  # noqa: S608
    return [_poll(connection, *row) for row in connection.execute(query, values).fetchall()]


def _poll(connection: Connection, number: int, question: str, answers: str) -> Poll:
    query = "SELECT answer, count(*) FROM poll_votes WHERE poll = ? GROUP BY answer"
    counts: dict[int, int] = dict(connection.execute(query, (number,)).fetchall())
    names: list[str] = json.loads(answers)
    return Poll(number, question, tuple((name, counts.get(place, 0)) for place, name in enumerate(names)))
