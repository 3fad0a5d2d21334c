"""Where nodes share a database, an event that one of them takes is told once, by the one that works on the chat."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.plugins.hooks.plugin import HooksPlugin
from tests.gateway.cluster.nodes import Nodes
from tests.plugins.hooks.sending import SIGN, Hook, shown_in
from tests.postgres import UrlOf, rows
from tests.process import until


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    made = Nodes(tmp_path, url_of(tmp_path))
    async with made.life:
        yield made


async def added(nodes: Nodes) -> Hook:
    """Set a webhook on the first node, which works on the chat from then on."""
    first = nodes.bots[0]
    await first.hears("/hook add builds")
    return shown_in(nodes.sent()[-1])


async def posted(nodes: Nodes, hook: Hook, number: int, *, at: int) -> int:
    """Send an event to a node."""
    body = f'{{"number": {number}}}'.encode()
    signed = {**SIGN["other"](hook.secret, body, 0.0), "Idempotency-Key": str(number)}
    answer = await nodes.bots[at].requests("/hooks", "POST", body, name=hook.address, headers=signed)
    return answer.status


async def test_an_event_is_told_once_whichever_node_takes_it(nodes: Nodes) -> None:
    for _ in range(2):
        await nodes.start(plugins=(HooksPlugin,))
    hook = await added(nodes)
    owner = nodes.owner(nodes.platform.chat("ann"))

    for number in range(4):
        assert await posted(nodes, hook, number, at=number % 2) == 200
        assert await posted(nodes, hook, number, at=(number + 1) % 2) == 200

    await until(lambda: rows(nodes.url, "SELECT count(*) FROM owed") == [(0,)])
    await until(lambda: sum("number" in each for each in nodes.sent()) == 4)
    assert nodes.owner(nodes.platform.chat("ann")) == owner


async def test_with_an_agent_too(nodes: Nodes) -> None:
    await nodes.start("It is fine.", plugins=(HooksPlugin,))
    await nodes.start("It is fine.", plugins=(HooksPlugin,))
    hook = await added(nodes)
    await nodes.bots[0].hears("/hook ask builds Look at it.")

    assert await posted(nodes, hook, 1, at=1) == 200

    await until(lambda: any("It is fine." in each for each in nodes.sent()))
    await until(lambda: rows(nodes.url, "SELECT count(*) FROM owed") == [(0,)])
    await until(lambda: rows(nodes.url, "SELECT state FROM runs") == [("done",)])
