"""The table of open links that sign a browser in. Only digests of their secrets are kept."""

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from gateway.store.connection import Connection
from gateway.store.table import Table
from gateway.store.topics import Topic


class OpenLink(Struct, frozen=True):
    """A link that some node has given out."""

    digest: str
    principal: str
    person: str
    expires: float


class PageLinks(Table):
    """The links that are open, on all nodes. A row is deleted when its link is used."""

    async def add(self, link: OpenLink) -> None:
        safe, now = replace(link, person=self._secrets.mask(link.person)), self._clock.time()
        row = safe.digest, safe.principal, safe.person, safe.expires

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM page_links WHERE expires <= ?", (now,))
            connection.execute("INSERT INTO page_links (digest, principal, person, expires) VALUES (?, ?, ?, ?)", row)
            self._changed(connection, Topic.LINKS)

        await self._writer.submit(change)

    async def take(self, digest: str) -> bool:
        """Use up a link. Returns False if that was done before, on any node."""

        def change(connection: Connection) -> bool:
            self._changed(connection, Topic.LINKS)
            return connection.execute("DELETE FROM page_links WHERE digest = ?", (digest,)).rowcount == 1

        return await self._writer.submit(change)

    async def close(self, digests: Collection[str]) -> None:
        """Let links lead in no more."""

        def change(connection: Connection) -> None:
            connection.executemany("DELETE FROM page_links WHERE digest = ?", [(digest,) for digest in digests])
            self._changed(connection, Topic.LINKS)

        await self._writer.submit(change)

    async def all(self) -> list[OpenLink]:
        """Return all open links, after the changes that this process makes."""
        now = self._clock.time()

        def read(connection: Connection) -> list[OpenLink]:
            query = "SELECT digest, principal, person, expires FROM page_links WHERE expires > ?"
            return [OpenLink(*row) for row in connection.execute(query, (now,))]

        return await self._writer.submit(read)
