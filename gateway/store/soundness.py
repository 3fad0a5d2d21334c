"""Finds stored texts that a damaged disk has left unreadable. SQLite's own check does not look into texts."""

from collections.abc import AsyncIterator, Iterator
from functools import partial

from msgspec import Struct

from gateway.store.connection import Connection
from gateway.store.table import Table

STEP = 1_000
"""Rows that one query looks at, some 10 ms."""


class Damaged(Struct, frozen=True):
    """A row whose text is no JSON any more, or JSON of another form. It stays, and what reads the table skips it."""

    table: str
    key: str
    chat: str
    """The key of its chat; empty if it belongs to none."""


class _Texts(Struct, frozen=True):
    table: str
    key: str
    column: str
    chat: str = "chat"
    begins: str = "{"
    """The character that it begins with."""

    def step(self, connection: Connection, after: int | str | None) -> tuple[list[Damaged], int | str | None]:
        """Return what is damaged among the next rows, and the last of their keys; None at the end."""
        follows, values = ("", {}) if after is None else (f"WHERE {self.key} > :after", {"after": after})
        step = f"(SELECT {self.key} AS name, {self.chat} AS chat, {self.column} AS words FROM {self.table} {follows}"  # noqa: S608
        step = f"{step} ORDER BY {self.key} LIMIT {STEP}) AS step"
        is_other = f"substr(words, 1, 1) <> '{self.begins}' OR NOT json_valid(words)"
        unreadable = f"SELECT name, chat FROM {step} WHERE words <> '' AND ({is_other})"  # noqa: S608
        damaged = connection.execute(unreadable, values).fetchall()
        (last,) = connection.execute(f"SELECT max(name) FROM {step}", values).fetchone()  # noqa: S608
        return [Damaged(self.table, str(name), chat) for name, chat in damaged], last


_TEXTS = (
    _Texts("transcript", "seq", "message"),
    _Texts("inbox", "seq", "payload"),
    _Texts("outbox", "key", "body"),
    _Texts("jobs", "id", "rule"),
    _Texts("jobs", "id", "work"),
    _Texts("strangers", "id", "event", chat="''"),
    _Texts("runs", "run", "deaths"),
    _Texts("jobs", "id", "given", begins="["),
    _Texts("jobs", "id", "scripts", begins="["),
    _Texts("approvals", "id", "choices", begins="["),
    _Texts("approvals", "id", "grounds", begins="["),
    _Texts("chat_skills", "chat", "shelved"),
    _Texts("standings", "person", "roles", chat="''", begins="["),
    _Texts("owed", "key", "data"),
    _Texts("owed_erasures", "who", "direct", chat="''", begins="["),
    _Texts("owed_erasures", "who", "shared", chat="''", begins="["),
)
"""What is read in order to answer. The steps of runs are records only."""


class Soundness(Table):
    """Reads everything that is stored as JSON."""

    async def damaged(self) -> AsyncIterator[Damaged]:
        """Yield what cannot be read, in small steps between which others use the database."""
        for texts in _TEXTS:
            last: int | str | None = None
            while True:
                found, last = await self._reader.run(partial(texts.step, after=last))
                for each in found:
                    yield each
                if last is None:
                    break


def damaged_in(connection: Connection) -> Iterator[Damaged]:
    """Yield what cannot be read, at once."""
    for texts in _TEXTS:
        last: int | str | None = None
        while True:
            found, last = texts.step(connection, last)
            yield from found
            if last is None:
                break
