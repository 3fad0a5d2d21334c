"""Code of plugins that hangs, which is given up as soon as it does; other code is waited for however slow it is."""

from concurrent.futures import Future
from threading import Event, Semaphore
from typing import TypeVar

import pytest

from gateway.app import plugins

HANG = "from tests.plugins.hanging import hang; hang()"
"""A line of a plugin that hangs."""
T = TypeVar("T")
_hanging = Semaphore(0)
"""Released by code that hangs."""


def hang() -> None:
    """Hang, and say so."""
    _hanging.release()
    Event().wait(60)


class Impatient(Future[T]):
    """A result that is given up once the code that has to bring it hangs, whatever the limit in seconds is."""

    def result(self, timeout: float | None = None) -> T:
        while not self.done():
            if _hanging.acquire(timeout=0.01):
                raise TimeoutError
        return super().result()


@pytest.fixture
def given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up code that hangs at once, and no other."""
    monkeypatch.setattr("tests.plugins.hanging._hanging", Semaphore(0))
    monkeypatch.setattr(plugins, "Future", Impatient)
