"""The open runs of a chat that are not driven now: left by the previous process, or waiting for room in a budget."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from gateway.chat.holds import Hold, Holds, Why
from gateway.store.rows import Run


class _Paused(Struct, frozen=True):
    """A run that waits for room while others go on."""

    run: Run
    wait: "asyncio.Task[None]"
    """Ends when there is room."""
    hold: Hold


class OpenRuns:
    """Holds what a chat goes on with. On disk these are open runs as any other."""

    def __init__(self, holds: Holds) -> None:
        """`holds` keeps what the user of a paused run writes, until that run goes on."""
        self._holds = holds
        self.restored: list[Run] = []
        """Those of the previous process, in the order in which they go on."""
        self._paused: list[_Paused] = []

    @property
    def paused(self) -> list[Run]:
        return [each.run for each in self._paused]

    @property
    def has_next(self) -> bool:
        return bool(self.restored) or (bool(self._paused) and any(each.wait.done() for each in self._paused))

    def is_paused_for(self, person: str) -> bool:
        """Return True if a run of this user waits, as new messages of theirs then do."""
        return any(run.person == person for run in self.paused)

    def pause(self, run: Run, wait: "asyncio.Task[None]") -> None:
        """Hold a run that may go on once `wait` is over."""
        self._paused.append(_Paused(run, wait, self._holds.set(Hold(Why.BUDGET, run.person))))

    def next(self) -> Run | None:
        """Remove and return the run to go on with, if there is one."""
        if self.restored:
            return self.restored.pop(0)
        ready = next((each for each in self._paused if each.wait.done()), None)
        return self._remove(ready) if ready is not None else None

    def take_restored(self) -> list[Run]:
        taken, self.restored = self.restored, []
        return taken

    def take_paused(self, is_meant: Callable[[Run], bool]) -> list[Run]:
        """Remove and return paused runs that are to end."""
        taken = [each for each in self._paused if is_meant(each.run)]
        for each in taken:
            each.wait.cancel()
        return [self._remove(each) for each in taken]

    def take(self, is_meant: Callable[[Run], bool]) -> list[Run]:
        """Remove and return runs that are to end."""
        taken = [run for run in self.restored if is_meant(run)]
        self.restored = [run for run in self.restored if run not in taken]
        return taken + self.take_paused(is_meant)

    def _remove(self, paused: _Paused) -> Run:
        self._paused.remove(paused)
        self._holds.lift(paused.hold)
        return paused.run
