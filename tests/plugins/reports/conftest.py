"""A bot whose clock tests move, and a site on loopback that answers as the services do."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agent_core.tools.web.fetch import Fetcher
from gateway.plugins.reports import github, weather
from tests.agent_core.web.site import Site
from tests.gateway.jobs.asking import typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TimedBot, make_timed_bot


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """A site that stands for Open-Meteo and GitHub, too."""
    async with Site() as site:
        monkeypatch.setattr(weather, "PLACES", f"{site.url}/v1/search")
        monkeypatch.setattr(weather, "FORECAST", f"{site.url}/v1/forecast")
        monkeypatch.setattr(github, "API", site.url)
        yield site


@pytest.fixture
async def start_bot(tmp_path: Path, site: Site) -> AsyncIterator[StartTimedBot]:
    """`await start_bot()` runs a bot that reaches the site until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*turns: object, **how: object) -> TimedBot:
            given = {"fetcher": Fetcher(site.may_reach), "new_request_id": typed_ids(), **how}
            bot = make_timed_bot(tmp_path, turns, **given)  # type: ignore[arg-type]
            await bot.start()
            stack.push_async_callback(bot.stop)
            return bot

        yield start
