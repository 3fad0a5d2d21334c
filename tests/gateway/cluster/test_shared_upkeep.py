"""Work that is due at the start of a node is done by one of those that start, also after one has failed at it."""

import asyncio
import json
import sqlite3

import pytest

from gateway.store.erasures import Erasures
from gateway.upkeep.forgetting import FILE
from tests.gateway.cluster.nodes import Nodes
from tests.postgres import rows


@pytest.mark.parametrize("fails", [False, True])
async def test_nodes_that_start_together_carry_out_an_erasure_once(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    first = await nodes.start("Noted.")
    await first.channel.hears("the secret is 42", sender="bob")
    await nodes.settled()
    await first.stop()
    nodes.bots.clear()
    (nodes.home / FILE).write_text(f"{json.dumps({'who': 'memory:bob', 'at': 1.0, 'by': 'memory:ann'})}\n")
    scrubbed: list[bool] = []
    scrub = Erasures.scrub

    async def noted(erasures: Erasures) -> None:
        scrubbed.append(True)
        if fails and len(scrubbed) == 1:
            raise sqlite3.OperationalError("the disk is full")
        await scrub(erasures)

    monkeypatch.setattr(Erasures, "scrub", noted)
    await asyncio.gather(*(nodes.start() for _ in range(3)))

    assert len(scrubbed) == 1 + fails
    assert rows(nodes.url, "SELECT who FROM erasures") == [("memory:bob",)]
    assert rows(nodes.url, "SELECT count(*) FROM transcript") == [(0,)]
