"""The table of codes that link a second account to a person."""

from gateway.store.connection import Connection
from gateway.store.people import save_person
from gateway.store.person import Person
from gateway.store.table import Table

LASTS = 600.0
"""Seconds that a code is valid."""


class Links(Table):
    """The codes that were given out, each for the account that asked for it."""

    async def add(self, code: str, principal: str, name: str) -> None:
        """Keep a code of an account, in place of its earlier one."""
        now, name = self._clock.time(), self._secrets.mask(name)

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM links WHERE expires <= ? OR principal = ?", (now, principal))
            row = code, principal, name, now + LASTS
            connection.execute("INSERT INTO links (code, principal, name, expires) VALUES (?, ?, ?, ?)", row)

        await self._writer.submit(change)

    async def find(self, code: str) -> tuple[str, str] | None:
        """Return the principal and the name of the account that asked for a valid code."""
        now = self._clock.time()

        def read(connection: Connection) -> tuple[str, str] | None:
            query = "SELECT principal, name FROM links WHERE code = ? AND expires > ?"
            found: tuple[str, str] | None = connection.execute(query, (code, now)).fetchone()
            return found

        return await self._reader.run(read)

    async def use(self, code: str, person: Person) -> bool:
        """Store a person with all linked accounts and use up the code. Returns False if it was used already."""
        now = self._clock.time()
        names = {each.principal: self._secrets.mask(each.name) for each in person.accounts}

        def change(connection: Connection) -> bool:
            if connection.execute("DELETE FROM links WHERE code = ? AND expires > ?", (code, now)).rowcount != 1:
                return False
            save_person(connection, person, names)
            return True

        return await self._writer.submit(change)
