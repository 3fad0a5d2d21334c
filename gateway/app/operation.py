"""Answers an operator's tools, from before the gateway runs until after it has ended."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gateway.app.readiness import Readiness
from gateway.web.route import Answer, Asked, Route

STARTING: Mapping[str, str] = {"program": "is starting or ending"}


class Operation:
    """Answers `/readyz` and the routes of plugins."""

    def __init__(self) -> None:
        self._running: tuple[Readiness, Mapping[str, Route]] | None = None

    @contextmanager
    def of(self, readiness: Readiness, routes: Mapping[str, Route]) -> Iterator[None]:
        """Report on a running gateway while the context is open. `routes` are those of its plugins, by path."""
        self._running = readiness, routes
        try:
            yield
        finally:
            self._running = None

    async def unready(self) -> Mapping[str, str]:
        """Return what is not ready, each with the reason."""
        if self._running is None:
            return STARTING
        readiness, _ = self._running
        return await readiness.unready()

    async def answer(self, path: str, asked: Asked) -> Answer:
        """Return the answer of a plugin's route."""
        if self._running is None:
            return Answer(b"starting", status=503)
        _, routes = self._running
        return await routes[path](asked) if path in routes else Answer(b"not found", status=404)
