"""Faults that a visitor can cause on a platform."""

from collections.abc import Callable, Collection, Mapping

from parley.testing.emulators.control import Call, Effect, Fault
from parley.testing.emulators.server import LoopbackServer

RETRY_AFTER = 3
DUPLICATE = "duplicate"


class Troubles:
    """Faults of every platform, and further ones: name -> (label, immediate action)."""

    def __init__(
        self,
        emulator: LoopbackServer,
        writes: Collection[str],
        more: Mapping[str, tuple[str, Callable[[], object]]],
    ) -> None:
        """`writes` are the calls that send or edit a message."""
        self._emulator = emulator
        self._writes = frozenset(writes)
        self._armed: list[tuple[str, Fault]] = []
        self._kinds: dict[str, tuple[str, Callable[[], object]]] = {
            "refuse": (f"Next message: 429, wait {RETRY_AFTER} s", self._refuse),
            "lose": ("Lose the next answer", self._lose),
            DUPLICATE: ("Next event twice", lambda: emulator.faults.duplicate(1)),
            "drop": ("Drop connections", emulator.kill_connections),
            **more,
        }

    @property
    def labels(self) -> dict[str, str]:
        return {name: label for name, (label, _) in self._kinds.items()}

    @property
    def armed(self) -> tuple[str, ...]:
        """Labels of faults that still wait for a call or an event."""
        self._armed = [(label, fault) for label, fault in self._armed if fault.times]
        waiting = [self._kinds[label][0] for label, _ in self._armed]
        return (*waiting, *[self._kinds[DUPLICATE][0]] * self._emulator.faults.duplicates)

    def cause(self, name: str) -> None:
        """Cause a fault. Raises KeyError for an unknown name."""
        self._kinds[name][1]()
        self._emulator.changes.notify()

    def _refuse(self) -> None:
        self._arm("refuse", Effect(status=429, retry_after=RETRY_AFTER))

    def _lose(self) -> None:
        self._arm("lose", Effect(lose_answer=True))

    def _arm(self, name: str, effect: Effect) -> None:
        self._armed.append((name, self._emulator.faults.add(Fault("*", effect, 1, where=self._is_write))))

    def _is_write(self, call: Call) -> bool:
        return call.method in self._writes
