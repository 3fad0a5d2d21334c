"""Checks the PostgreSQL database that several nodes may share, and what they have to have in common."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from channels.checkup import Finding, note, ok, problem
from gateway.errors import ParleyError
from gateway.store.home_marker import FILE, known_marker
from gateway.store.nodes import MOST_APART, differences, node_statuses
from gateway.store.server import PostgresServer


def look_at_database(url: str, home: Path, now: Callable[[], float] = time.time) -> Iterator[Finding]:
    """Check the database, the way to it, and the nodes on it."""
    try:
        server = PostgresServer(url)
        if server.is_behind():
            yield note(
                "the database can be used; it is empty or of an older Parley, and the next start makes its tables"
            )
            yield _sessions(server)
            return
        yield ok(server.about())
        yield _sessions(server)
        with server.read() as connection:
            (there,) = connection.execute("SELECT EXTRACT(EPOCH FROM clock_timestamp())").fetchone()
            yield _clock(now() - there)
            yield _folder(home, *known_marker(connection))
            nodes = node_statuses(connection)
    except ParleyError as error:
        what, _, fix = error.sentence.partition(". ")
        yield problem(what, f"{fix[:1].lower()}{fix[1:].rstrip('.')}")
        return
    if nodes:
        yield ok(f"nodes: {', '.join(node.name for node in nodes)}")
    for node in nodes:
        if node.is_silent:
            yield note(f"node {node.name} has not been heard of for {node.beat_age:.0f} s", "see parley nodes")
        if node.unreachable:
            yield note(
                f"node {node.name} cannot reach {node.out_of_reach}; nodes that can do its work there",
                "look at the network of its machine",
            )
    for what, who in differences(nodes):
        yield note(f"{what} is not the same on all nodes: {who}", "set it everywhere, and restart those that lag")


def _sessions(server: PostgresServer) -> Finding:
    """Try what a pooler that gives each transaction another session breaks."""
    if trouble := server.pooler_problem():
        return problem(
            f"the way to the database does not keep sessions: {trouble}",
            "connect to PostgreSQL itself, or through a pooler in session mode",
        )
    return ok("the way to the database keeps sessions, locks and news")


def _clock(apart: float) -> Finding:
    if abs(apart) <= MOST_APART:
        return ok("the clock agrees with that of the database")
    which = "ahead of" if apart > 0 else "behind"
    return problem(
        f"the clock of this machine is {abs(apart):.0f} s {which} that of the database",
        "let both be set from the network (NTP); until then Parley goes by the clock of the database",
    )


def _folder(home: Path, name: str, is_marked: bool) -> Finding:  # noqa: FBT001 - a row
    try:
        found = (home / FILE).read_text().strip()
    except OSError:
        found = ""
    if found == name:
        return ok(f"{home} is the folder that belongs to the database")
    if found:
        return problem(f"{home} belongs to another database", "set PARLEY_HOME to the folder that the nodes share")
    if is_marked:
        return problem(
            f"{home} is not the folder that the nodes share ({FILE} is missing in it)", "mount that one as PARLEY_HOME"
        )
    return ok(f"{home} will belong to the database from the first start on")
