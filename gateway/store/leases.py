"""The table of leases: which node does the work that one node at a time may do. Only used on PostgreSQL."""

from collections.abc import Callable

from gateway.store.connection import Connection
from gateway.store.table import Table

_TAKE = (
    "INSERT INTO leases (name, node, number, since) VALUES (?, ?, 1, now()) ON CONFLICT (name) DO UPDATE"
    " SET node = excluded.node, number = leases.number + 1, since = excluded.since"
    " WHERE leases.node IS NULL OR leases.node = excluded.node"
    " OR NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = leases.node AND NOT nodes.fenced)"
)
_IS_FREE = (
    "SELECT NOT EXISTS (SELECT 1 FROM leases JOIN nodes ON nodes.id = leases.node AND NOT nodes.fenced"
    " WHERE leases.name = ? AND leases.node <> ?)"
)


class Leases(Table):
    """All leases. One whose holder is fenced, or gone from the table of nodes, is free."""

    async def take(self, name: str, node: str) -> bool:
        """Take a lease that is free or the node's own. Returns False if another node holds it.

        Raises StoreUnavailable, and sqlite3.Error if the database cannot be read.
        """

        def change(connection: Connection) -> bool:
            return connection.execute(_TAKE, (name, node)).rowcount == 1

        # mostly it is not free, and reading needs no place in the line of those who write
        return await self.is_free(name, node) and await self._writer.submit(change, patient=False)

    async def is_free(self, name: str, node: str) -> bool:
        """Return True if no other node than this one holds a lease. Raises sqlite3.Error."""

        def read(connection: Connection) -> bool:
            (is_free,) = connection.execute(_IS_FREE, (name, node)).fetchone()
            return bool(is_free)

        return await self._reader.run(read)

    async def others_work(self, node: str) -> bool:
        """Return True if there is another node that takes chats. Raises sqlite3.Error."""
        query = "SELECT EXISTS (SELECT 1 FROM nodes WHERE id <> ? AND NOT fenced AND NOT draining)"

        def read(connection: Connection) -> bool:
            (found,) = connection.execute(query, (node,)).fetchone()
            return bool(found)

        return await self._reader.run(read)

    async def release(self, name: str, node: str, announce: Callable[[Connection], None]) -> None:
        """Free a lease of the node; `announce` tells the other nodes, in the same transaction.

        Raises StoreUnavailable.
        """

        def change(connection: Connection) -> None:
            statement = "UPDATE leases SET node = NULL, since = now() WHERE name = ? AND node = ?"
            if connection.execute(statement, (name, node)).rowcount:
                announce(connection)

        await self._writer.submit(change, patient=False)
