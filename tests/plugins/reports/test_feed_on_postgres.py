"""Feeds, with the store on PostgreSQL."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agent_core.tools.web.fetch import Fetcher
from tests.agent_core.web.site import Site
from tests.gateway.jobs.asking import typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TimedBot, make_timed_bot
from tests.plugins.reports.test_feed import (  # noqa: F401 - tests, which run with the fixture below
    test_only_what_is_new_is_told,
    test_the_same_time_tells_the_same_after_a_crash,
)
from tests.postgres import UrlOf


@pytest.fixture
async def start_bot(tmp_path: Path, url_of: UrlOf, site: Site) -> AsyncIterator[StartTimedBot]:
    async with AsyncExitStack() as stack:

        async def start(*turns: object, **how: object) -> TimedBot:
            given = {"fetcher": Fetcher(site.may_reach), "new_request_id": typed_ids(), "database": url_of(tmp_path)}
            bot = make_timed_bot(tmp_path, turns, **given, **how)  # type: ignore[arg-type]
            await bot.start()
            stack.push_async_callback(bot.stop)
            return bot

        yield start
