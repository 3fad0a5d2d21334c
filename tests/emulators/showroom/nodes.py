"""The nodes as the page shows them: which of them run, and what each does."""

import asyncio
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from gateway.errors import ParleyError
from gateway.store.nodes import NodeStatus, node_statuses
from gateway.store.server import PostgresServer
from tests.nodes import Nodes

MOST = 5
"""Most nodes, so that each of them has sockets at Slack, which allows ten for an app."""
LOOK_EVERY = 0.5
"""Seconds."""
_RECEIVES = re.compile(r"receive (\w+)")


@dataclass(frozen=True)
class ShownNode:
    name: str
    runs: bool
    about: str


class ShownNodes:
    """Reads from the database what the nodes do."""

    def __init__(self, nodes: Nodes, url: str) -> None:
        self.nodes = nodes
        self._server = PostgresServer(url)
        self._seen: Mapping[str, NodeStatus] = {}

    async def watch(self, note: Callable[[], None]) -> None:
        """Look again and again, and call `note` each time."""
        while True:
            with suppress(ParleyError, sqlite3.Error):  # the tables are made by the first node
                self._seen = await asyncio.to_thread(self._read)
            note()
            await asyncio.sleep(LOOK_EVERY)

    def shown(self) -> Iterator[ShownNode]:
        for name in self.nodes.programs:
            runs = name in self.nodes.running
            yield ShownNode(name, runs, self._about_running(name) if runs else self._about_stopped(name))

    def _about_running(self, name: str) -> str:
        seen = self._seen.get(name)
        if seen is None or seen.pid != self.nodes.programs[name].pid:
            return "is starting"
        received = sorted({found[1].title() for lease in seen.leases if (found := _RECEIVES.match(lease))})
        return f"works on {_chats(seen.chats)}" + (f", receives from {', '.join(received)}" if received else "")

    def _about_stopped(self, name: str) -> str:
        seen = self._seen.get(name)
        if seen is None:
            return "is stopped; the others do its work"
        if self.nodes.running:
            return f"is stopped; others are about to take over {_chats(seen.chats)}"
        return f"is stopped; it worked on {_chats(seen.chats)}"

    def _read(self) -> Mapping[str, NodeStatus]:
        with self._server.read() as connection:
            return {node.name: node for node in node_statuses(connection)}  # the one that started last


def _chats(number: int) -> str:
    return f"{number or 'no'} chat{'' if number == 1 else 's'}"
