"""Parley on each platform with an emulated model: one that a module's tests share, or one of a test's own."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.emulators.discord import DiscordEmulator
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.end_to_end.browser import chromium
from tests.end_to_end.platforms.catalogue import FACTS, KINDS
from tests.end_to_end.platforms.discord import Discord
from tests.end_to_end.platforms.platform import Platform
from tests.end_to_end.platforms.slack import Slack
from tests.end_to_end.platforms.telegram import Telegram
from tests.end_to_end.stage import Stage

Kind = Callable[[], Platform]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "where(condition): runs on the platforms of which it is true")
    config.addinivalue_line("markers", "command_line: Parley is started as a person starts it, and not forked")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Once for each platform that the test's marks let through; pytest keeps those of one platform together."""
    if "platform_kind" not in metafunc.fixturenames:
        return
    conditions = [mark.args[0] for mark in metafunc.definition.iter_markers("where")]
    names = [name for name, facts in FACTS.items() if all(condition(facts) for condition in conditions)]
    assert names, f"{metafunc.definition.nodeid} runs nowhere"
    metafunc.parametrize("platform_kind", [KINDS[name] for name in names], ids=names, scope="module")


@asynccontextmanager
async def opened(folder: Path, platform_kind: Kind) -> AsyncIterator[Stage]:
    async with platform_kind() as platform:
        stage = Stage(folder, platform)
        async with stage.model:
            stage.settle_in()
            try:
                yield stage
            finally:
                await stage.program.kill()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(platform_kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with opened(tmp_path_factory.mktemp("parley"), platform_kind) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="module")
async def stage(shared_stage: Stage, request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """Parley runs already, in a process that the tests of a module share, unless one of them left it dead; each test
    brings people of its own."""
    shared_stage.program.forked = request.node.get_closest_marker("command_line") is None
    if not shared_stage.program.forked:
        await shared_stage.program.kill()
    if not shared_stage.program.is_running:
        await shared_stage.start()
    await shared_stage.clear()
    yield shared_stage
    shared_stage.check()


@pytest.fixture
def telegram(stage: Stage) -> TelegramEmulator:
    """For what Telegram alone has."""
    assert isinstance(stage.platform, Telegram)
    return stage.platform.telegram


@pytest_asyncio.fixture
async def own_stage(platform_kind: Kind, tmp_path: Path) -> AsyncIterator[Stage]:
    """Parley is not started yet, and the test may end it as it likes."""
    async with opened(tmp_path, platform_kind) as stage:
        yield stage
        stage.check()


@pytest.fixture
def slack(stage: Stage) -> SlackEmulator:
    """For what Slack alone has."""
    assert isinstance(stage.platform, Slack)
    return stage.platform.slack


@pytest.fixture
def discord(stage: Stage) -> DiscordEmulator:
    """For what Discord alone has."""
    assert isinstance(stage.platform, Discord)
    return stage.platform.discord


@pytest.fixture
def own_discord(own_stage: Stage) -> DiscordEmulator:
    assert isinstance(own_stage.platform, Discord)
    return own_stage.platform.discord


@pytest.fixture
def own_telegram(own_stage: Stage) -> TelegramEmulator:
    assert isinstance(own_stage.platform, Telegram)
    return own_stage.platform.telegram


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started
