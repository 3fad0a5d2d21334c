"""The table of codes that link a second account to a person. Only digests of the codes are kept."""

from collections.abc import Collection
from hashlib import sha256

from msgspec import Struct

from gateway.store.connection import Connection
from gateway.store.pairing import note_outcome
from gateway.store.people import check_seen, save_person
from gateway.store.person import Account, Person
from gateway.store.table import Table
from gateway.store.topics import Topic

LASTS = 600.0
"""Seconds that a code is valid."""
LINKED = "linked"
"""The outcome of a code that was used."""


class Link(Struct, frozen=True):
    """A valid code, by its id, and the account that asked for it."""

    id: str
    giver: Account


class Links(Table):
    """The codes that were given out, each for the account that asked for it."""

    async def add(self, code: str, key: str, principal: str, name: str) -> None:
        """Keep a code of an account under the id `key`, in place of its earlier one."""
        now, name = self._clock.time(), self._secrets.mask(name)

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM links WHERE expires <= ? OR principal = ?", (now, principal))
            row = _digest(code), key, principal, name, now + LASTS
            connection.execute("INSERT INTO links (digest, id, principal, name, expires) VALUES (?, ?, ?, ?, ?)", row)

        await self._writer.submit(change)

    async def said(self, code: str, by: str) -> Link | None:
        """Return the link of a valid code, and note the principal who said it."""
        now = self._clock.time()

        def change(connection: Connection) -> Link | None:
            query = "UPDATE links SET said_by = ? WHERE digest = ? AND expires > ? RETURNING id, principal, name"
            return _link(connection.execute(query, (by, _digest(code), now)).fetchone())

        return await self._writer.submit(change)

    async def find(self, key: str, said_by: str) -> Link | None:
        """Return the link with an id, if this principal has said its code and it is still valid."""
        now = self._clock.time()

        def read(connection: Connection) -> Link | None:
            query = "SELECT id, principal, name FROM links WHERE id = ? AND said_by = ? AND expires > ?"
            return _link(connection.execute(query, (key, said_by, now)).fetchone())

        return await self._reader.run(read)

    async def use(self, key: str, person: Person, event: str, seen: Collection[Person] | None = None) -> bool:
        """Store a person with all linked accounts and use up the code. Returns False if it was used already.

        Raises Outdated as `People.save` does.
        """
        now = self._clock.time()
        names = {each.principal: self._secrets.mask(each.name) for each in person.accounts}

        def change(connection: Connection) -> bool:
            if connection.execute("DELETE FROM links WHERE id = ? AND expires > ?", (key, now)).rowcount != 1:
                return False
            check_seen(connection, person, seen)
            save_person(connection, person, names)
            self._changed(connection, Topic.PEOPLE)
            note_outcome(connection, event, LINKED, now)
            return True

        return await self._writer.submit(change)


def _digest(code: str) -> str:
    return sha256(f"parley link {code}".encode()).hexdigest()


def _link(row: tuple[str, str, str] | None) -> Link | None:
    if row is None:
        return None
    key, principal, name = row
    return Link(key, Account(principal, name))
