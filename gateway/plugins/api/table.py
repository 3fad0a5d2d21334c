"""The tables of keys, of which only digests are kept, and of the calls under way."""

import hashlib
from collections.abc import Sequence

from msgspec import Struct

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.table import Table, readable

START = """
CREATE TABLE api (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  last TEXT NOT NULL,
  chat TEXT NOT NULL,
  name TEXT NOT NULL,
  person TEXT NOT NULL,
  principal TEXT NOT NULL,
  language TEXT NOT NULL,
  asked TEXT NOT NULL,
  used REAL,
  UNIQUE (chat, person, name)
);
CREATE TABLE api_calls (run TEXT PRIMARY KEY, key INTEGER NOT NULL, chat TEXT NOT NULL);
"""
MOST_KEYS = 20
"""Keys of a person in a chat."""


class ApiKey(Struct, frozen=True):
    """A key of a person, for the agent of a chat.

    Attributes:
        id: Its number.
        digest: The digest of the key, which is not kept.
        last: Its last letters.
        chat: The chat.
        name: Its name, which no other one of the person has there.
        person: The id of the person in the chat.
        principal: The account of the person.
        language: The language of the person.
        used: When it was used last; None if it was not.
    """

    id: int
    digest: str
    last: str
    chat: ChatKey
    name: str
    person: str
    principal: str
    language: str
    used: float | None = None


_KEY = "SELECT id, digest, last, chat, name, person, principal, language, used FROM api"
_Row = tuple[int, str, str, str, str, str, str, str, float | None]


def digest_of(secret: str) -> str:
    """Return the digest of a key, which is long enough to be guessed by nobody."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


class ApiKeys(Table):
    """Reads and changes keys, and notes the calls under way."""

    async def shown(self, secret: str) -> ApiKey | None:
        """Return the key that a request shows."""
        return next(iter(await self._found("digest = ?", digest_of(secret))), None)

    async def is_there(self, key: ApiKey) -> bool:
        """Return True while a key was not removed."""
        return bool(await self._found("id = ?", key.id))

    async def of(self, chat: ChatKey, person: str) -> list[ApiKey]:
        """Return the keys of a person in a chat, by name."""
        return [each for each in await self._found("chat = ?", str(chat)) if each.person == person]

    async def in_chat(self, chat: ChatKey) -> list[ApiKey]:
        """Return the keys of everybody in a chat, by name."""
        return await self._found("chat = ?", str(chat))

    async def add(self, key: ApiKey, asked: str) -> bool:
        """Add a key, whose number does not count. Returns False if the person has one of this name, or too many.

        The same command again, by its id, replaces the key that was not shown yet.
        """
        values = key.digest, key.last, str(key.chat), key.name, key.person, key.principal, key.language, asked

        def change(connection: Connection) -> bool:
            query = "SELECT count(*) FROM api WHERE chat = ? AND person = ? AND asked <> ?"
            (count,) = connection.execute(query, (str(key.chat), key.person, asked)).fetchone()
            if count >= MOST_KEYS:
                return False
            added = connection.execute(
                "INSERT INTO api (digest, last, chat, name, person, principal, language, asked)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (chat, person, name)"
                " DO UPDATE SET digest = excluded.digest, last = excluded.last WHERE api.asked = excluded.asked",
                values,
            )
            return added.rowcount == 1

        return await self.write(change)

    async def remove(self, key: ApiKey) -> None:
        """Remove a key."""

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM api WHERE id = ?", (key.id,))

        await self.write(change)

    async def begun(self, run: str, key: ApiKey) -> None:
        """Note a call under way, and that the key was used."""
        now = self._clock.time()

        def change(connection: Connection) -> None:
            connection.execute("INSERT INTO api_calls (run, key, chat) VALUES (?, ?, ?)", (run, key.id, str(key.chat)))
            connection.execute("UPDATE api SET used = ? WHERE id = ?", (now, key.id))

        await self.write(change)

    async def over(self, run: str) -> None:
        """Forget a call that is over."""

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM api_calls WHERE run = ?", (run,))

        await self.write(change)

    async def left(self, chat: ChatKey | None) -> Sequence[str]:
        """Return the runs of calls that were under way in a chat, or in all, when their process died."""

        def read(connection: Connection) -> Sequence[str]:
            query = "SELECT run FROM api_calls WHERE chat = coalesce(?, chat)"
            return [run for (run,) in connection.execute(query, (None if chat is None else str(chat),)).fetchall()]

        return await self.read(read)

    async def _found(self, condition: str, value: str | int) -> list[ApiKey]:
        query = f"{_KEY} WHERE {condition} ORDER BY name, id"

        def read(connection: Connection) -> list[ApiKey]:
            return list(readable(connection.execute(query, (value,)).fetchall(), _key, "api"))

        return await self.read(read)


def erase(connection: Connection, forgotten: Forgotten) -> None:
    """Erase the keys of a person, and all of their direct chats."""
    connection.execute("DELETE FROM api WHERE principal = ?", (forgotten.principal,))
    for chat in forgotten.direct:
        connection.execute("DELETE FROM api WHERE chat = ?", (str(chat),))
    connection.execute("DELETE FROM api_calls WHERE key NOT IN (SELECT id FROM api)")


def _key(row: _Row) -> ApiKey:
    number, digest, last, chat, name, person, principal, language, used = row
    return ApiKey(number, digest, last, ChatKey.parse(chat), name, person, principal, language, used)
