"""An owner watches nodes come and go, in a real browser."""

from pathlib import Path

from playwright.async_api import Browser, expect
from pydantic import SecretStr

from gateway.cluster.node import Node, NodeInfo
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world
from tests.postgres import UrlOf

pytestmark = NEEDS_BROWSER

OTHER = NodeInfo(name="other", host="elsewhere", pid=7, version="1.0", started=1_795_170_240.0)


async def test_the_nodes_that_are_shown_follow_by_themselves(browser: Browser, tmp_path: Path, url_of: UrlOf) -> None:
    url = url_of(tmp_path)
    async with (
        admin_world(tmp_path, database=url, settings={"database_url": SecretStr(url)}) as world,
        world.tab(browser, "nodes") as tab,
    ):
        other = tab.get_by_text("other", exact=True)
        await expect(other).to_be_hidden()
        async with Node.joined(url, OTHER):
            await expect(other).to_be_visible()
            await accessible(tab)
        await expect(other).to_be_hidden()
