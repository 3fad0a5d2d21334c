"""Several nodes of Parley on one database in place of one process, for the conversation tests."""

import asyncio
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from gateway.store.server import PostgresServer
from tests.end_to_end.program import START_SECONDS, Program
from tests.end_to_end.reported import ROUTED
from tests.end_to_end.tables import ADDRESS
from tests.postgres import rows

ENGINE = "gateway.cluster.engine"
"""Imported by each node, which takes a while."""
_JOINED = "SELECT pid FROM nodes WHERE NOT fenced"
_READS = (
    "SELECT 1 FROM leases WHERE name = 'catch up slack' AND node IS NOT NULL"
    " AND since < clock_timestamp() - interval '2.5 seconds'"
)
"""Selects a node that has had the time to look for what was missed on Slack, where all let messages wait until then."""
_GAPS = "SELECT 1 FROM read_marks WHERE gap > 0"


class Cluster(Program):
    """Nodes that start, stop and die together, with the interface of one program."""

    def __init__(self, folder: Path, environ: Mapping[str, str], *, url: str, size: int) -> None:
        """`url` is the address of an empty database."""
        super().__init__(folder, environ)
        (folder / ADDRESS).write_text(url)
        self.set("PARLEY_DATABASE_URL", url)
        self._url = url
        self._size = size
        self._nodes: list[Program] = []

    async def launch(self, terminal: int | None = None) -> None:
        """See `Program`. The output of all nodes is appended to one file."""
        if terminal is not None:
            raise AssertionError("nodes have no terminal")
        await PostgresServer(self._url).migrate()
        (self._folder / ROUTED).write_text("")
        self._nodes = [self._node(f"node-{number}") for number in range(1, self._size + 1)]
        await asyncio.gather(*(node.launch() for node in self._nodes))

    async def ready(self) -> None:
        """Wait until all nodes have joined."""

        nodes = {node.pid for node in self._nodes}

        def have_joined() -> bool:
            assert self.is_running, self.console
            return nodes <= {pid for (pid,) in rows(self._url, _JOINED)}

        await _until(have_joined)
        if any(name.startswith("SLACK_") for name in self._environ):
            await _until(lambda: bool(rows(self._url, _READS)))

    async def heard(self) -> None:
        """Wait until all that was stored has come to the node that works on its chat, and waits for no history there.

        The node that reads the history reads it once for a chat of which it hears first by its second message.
        """

        def has_come() -> bool:
            return self._has_routed() and not rows(self._url, _GAPS)

        await _until(has_come)

    @property
    def is_running(self) -> bool:
        """True while the nodes run. Raises AssertionError if only some of them do."""
        states = {node.is_running for node in self._nodes}
        assert len(states) <= 1, f"a node has ended: {self.console}"
        return states == {True}

    async def ended(self) -> int:
        """Wait for all exit codes, and return the highest."""
        return max(await asyncio.gather(*(node.ended() for node in self._nodes)))

    def forget(self) -> None:
        """Delete the home and all tables, once all nodes have ended."""
        super().forget()
        rows(self._url, "DROP SCHEMA IF EXISTS dbos CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public")

    def send(self, which: signal.Signals) -> None:
        for node in self._nodes:
            node.send(which)

    def freeze(self) -> None:
        for node in self._nodes:
            node.freeze()

    def _node(self, name: str) -> Program:
        node = self.twin(self._console.name, PARLEY_NODE_NAME=name)
        node.imports = (*self.imports, ENGINE)
        node.module, node.arguments, node.reports = self.module, self.arguments, True
        return node

    async def _end(self, how: signal.Signals) -> int:
        codes = await asyncio.gather(*(node._end(how) for node in self._nodes))  # noqa: SLF001 - its own class
        return max(codes, default=0)


async def _until(condition: Callable[[], bool]) -> None:
    """Wait for what is read from a database, beside the emulators."""
    async with asyncio.timeout(START_SECONDS):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.02)
