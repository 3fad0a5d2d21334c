"""`parley nodes`: the processes that share the database, what each does, and what is not the same on all. Read-only."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gateway.errors import ParleyError
from gateway.security.printing import print_pieces
from gateway.settings.settings import load_settings
from gateway.store.nodes import NodeStatus, differences, node_statuses
from gateway.store.server import PostgresServer
from gateway.texts.moments import moment_words


def run(environ: Mapping[str, str], cwd: Path) -> int:
    """Print the nodes. Return 1 if something about them needs a look, else 0. Raises ParleyError."""
    settings = load_settings(environ, cwd)
    if settings.database is None:
        raise ParleyError(
            "There is one node: the store is a file. Nodes share a database, which PARLEY_DATABASE_URL names "
            "(docs/cluster.md)."
        )
    with PostgresServer(settings.database).read() as connection:
        found = node_statuses(connection)
    warnings = list(warnings_of(found))
    print_pieces((f"{line}\n" for line in [*told(found), *(f"! {each}" for each in warnings)]), settings.secrets)
    return int(bool(warnings))


def told(nodes: Sequence[NodeStatus]) -> Iterator[str]:
    """Yield two lines for each node."""
    if not nodes:
        yield "No node is running."
    for node in nodes:
        since = moment_words(node.started, None)
        state = " silent" if node.is_silent else " takes no further chats" if node.is_draining else ""
        state += f" cannot reach {node.out_of_reach}" if node.unreachable else ""
        yield f"{node.name}{state}  {node.version} on {node.host}, pid {node.pid}, since {since}"
        leases = ", ".join(node.leases) or "none"
        yield f"  beat {node.beat_age:.1f} s ago  chats {node.chats}  runs {node.runs}  leases: {leases}"


def warnings_of(nodes: Sequence[NodeStatus]) -> Iterator[str]:
    """Yield a sentence for each thing that needs a look."""
    for node in nodes:
        if node.is_silent:
            yield f"{node.name} has not been heard of for {node.beat_age:.0f} s; the others take over its work"
        if node.unreachable:
            yield f"{node.name} cannot reach {node.out_of_reach}; nodes that can do its work there"
    for what, who in differences(nodes):
        yield f"{what} is not the same on all nodes: {who}"
