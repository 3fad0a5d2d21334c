"""The table of nodes: their descriptions, states and fences. Only used on PostgreSQL."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent_core.json_text import UNREADABLE
from gateway.store.connection import Connection
from gateway.store.table import Table
from gateway.store.unreadable import stored_object

_NODES = (
    "SELECT id, name, host, pid, version, started, EXTRACT(EPOCH FROM clock_timestamp() - beat), draining,"
    " settings, skills, unreachable, (SELECT count(*) FROM chat_owners WHERE node = nodes.id),"
    " (SELECT count(*) FROM runs JOIN chat_owners ON chat_owners.chat = runs.chat"
    " WHERE node = nodes.id AND state = 'running')"
    " FROM nodes WHERE NOT fenced ORDER BY name, started"
)
_OTHERS = (
    "SELECT unreachable FROM nodes WHERE id <> ? AND NOT fenced AND NOT draining"
    " AND beat > clock_timestamp() - make_interval(secs => ?)"
)
_LEASES = "SELECT node, name FROM leases WHERE node IS NOT NULL AND substr(name, 1, 6) <> 'share ' ORDER BY name"
_MAY_SEND = "SELECT EXISTS (SELECT FROM nodes WHERE NOT fenced AND beat > clock_timestamp() - make_interval(secs => ?))"
SILENT = 5.0
"""Seconds without a heartbeat after which a node is shown as silent."""
MOST_APART = 2.0
"""Seconds by which a machine's clock may differ from the database's before the latter is used."""
DEAD_AFTER = 1.5
"""Seconds without a heartbeat after which a node sends nothing any more."""
LOCK_OF = "hashtextextended('parley node ' || {}, 0)"
"""SQL for the number of a node's advisory lock; the placeholder is its id."""
FREE_CHATS = "UPDATE chat_owners SET node = NULL WHERE node IN (SELECT id FROM nodes WHERE fenced)"
"""Frees the chats of fenced nodes."""
FREE_REST = (
    "UPDATE leases SET node = NULL WHERE node IN (SELECT id FROM nodes WHERE fenced)",
    "UPDATE spending SET state = 'estimate' WHERE state = 'reserved' AND node IN (SELECT id FROM nodes WHERE fenced)",
)
"""Statements that free the leases of fenced nodes, and count their reservations in full as estimates."""


class NodeStatus(Struct, frozen=True):
    """A node that is not fenced, with its load."""

    id: str
    name: str
    host: str
    pid: int
    version: str
    started: float
    """Seconds since the epoch, by its own clock."""
    beat_age: float
    """Seconds since its last heartbeat, by the database's clock."""
    is_draining: bool
    settings: str
    """Digests of its settings by name, as JSON."""
    skills: str
    """Digest of its skills."""
    unreachable: str
    """Platforms that it cannot reach, separated by commas."""
    chats: int
    """Number of chats that it owns."""
    runs: int
    """Number of its running answers."""
    leases: tuple[str, ...] = ()

    @property
    def is_silent(self) -> bool:
        return self.beat_age > SILENT

    @property
    def out_of_reach(self) -> str:
        """The platforms that it cannot reach, for people."""
        return self.unreachable.replace(",", ", ")


NodeStatuses = Callable[[], Awaitable[Sequence[NodeStatus]]]
"""Returns the nodes that share the database."""


class Nodes(Table):
    """The nodes that share the database."""

    async def seen(self) -> list[NodeStatus]:
        """Return the nodes by name."""
        return await self._reader.run(node_statuses)

    async def note_unreachable(self, node: str, platforms: Collection[str]) -> None:
        """Record the platforms that a node cannot reach. Raises StoreUnavailable."""
        query, names = "UPDATE nodes SET unreachable = ? WHERE id = ?", ",".join(sorted(platforms))

        def change(connection: Connection) -> None:
            connection.execute(query, (names, node))

        await self._writer.submit(change, patient=False)

    async def note_settings(self, node: str, settings: str) -> None:
        """Record the digests of the settings that a node has now."""
        query = "UPDATE nodes SET settings = ? WHERE id = ?"

        def change(connection: Connection) -> None:
            connection.execute(query, (settings, node))

        await self._writer.submit(change)

    async def reached_by_others(self, node: str, platforms: Collection[str]) -> frozenset[str]:
        """Return those of the platforms that another live node may reach. Raises sqlite3.Error."""

        def read(connection: Connection) -> frozenset[str]:
            others = [names_in(row[0]) for row in connection.execute(_OTHERS, (node, SILENT)).fetchall()]
            return frozenset(each for each in platforms if any(each not in names for names in others))

        return await self._reader.run(read)


def names_in(unreachable: str) -> frozenset[str]:
    """Return the platforms named in a row's `unreachable`."""
    return frozenset(filter(None, unreachable.split(",")))


def node_statuses(connection: Connection) -> list[NodeStatus]:
    """Return the nodes by name."""
    leases: dict[str, list[str]] = {}
    for node, name in connection.execute(_LEASES):
        leases.setdefault(node, []).append(name)
    nodes = [NodeStatus(*facts) for facts in connection.execute(_NODES)]
    return [replace(node, leases=tuple(leases.get(node.id, ()))) for node in nodes]


def hold_all(connection: Connection) -> None:
    """Block writes and heartbeats of all nodes until the open transaction ends, and wait until none sends any more."""
    connection.execute("LOCK TABLE nodes IN EXCLUSIVE MODE")  # after all that write now, before all that want to
    (may_send,) = connection.execute(_MAY_SEND, (DEAD_AFTER,)).fetchone()
    if may_send:
        connection.execute("SELECT pg_sleep(?)", (DEAD_AFTER,)).fetchall()


def fence_all(connection: Connection) -> None:
    """Fence all nodes that have joined so far, and free their chats, leases and reservations."""
    for statement in ("UPDATE nodes SET fenced = TRUE WHERE NOT fenced", FREE_CHATS, *FREE_REST):
        connection.execute(statement)


def differences(nodes: Sequence[NodeStatus]) -> Iterator[tuple[str, str]]:
    """Yield what differs between nodes, and the groups of nodes that agree, such as `a, b / c`."""
    settings = {node.id: settings_told(node.settings) for node in nodes}
    for name in sorted({name for each in settings.values() for name in each}):
        yield from _difference(name, [(node.name, settings[node.id].get(name, "")) for node in nodes])
    yield from _difference("skills", [(node.name, node.skills) for node in nodes])
    yield from _difference("version", [(node.name, node.version) for node in nodes])


def _difference(what: str, values: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    groups: dict[str, list[str]] = {}
    for node, value in values:
        groups.setdefault(value, []).append(node)
    if len(groups) > 1:
        yield what, " / ".join(", ".join(names) for names in groups.values())


def settings_told(told: str) -> dict[str, str]:
    """Return the digests, or none for a row written by another version."""
    try:
        found = stored_object(told or "{}")
    except UNREADABLE:
        return {}
    return {name: str(digest) for name, digest in found.items()}
