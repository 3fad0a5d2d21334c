"""The table of leases, each held by one node at a time. Only used on PostgreSQL."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from gateway.store.connection import Connection
from gateway.store.nodes import DEAD_AFTER, LOCK_OF
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
_IS_KEPT = (
    "SELECT EXISTS (SELECT 1 FROM leases JOIN nodes ON nodes.id = leases.node AND NOT nodes.fenced"  # noqa: S608
    " WHERE leases.name = ? AND leases.since < clock_timestamp() - make_interval(secs => ?)"
    " AND nodes.beat > clock_timestamp() - make_interval(secs => ?)"
    " AND EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted"
    f" AND (classid::bigint << 32) | objid::bigint = {LOCK_OF.format('nodes.id')}))"
)
_SHARERS = (
    "SELECT leases.name, nodes.id, extract(epoch FROM clock_timestamp() - leases.since)::float8 FROM leases"
    " LEFT JOIN nodes ON nodes.id = leases.node AND NOT nodes.fenced WHERE leases.name = ? OR leases.name LIKE ?"
    " OR leases.name LIKE ?"
)
_TURN = (
    "INSERT INTO leases (name, number, since) VALUES (?, 1, clock_timestamp()) ON CONFLICT (name) DO UPDATE"
    " SET number = leases.number + 1, since = excluded.since"
    " WHERE leases.since <= excluded.since - make_interval(secs => ?)"
)
_FORGET = (
    "DELETE FROM leases WHERE name LIKE ? AND (leases.node = ?"
    " OR NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = leases.node AND NOT nodes.fenced))"
)
SHARE = "share "
"""Prefix of the rows by which nodes join a group of shared leases."""


class Sharers(Struct, frozen=True):
    """The nodes that share a group of leases."""

    members: Mapping[str, int] = field(default_factory=dict)
    """The number of leases of the group according to each node."""
    holders: Mapping[str, str] = field(default_factory=dict)
    """The holder of each lease, by its name."""
    freed: Mapping[str, float] = field(default_factory=dict)
    """Seconds since each free lease was released, or taken by a node that has died."""

    @property
    def count(self) -> int:
        """The highest number that a node uses; 0 without nodes."""
        return max(self.members.values(), default=0)


class LeaseRows(Table):
    """All leases. A lease is free if its holder is fenced or gone from the table of nodes."""

    async def take(self, name: str, node: str) -> bool:
        """Take a lease that is free or the node's own. Returns False if another node holds it.

        Raises StoreUnavailable, and sqlite3.Error if the database cannot be read.
        """

        def change(connection: Connection) -> bool:
            return connection.execute(_TAKE, (name, node)).rowcount == 1

        # usually it is not free, and a read does not wait for the writer
        return await self.is_free(name, node) and await self._writer.submit(change, patient=False)

    async def is_free(self, name: str, node: str) -> bool:
        """Return True if no other node holds a lease. Raises sqlite3.Error."""

        def read(connection: Connection) -> bool:
            (is_free,) = connection.execute(_IS_FREE, (name, node)).fetchone()
            return bool(is_free)

        return await self._reader.run(read)

    async def has_holder(self, name: str, since: float) -> bool:
        """Return True if a live node has held a lease for at least `since` seconds. Raises sqlite3.Error."""

        def read(connection: Connection) -> bool:
            (has_holder,) = connection.execute(_IS_KEPT, (name, since, DEAD_AFTER)).fetchone()
            return bool(has_holder)

        return await self._reader.run(read)

    async def others_accept_chats(self, node: str) -> bool:
        """Return True if another node accepts chats. Raises sqlite3.Error."""
        query = "SELECT EXISTS (SELECT 1 FROM nodes WHERE id <> ? AND NOT fenced AND NOT draining)"

        def read(connection: Connection) -> bool:
            (found,) = connection.execute(query, (node,)).fetchone()
            return bool(found)

        return await self._reader.run(read)

    async def release(self, name: str, node: str, announce: Callable[[Connection], None]) -> None:
        """Release a lease of the node; `announce` notifies the other nodes in the same transaction.

        Raises StoreUnavailable.
        """

        def change(connection: Connection) -> None:
            statement = "UPDATE leases SET node = NULL, since = now() WHERE name = ? AND node = ?"
            if connection.execute(statement, (name, node)).rowcount:
                announce(connection)

        await self._writer.submit(change, patient=False)

    async def tell(self, announce: Callable[[Connection], None]) -> None:
        """Let `announce` notify the other nodes. Raises StoreUnavailable."""
        await self._writer.submit(announce, patient=False)

    async def sharers(self, group: str) -> Sharers:
        """Return the nodes that share a group of leases. Raises sqlite3.Error."""
        own = f"{SHARE}{group}/"

        def read(connection: Connection) -> Sharers:
            members, holders, freed = {}, {}, {}
            for name, node, age in connection.execute(_SHARERS, (group, f"{group} %", f"{own}%")).fetchall():
                if not name.startswith(own):
                    if node is None:
                        freed[name] = age
                    else:
                        holders[name] = node
                elif node is not None:
                    members[node] = int(name.removeprefix(own).partition(" ")[0])
            return Sharers(members, holders, freed)

        return await self._reader.run(read)

    async def join(self, group: str, count: int, node: str) -> None:
        """Join a group of `count` leases, in place of any earlier number. Raises StoreUnavailable."""

        def change(connection: Connection) -> None:
            connection.execute(_FORGET, (f"{SHARE}{group}/%", node))
            connection.execute(_TAKE, (f"{SHARE}{group}/{count} {node}", node))

        await self._writer.submit(change, patient=False)

    async def leave(self, group: str, node: str) -> None:
        """Leave a group of leases. Raises StoreUnavailable."""

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM leases WHERE name LIKE ? AND node = ?", (f"{SHARE}{group}/%", node))

        await self._writer.submit(change, patient=False)

    async def turn(self, name: str, every: float) -> bool:
        """Take a turn. Returns False if the last one was less than `every` seconds ago.

        Raises StoreUnavailable.
        """

        def change(connection: Connection) -> bool:
            return connection.execute(_TURN, (name, every)).rowcount == 1

        return await self._writer.submit(change, patient=False)
