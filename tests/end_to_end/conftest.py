"""Parley on each platform with an emulated model, shared by the tests of a module or owned by a single test."""

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram import TelegramEmulator
from tests.end_to_end.browser import chromium
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.platforms.catalogue import FACTS, KINDS
from tests.end_to_end.platforms.discord import Discord
from tests.end_to_end.platforms.emulated import Emulated
from tests.end_to_end.platforms.platform import Platform
from tests.end_to_end.platforms.slack import Slack, SlackPane
from tests.end_to_end.platforms.telegram import Telegram
from tests.end_to_end.program import Program
from tests.end_to_end.stage import MakeProgram, Stage
from tests.in_turn import chosen
from tests.postgres import databases

Kind = Callable[[], Platform]
ALSO_WITH_NODES = "test_conversation"
"""The module whose tests run with nodes too, beside one process, with `--all-platforms`."""
NODES, WIDEST = 3, "slack"
"""How many then, and on which platform: the one that gives events to all of them."""
ALSO_IN_THE_PANE = ("test_conversation", "test_commands", "test_kill", "test_trouble")
"""The modules whose tests then run also where Slack streams the answers."""
PANE = "slack in the pane"
WITH_NODES = 300
"""Seconds for a test with nodes: each of its starts is that of several processes."""
FAILED = pytest.StashKey[bool]()
"""True for a test that has failed."""
SHOWN = 6000
"""Characters of Parley's log, and of its calls, that are shown with a test that failed: their ends."""
VARIED = pytest.StashKey[bool]()
"""True for a test whose platforms are chosen: it may be below two conftests with this hook."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "where(condition): runs on the platforms of which it is true")
    config.addinivalue_line("markers", "command_line: Parley is started as a person starts it, and not forked")
    config.addinivalue_line("markers", "fresh(reason): Parley is started anew before the test")
    config.addinivalue_line("markers", "quick_clock: the clock of Parley and of the platform's rate limits runs faster")
    config.addinivalue_line("markers", "one_process(reason, on): does not run with nodes, on all platforms or on these")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether the test failed, and show with it what Parley logged and asked of the platform."""
    report = yield
    item.stash[FAILED] = report.failed
    stage = getattr(item, "funcargs", {}).get("stage")
    if report.failed and isinstance(stage, Stage):
        report.sections.append(("log of Parley", stage.program.console[-SHOWN:]))
        if isinstance(stage.platform, Emulated):
            report.sections.append(("calls of Parley", "\n".join(map(str, stage.net.emulator.calls))[-SHOWN:]))
    return report


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on one of the platforms that its marks allow, or on all of them with `--all-platforms`.

    With `--nodes` it runs with nodes, on platforms where people are not connected to one of them.
    """
    test = metafunc.definition
    if "platform_kind" not in metafunc.fixturenames or test.stash.get(VARIED, False):
        return
    test.stash[VARIED] = True
    conditions = [mark.args[0] for mark in test.iter_markers("where")]
    names = [name for name, facts in FACTS.items() if all(condition(facts) for condition in conditions)]
    assert names, f"{test.nodeid} runs nowhere"
    if "node_count" not in metafunc.fixturenames:  # it starts nodes itself
        names = list(chosen(metafunc, names))
        metafunc.parametrize("platform_kind", [KINDS[name] for name in names], ids=names, scope="module")
        return
    variants = _variants(metafunc, names)
    ids = [f"{name} with {nodes} nodes" if nodes else name for name, nodes in variants]
    pairs = [(KINDS[name], nodes) for name, nodes in variants]
    metafunc.parametrize(("platform_kind", "node_count"), pairs, ids=ids, scope="module")


def _variants(metafunc: pytest.Metafunc, names: Sequence[str]) -> list[tuple[str, int]]:
    """Return the platforms to run a test on, each with the number of nodes, or 0 for one process."""
    without = {
        name for mark in metafunc.definition.iter_markers("one_process") for name in mark.kwargs.get("on", names)
    }
    with_nodes = [name for name in names if FACTS[name].emulated and name not in without]
    nodes = metafunc.config.getoption("nodes")
    if nodes:
        return [(name, nodes) for name in (chosen(metafunc, with_nodes) if with_nodes else ())]
    variants = [(name, 0) for name in chosen(metafunc, names)]
    if not metafunc.config.getoption("all_platforms"):
        return variants
    if metafunc.module.__name__.endswith(ALSO_WITH_NODES):
        variants += [(name, NODES) for name in with_nodes if name == WIDEST]
    if metafunc.module.__name__.endswith(ALSO_IN_THE_PANE):
        conditions = [mark.args[0] for mark in metafunc.definition.iter_markers("where")]
        if all(condition(SlackPane.facts) for condition in conditions):
            variants.append((PANE, 0))
    return variants


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give tests with nodes more time in all, and with `--nodes` leave out those without.

    Each wait of theirs has the same limit as with one process.
    """
    for item in items:
        if _node_count(item):
            item.add_marker(pytest.mark.timeout(WITH_NODES), append=False)
    nodes = config.getoption("nodes")
    if nodes:
        config.hook.pytest_deselected(items=[item for item in items if _node_count(item) != nodes])
        items[:] = [item for item in items if _node_count(item) == nodes]


def _node_count(item: pytest.Item) -> object:
    return item.callspec.params.get("node_count") if hasattr(item, "callspec") else None


@pytest.fixture(scope="module")
def make_program(node_count: int, request: pytest.FixtureRequest) -> Iterator[MakeProgram]:
    """What makes the program of a stage: one process, or nodes with a database of their own."""
    if not node_count:
        yield Program
        return
    server, ready = (request.getfixturevalue(name) for name in ("postgres_server", "ready_database"))
    with databases(server, ready) as url_of:
        yield lambda folder, environ: Cluster(folder, environ, url=url_of(folder), size=node_count)


def _is_quick(request: pytest.FixtureRequest) -> bool:
    """Return True for tests with a quick clock; nodes have that of their database."""
    is_marked = request.node.get_closest_marker("quick_clock") is not None
    return is_marked and not request.getfixturevalue("node_count")


@asynccontextmanager
async def opened(
    folder: Path, platform_kind: Kind, make_program: MakeProgram, *, quick: bool = False
) -> AsyncIterator[Stage]:
    async with platform_kind() as platform:
        stage = Stage(folder, platform, make_program)
        async with stage.model:
            stage.settle_in()
            if quick and platform.facts.emulated:
                stage.quicken()
            try:
                yield stage
            finally:
                await stage.program.kill()
                (stage.program.home / "ballast").unlink(missing_ok=True)  # 64 MB, and many homes are kept until the end


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(
    platform_kind: Kind,
    make_program: MakeProgram,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("parley")
    async with opened(folder, platform_kind, make_program, quick=_is_quick(request)) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="module")
async def stage(shared_stage: Stage, request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """Yield a stage on which Parley is running. Its process is shared by the tests of a module unless one of them ended
    it or failed; each test has users of its own."""
    shared_stage.program.forked = request.node.get_closest_marker("command_line") is None
    if not shared_stage.program.forked or request.node.get_closest_marker("fresh"):
        await shared_stage.program.kill()
    if not shared_stage.program.is_running:
        await shared_stage.start()
    await shared_stage.clear()
    yield shared_stage
    is_whole = False
    try:
        shared_stage.check()
        is_whole = not request.node.stash.get(FAILED, False)
    finally:
        if not is_whole:
            await shared_stage.forget()  # a run that it left would take the answers of the next test


@pytest.fixture
def telegram(stage: Stage) -> TelegramEmulator:
    """Return the emulator, for tests of Telegram alone."""
    assert isinstance(stage.platform, Telegram)
    return stage.platform.telegram


@pytest_asyncio.fixture
async def own_stage(
    platform_kind: Kind, make_program: MakeProgram, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Stage]:
    """Yield a stage on which Parley is not started; the test may end it."""
    async with opened(tmp_path, platform_kind, make_program, quick=_is_quick(request)) as stage:
        yield stage
        stage.check()


@pytest.fixture
def slack(stage: Stage) -> SlackEmulator:
    """Return the emulator, for tests of Slack alone."""
    assert isinstance(stage.platform, Slack)
    return stage.platform.slack


@pytest.fixture
def discord(stage: Stage) -> DiscordEmulator:
    """Return the emulator, for tests of Discord alone."""
    assert isinstance(stage.platform, Discord)
    return stage.platform.discord


@pytest.fixture
def own_discord(own_stage: Stage) -> DiscordEmulator:
    assert isinstance(own_stage.platform, Discord)
    return own_stage.platform.discord


@pytest.fixture
def own_slack(own_stage: Stage) -> SlackEmulator:
    assert isinstance(own_stage.platform, Slack)
    return own_stage.platform.slack


@pytest.fixture
def own_telegram(own_stage: Stage) -> TelegramEmulator:
    assert isinstance(own_stage.platform, Telegram)
    return own_stage.platform.telegram


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started
