"""The metrics plugin: its route, and the token that guards it."""

import asyncio
import hmac
import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, cast

from msgspec import Struct

from gateway.plugin import Plugin, Running
from gateway.plugins.metrics.settings import MetricsSettings
from gateway.records.metric import Durations, Metric
from gateway.settings.current import CurrentSettings
from gateway.web.route import Answer, Asked, Route

TYPE = "text/plain; version=0.0.4; charset=utf-8"


class _Prints(Protocol):
    def __call__(self, metrics: Sequence[Metric | Durations]) -> bytes: ...


class Metrics(Plugin):
    """The route `/metrics`."""

    name = "metrics"
    settings = MetricsSettings
    paths = frozenset({"/metrics"})

    def routes(self, running: Running) -> Mapping[str, Route]:
        return {"/metrics": Exposition(running.metrics, self.core.settings).answer}


class Exposition(Struct, frozen=True):
    """Answers with the metrics in the text format of Prometheus, to those who know the token if one is set."""

    read: Callable[[], Awaitable[Sequence[Metric | Durations]]]
    settings: CurrentSettings

    async def answer(self, asked: Asked) -> Answer:
        if not self._may_read(asked.headers.get("Authorization", "")):
            return Answer(b"a bearer token is needed", status=401, headers={"WWW-Authenticate": "Bearer"})
        prints = await asyncio.to_thread(_prints)
        return Answer(prints(await self.read()), content_type=TYPE)

    def _may_read(self, header: str) -> bool:
        token = self.settings.of(MetricsSettings).token
        if token is None or not token.get_secret_value():
            return True
        return hmac.compare_digest(header.encode("utf-8", "replace"), f"Bearer {token.get_secret_value()}".encode())


def _prints() -> _Prints:
    return cast(_Prints, importlib.import_module("gateway.plugins.metrics.prometheus").exposition)


PLUGIN = Metrics
