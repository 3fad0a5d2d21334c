"""The table of browsers that are signed in on the page."""

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import astuple, replace

from gateway.store.connection import Connection
from gateway.store.table import Table
from gateway.store.topics import Topic

ID_LENGTH = 8


class Browser(Struct, frozen=True):
    """A browser that is signed in, and the person with whose rights it acts."""

    digest: str
    """Of the secret in its cookie."""
    token_digest: str
    """Of the token that its requests bring beside the cookie."""
    principal: str
    """Account that asked for its link, as `platform:id`."""
    person: str
    """Name of that account; empty for the person at this machine."""
    name: str
    """Such as `Firefox on Linux`; people can change it."""
    place: str
    """Address from which it was last used."""
    created: float
    used: float

    @property
    def id(self) -> str:
        """The beginning of the digest, with which people name it."""
        return self.digest[:ID_LENGTH]


class Browsers(Table):
    """The browsers that are signed in. A row is deleted when its browser is signed out."""

    async def all(self) -> list[Browser]:
        """Return all rows, the first that was signed in first."""

        def read(connection: Connection) -> list[Browser]:
            query = (
                "SELECT digest, token_digest, principal, person, name, place, created, used FROM browsers"
                " ORDER BY created"
            )
            return [Browser(*row) for row in connection.execute(query)]

        return await self._writer.submit(read)  # in order with the changes that this process makes

    async def save(self, browser: Browser, *, instead_of: str = "") -> None:
        """Add or change a row; `instead_of` is the digest of a row to delete."""
        mask = self._secrets.mask
        masked = replace(browser, person=mask(browser.person), name=mask(browser.name))

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM browsers WHERE digest = ?", (instead_of,))
            connection.execute(
                "INSERT INTO browsers (digest, token_digest, principal, person, name, place, created, used)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (digest) DO UPDATE SET name = excluded.name, used = excluded.used",
                astuple(masked),
            )
            self._changed(connection, Topic.BROWSERS)

        await self._writer.submit(change)

    async def touch(self, browser: Browser) -> None:
        """Store when and from where a browser was last used, unless it was signed out meanwhile."""
        values = browser.used, browser.place, browser.digest

        def change(connection: Connection) -> None:
            connection.execute("UPDATE browsers SET used = ?, place = ? WHERE digest = ?", values)

        await self._writer.submit(change)

    async def delete(self, digests: Collection[str]) -> None:
        rows = [(digest,) for digest in digests]

        def change(connection: Connection) -> None:
            connection.executemany("DELETE FROM browsers WHERE digest = ?", rows)
            self._changed(connection, Topic.BROWSERS)

        await self._writer.submit(change)
