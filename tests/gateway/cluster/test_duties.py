"""The work that exists once goes on after an error, on whichever node has it."""

import asyncio
from collections.abc import Callable

import pytest

from agent_core import supervise
from gateway.app.duties import Duties
from gateway.cluster.leases import AllLeases, Ready, Work, at_once
from tests.gateway.cluster.nodes import Nodes


class Failing(AllLeases):
    """Leases of which the first one fails in the middle of its work."""

    has_failed = False

    async def while_held(
        self, name: str, work: Work, *, waits: Callable[[], None] | None = None, is_ready: Ready = at_once
    ) -> None:
        if self.has_failed:
            await work()
        self.has_failed = True
        raise RuntimeError("a mistake")


async def test_duties_go_on_after_an_error_around_their_lease(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "FIRST_PAUSE", 0.01)
    bot, done = await nodes.start(), asyncio.Event()

    async def do() -> None:
        done.set()
        await asyncio.Event().wait()

    duties = asyncio.create_task(Duties({"all": do}, bot.made.supervisor, Failing()).run())
    await asyncio.wait_for(done.wait(), 30)

    duties.cancel()
    await asyncio.wait([duties])
    assert duties.cancelled()
