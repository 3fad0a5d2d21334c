"""A node whose settings are not those of the others: owners are told, and see it on the page and in /status."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from pydantic import SecretStr

from gateway.cluster.node import Node, NodeInfo
from tests.gateway.admin.desk import admin_world
from tests.postgres import UrlOf, rows
from tests.process import until

FACTS = NodeInfo(name="other", host="elsewhere", pid=7, version="1.0", started=1_795_170_240.0)


@pytest.fixture
async def url(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[str]:
    """The address of a database that another node uses with a model of its own."""
    url = url_of(tmp_path)
    async with Node.joined(url, replace(FACTS, settings=json.dumps({"model": "1234abcd"}))):
        yield url


async def test_owners_are_told_and_see_the_nodes(tmp_path: Path, url: str) -> None:
    settings = {"database_url": SecretStr(url)}
    async with admin_world(tmp_path, database=url, settings=settings) as world, world.client() as client:
        async with client.get("/admin/nodes") as answer:
            page = await answer.text()
        await world.bot.hears("/status")

        await until(lambda: any("Not the same on all nodes: model" in text for text in world.bot.screen))
        [status] = [text for text in world.bot.screen if "**Nodes:** " in text]
    assert "<strong>other</strong>" in page
    assert "1.0, elsewhere, 7" in page
    assert "Not the same on all nodes: model" in page
    assert "other (chats: 0)" in status


async def test_owners_see_which_platforms_a_node_cannot_reach(tmp_path: Path, url: str) -> None:
    rows(url, "UPDATE nodes SET unreachable = 'slack,telegram' WHERE name = 'other'")
    settings = {"database_url": SecretStr(url)}
    async with admin_world(tmp_path, database=url, settings=settings) as world, world.client() as client:
        async with client.get("/admin/nodes") as answer:
            page = await answer.text()
        await world.bot.hears("/status")
        await until(lambda: any("**Nodes:** " in text for text in world.bot.screen))

        assert any("other (chats: 0, cannot reach slack, telegram)" in text for text in world.bot.screen)
    row = page.partition("<strong>other</strong>")[2].partition("</tr>")[0]
    assert '<span class="bad">cannot reach slack, telegram</span>' in row
    assert page.count("cannot reach") == 1


async def test_there_is_no_such_page_where_one_process_has_the_store(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client, client.get("/admin/nodes") as answer:
        assert answer.status == 404
