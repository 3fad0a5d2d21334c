"""Nodes of one process on a real database."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from gateway.cluster import chat_owners, dispatcher
from gateway.cluster.chat_owners import ChatOwners
from gateway.cluster.dispatcher import NodeDispatcher
from gateway.cluster.node import Node, NodeInfo
from gateway.cluster.ownership import Ownership
from gateway.cluster.signals import NodeSignals
from gateway.delivery import progress_message
from gateway.store.signals import StoreNode
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.cluster.recorded_work import Members, RecordedWork
from tests.postgres import UrlOf


@pytest.fixture(autouse=True)
def no_progress_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is shown after 1.5 s, which nodes take on a busy machine, and stays where one is cut off just then."""
    for name in ("SHOW_AFTER", "SHOW_TOOL_AFTER"):
        monkeypatch.setattr(progress_message, name, 300.0)


@pytest.fixture
def url(tmp_path: Path, url_of: UrlOf) -> str:
    """The address of a database with its tables."""
    return url_of(tmp_path)


@pytest.fixture
async def members(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Members]:
    monkeypatch.setattr(dispatcher, "IDLE_FOR", 0.0)
    monkeypatch.setattr(chat_owners, "BEATEN_WITHIN", 30.0)  # on a busy machine, beats take their time
    found = Members(url)
    async with AsyncExitStack() as life:
        for name in ("one", "two", "three"):
            facts = NodeInfo(name=name, host="here", pid=1, version="0", started=1.0)
            node = await life.enter_async_context(Node.joined(url, facts))
            signals = await life.enter_async_context(NodeSignals.opened(url, node.id))
            opening = Store.open(tmp_path, FakeClock(), numbered(), url=url, node=StoreNode(node, signals))
            store = await life.enter_async_context(opening)
            work = RecordedWork(name, store, found.log, Random(name))  # noqa: S311
            owners = Ownership(node, signals, store.table(ChatOwners))
            sharing = NodeDispatcher(owners, signals, store, work)
            sharing.start()
            life.push_async_callback(sharing.close)
            life.push_async_callback(work.close)
            found.nodes.append(node)
            found.signals.append(signals)
            found.stores.append(store)
            found.works.append(work)
            found.dispatchers.append(sharing)
        await found.all_hear()
        yield found


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    """Whole Parleys, which a test starts."""
    found = Nodes(tmp_path, url_of(tmp_path))
    async with found.life:
        yield found
