"""The open runs of a chat that are not driven now: left by the previous process, or waiting for room in a budget."""

import asyncio
from collections.abc import Callable

from gateway.store.rows import Run


class OpenRuns:
    """Holds what a chat goes on with. On disk these are open runs as any other."""

    def __init__(self) -> None:
        self.restored: list[Run] = []
        """Those of the previous process, in the order in which they go on."""
        self._paused: dict[str, tuple[Run, asyncio.Task[None]]] = {}
        """By their ids those that wait for room while others go on, each with the task that waits."""

    @property
    def paused(self) -> list[Run]:
        return [run for run, _ in self._paused.values()]

    @property
    def has_next(self) -> bool:
        return bool(self.restored) or any(wait.done() for _, wait in self._paused.values())

    def is_paused_for(self, person: str) -> bool:
        """Return True if a run of this user waits, as new messages of theirs then do."""
        return any(run.person == person for run in self.paused)

    def pause(self, run: Run, wait: "asyncio.Task[None]") -> None:
        """Hold a run that may go on once `wait` is over."""
        self._paused[run.id] = run, wait

    def next(self) -> Run | None:
        """Remove and return the run to go on with, if there is one."""
        if self.restored:
            return self.restored.pop(0)
        ready = next((run for run, wait in self._paused.values() if wait.done()), None)
        if ready is not None:
            del self._paused[ready.id]
        return ready

    def take_restored(self) -> list[Run]:
        taken, self.restored = self.restored, []
        return taken

    def take_paused(self, is_meant: Callable[[Run], bool]) -> list[Run]:
        """Remove and return paused runs that are to end."""
        taken = [run for run in self.paused if is_meant(run)]
        for run in taken:
            _, wait = self._paused.pop(run.id)
            wait.cancel()
        return taken

    def take(self, is_meant: Callable[[Run], bool]) -> list[Run]:
        """Remove and return runs that are to end."""
        taken = [run for run in self.restored if is_meant(run)]
        self.restored = [run for run in self.restored if run not in taken]
        return taken + self.take_paused(is_meant)
