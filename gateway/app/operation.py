"""What the HTTP server tells an operator's tools about Parley, from before it has started until it ends."""

import asyncio
import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, cast

from gateway.app.vitals import Vitals
from gateway.records.metric import Durations, Metric

STARTING: Mapping[str, str] = {"program": "is starting or ending"}


class _Prints(Protocol):
    def __call__(self, metrics: list[Metric | Durations]) -> bytes: ...


class Operation:
    """Answers `/readyz` and `/metrics`."""

    def __init__(self) -> None:
        self._vitals: Vitals | None = None

    @contextmanager
    def of(self, vitals: Vitals) -> Iterator[None]:
        """Report on a running gateway while the context is open."""
        self._vitals = vitals
        try:
            yield
        finally:
            self._vitals = None

    async def unready(self) -> Mapping[str, str]:
        """Return what is not ready, each with the reason."""
        return STARTING if self._vitals is None else await self._vitals.unready()

    async def metrics(self) -> bytes | None:
        """Return the metrics in the format of Prometheus; None before the start."""
        vitals = self._vitals
        if vitals is None:
            return None
        exposition = await asyncio.to_thread(_exposition)
        return exposition(await vitals.metrics())


def _exposition() -> _Prints:
    return cast(_Prints, importlib.import_module("gateway.records.prometheus").exposition)
