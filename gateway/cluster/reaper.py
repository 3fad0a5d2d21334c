"""Fences nodes that are dead or frozen, and frees their leases in the same transaction, and their chats.

The chats are freed in small transactions, so that the heartbeats of this node pass between them. If it dies meanwhile,
any other one goes on.
"""

import structlog

from gateway.cluster.node import ORPHANED, Node, Raw, fence_without_chats
from gateway.cluster.signals import ALL, payload_of
from gateway.store.nodes import DEAD_AFTER, LOCK_OF

FROZEN_AFTER = 30.0
"""Seconds without a heartbeat after which a node counts as dead although it is still connected.

A node that is not connected counts as dead after DEAD_AFTER.
"""
CONNECTED_FOR = 3.0
"""Seconds for which this node must have been connected: a restart of the database frees all locks."""
SWEEP = 0x5041524C4559
"""Number of the advisory lock of the node that reaps; it spells PARLEY."""
MOST_FREED = 2_000
"""Chats freed in one transaction."""
_SUSPECTS = (
    "SELECT id, name, extract(epoch FROM clock_timestamp() - beat)::float8 FROM nodes"
    " WHERE NOT fenced AND id <> %s AND beat < clock_timestamp() - make_interval(secs => %s)"
)
_STILL = (
    "SELECT 1 FROM nodes WHERE id = %s AND NOT fenced AND beat < clock_timestamp() - make_interval(secs => %s)"
    " FOR UPDATE SKIP LOCKED"
)
_FREE_SOME = (
    "UPDATE chat_owners SET node = NULL WHERE chat IN (SELECT chat FROM chat_owners JOIN nodes ON nodes.id = node"
    " WHERE fenced LIMIT %s FOR UPDATE OF chat_owners SKIP LOCKED)"
)

log = structlog.get_logger(__name__)


async def reap(node: Node) -> list[str]:
    """Fence dead nodes, and free their chats and leases. Returns their ids. Raises psycopg.Error."""
    if node.connected_for < CONNECTED_FOR or not node.is_fresh:
        return []
    async with node.transaction() as raw:
        reaped = await _fenced(raw, node)
        freed = await _freed(raw, node)
    while freed == MOST_FREED:
        async with node.transaction() as raw:
            freed = await _freed(raw, node)
    return reaped


async def _fenced(raw: Raw, node: Node) -> list[str]:
    """Fence the nodes that are dead. Returns their ids."""
    reaped: list[str] = []
    suspects = await (await raw.execute(_SUSPECTS, [node.id, DEAD_AFTER])).fetchall()
    if not suspects or not await _locked(raw, "%s::bigint", SWEEP):
        return reaped
    for suspect, name, age in suspects:
        if await _is_dead(raw, suspect, age):
            await fence_without_chats(raw, suspect)
            log.warning("took over from a node", node=suspect, name=name, silent_for=round(age, 1))
            reaped.append(suspect)
    return reaped


async def _freed(raw: Raw, node: Node) -> int:
    """Free chats of fenced nodes, and tell the other nodes. Returns the number."""
    freed = (await raw.execute(_FREE_SOME, [MOST_FREED])).rowcount
    if freed:
        await raw.execute("SELECT pg_notify(%s, %s)", [ALL, payload_of(node.id, ORPHANED, node.id)])
    return freed


async def _is_dead(raw: Raw, suspect: str, age: float) -> bool:
    """Return True if a node is dead. Its row is then locked, so it has no open transaction."""
    if age < FROZEN_AFTER and not await _locked(raw, LOCK_OF.format("%s"), suspect):
        return False
    return await (await raw.execute(_STILL, [suspect, DEAD_AFTER])).fetchone() is not None


async def _locked(raw: Raw, number: str, value: object) -> bool:
    row = await (await raw.execute(f"SELECT pg_try_advisory_xact_lock({number})", [value])).fetchone()
    return row == (True,)
