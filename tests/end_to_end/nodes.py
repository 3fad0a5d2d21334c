"""Several Parleys on one database, with one home, as three machines would run them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gateway.store.server import PostgresServer
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.platforms.platform import Platform
from tests.end_to_end.program import START_SECONDS, Program
from tests.end_to_end.script import Script
from tests.end_to_end.stage import API_KEY, MODEL
from tests.postgres import rows

LOOK_EVERY = 0.05
"""Seconds."""
_HELD = "SELECT leases.name, nodes.name FROM leases JOIN nodes ON nodes.id = node WHERE NOT fenced"
_OPEN = (
    "SELECT 1 FROM inbox WHERE state = 'new' UNION SELECT 1 FROM runs WHERE state = 'running'"
    " UNION SELECT 1 FROM outbox WHERE state IN ('pending', 'sending')"
)
_ALIVE = "SELECT name FROM nodes WHERE NOT fenced"


@dataclass
class Nodes:
    """The programs by name, and what they share."""

    url: str
    script: Script
    model: OpenAiEmulator
    programs: dict[str, Program] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Program:
        return self.programs[name]

    @property
    def log(self) -> str:
        return "\n".join(program.console for program in self.programs.values())

    async def holder(self, lease: str, *, but: str = "") -> str:
        """Wait until a node holds a lease, another one than `but`, and return its name."""
        async with asyncio.timeout(START_SECONDS):
            while True:
                held = {str(name): str(node) for name, node in await asyncio.to_thread(rows, self.url, _HELD)}
                if held.get(lease, but) != but:
                    return held[lease]
                await asyncio.sleep(LOOK_EVERY)

    def shares(self, leases: str) -> Mapping[str, int]:
        """Return how many leases whose names begin so each node holds."""
        held = rows(self.url, _HELD)
        return Counter(str(node) for name, node in held if str(name).startswith(leases))

    async def share(self, leases: str, expected: Mapping[str, int]) -> None:
        """Wait until each node holds so many leases whose names begin so."""
        async with asyncio.timeout(START_SECONDS):
            while await asyncio.to_thread(self.shares, leases) != expected:  # noqa: ASYNC110 - no node announces it
                await asyncio.sleep(LOOK_EVERY)

    async def start(self, *names: str) -> None:
        """Start nodes one after the other, and wait until each has joined."""
        for name in names or self.programs:
            await self.programs[name].launch()
            await self.joined(name)

    async def at_rest(self) -> None:
        """Wait until all that was said and sent is recorded as done."""
        async with asyncio.timeout(START_SECONDS):
            while await asyncio.to_thread(rows, self.url, _OPEN):  # noqa: ASYNC110 - no node announces it
                await asyncio.sleep(LOOK_EVERY)

    def take_for_dead(self, name: str) -> None:
        """Do to a node what the others do once it has been silent for long."""
        [(node,)] = rows(self.url, f"SELECT id FROM nodes WHERE NOT fenced AND name = '{name}'")  # noqa: S608
        rows(self.url, f"UPDATE nodes SET fenced = TRUE WHERE id = '{node}'")  # noqa: S608
        for table in ("chat_owners", "leases"):
            rows(self.url, f"UPDATE {table} SET node = NULL WHERE node = '{node}'")  # noqa: S608

    async def joined(self, name: str) -> None:
        """Wait until a program is one of the nodes."""
        async with asyncio.timeout(START_SECONDS):
            while (name,) not in await asyncio.to_thread(rows, self.url, _ALIVE):
                assert self.programs[name].is_running, self.programs[name].console
                await asyncio.sleep(LOOK_EVERY)


@asynccontextmanager
async def nodes(folder: Path, url: str, ways: Mapping[str, str], platform: Platform) -> AsyncIterator[Nodes]:
    """Make nodes on a platform, which are killed at the end.

    Args:
        folder: That of their home.
        url: The address of their database.
        ways: The address that each node uses, by its name.
        platform: Where they are.
    """
    script = Script()
    async with OpenAiEmulator(script, models=(MODEL,)) as model:
        made = Nodes(url, script, model)
        await PostgresServer(url).migrate()
        for name, way in ways.items():
            environ = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": API_KEY}
            made.programs[name] = Program(folder, environ, console=f"{name}.txt")
            made.programs[name].forked = True
            platform.settle(made.programs[name])
            made.programs[name].set("PARLEY_DATABASE_URL", way)
            made.programs[name].set("PARLEY_NODE_NAME", name)
        try:
            yield made
        finally:
            for program in made.programs.values():
                await program.kill()
