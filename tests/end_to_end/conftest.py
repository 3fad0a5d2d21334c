"""Parley on an emulated Telegram with an emulated model: one that a module's tests share, or one of a test's own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.end_to_end.browser import chromium
from tests.end_to_end.program import Stage


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Stage]:
    stage = Stage(folder)
    async with stage.telegram, stage.model:
        stage.settle_in()
        try:
            yield stage
        finally:
            await stage.program.kill()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with opened(tmp_path_factory.mktemp("parley")) as stage:
        await stage.start()
        yield stage


@pytest_asyncio.fixture(loop_scope="module")
async def stage(shared_stage: Stage) -> AsyncIterator[Stage]:
    """Parley runs already, in a process that the tests of a module share; each test brings people of its own."""
    shared_stage.clear()
    yield shared_stage
    shared_stage.check()


@pytest_asyncio.fixture
async def own_stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Parley is not started yet, and the test may end it as it likes."""
    async with opened(tmp_path) as stage:
        yield stage
        stage.check()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started
