"""Takes the chats and leases of nodes that are dead or frozen. Such a node is fenced in the same transaction."""

import structlog

from gateway.cluster.node import LEFT, Node, Raw, give_up
from gateway.cluster.signals import ALL, written
from gateway.store.nodes import DEAD_AFTER, LOCK_OF

FROZEN_AFTER = 30.0
"""Seconds without a beat after which a node is taken for dead although its connection stands; else it is after
DEAD_AFTER."""
STOOD_FOR = 3.0
"""Seconds for which the own connection has stood: a restart of the database frees the locks of the living too."""
SWEEP = 0x5041524C4559
"""The number of the advisory lock of the node that looks; it spells PARLEY."""
_SUSPECTS = (
    "SELECT id, name, extract(epoch FROM clock_timestamp() - beat)::float8 FROM nodes"
    " WHERE NOT fenced AND id <> %s AND beat < clock_timestamp() - make_interval(secs => %s)"
)
_STILL = (
    "SELECT 1 FROM nodes WHERE id = %s AND NOT fenced AND beat < clock_timestamp() - make_interval(secs => %s)"
    " FOR UPDATE SKIP LOCKED"
)

log = structlog.get_logger(__name__)


async def reap(node: Node) -> list[str]:
    """Fence the nodes that are dead, and free their chats and leases. Returns their ids. Raises psycopg.Error."""
    if node.stood_for < STOOD_FOR or not node.is_fresh:
        return []
    reaped = []
    async with node.transaction() as raw:
        suspects = await (await raw.execute(_SUSPECTS, [node.id, DEAD_AFTER])).fetchall()
        if not suspects or not await _locked(raw, "%s::bigint", SWEEP):
            return []
        for suspect, name, age in suspects:
            if await _is_dead(raw, suspect, age):
                await give_up(raw, suspect)
                log.warning("took over from a node", node=suspect, name=name, silent_for=round(age, 1))
                reaped.append(suspect)
        if reaped:
            await raw.execute("SELECT pg_notify(%s, %s)", [ALL, written(node.id, LEFT, node.id)])
    return reaped


async def _is_dead(raw: Raw, suspect: str, age: float) -> bool:
    """Return True if a node is dead. Its row is locked then, so that no transaction of it is open."""
    if age < FROZEN_AFTER and not await _locked(raw, LOCK_OF.format("%s"), suspect):
        return False
    return await (await raw.execute(_STILL, [suspect, DEAD_AFTER])).fetchone() is not None


async def _locked(raw: Raw, number: str, value: object) -> bool:
    row = await (await raw.execute(f"SELECT pg_try_advisory_xact_lock({number})", [value])).fetchone()
    return row == (True,)
