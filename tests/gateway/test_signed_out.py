"""The streams of a signed-out browser end once it is stored that it is out."""

import asyncio
from collections.abc import Collection
from pathlib import Path

import pytest

from gateway.store.browsers import Browsers
from tests.gateway.test_sign_in import ended
from tests.page_server import Page, history, tab

pytestmark = pytest.mark.both_loops


async def test_a_stream_ends_once_it_is_stored_that_its_browser_is_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(tmp_path)
    stored, delete = asyncio.Event(), Browsers.delete

    async def late(rows: Browsers, digests: Collection[str]) -> None:
        await stored.wait()
        await delete(rows, digests)

    async with page.open(), page.browser() as client, tab(client, (await history(client))["last"]) as stream:
        monkeypatch.setattr(Browsers, "delete", late)
        out = asyncio.create_task(page.server.access.sessions.sign_out(lambda _: True))
        ending = asyncio.create_task(ended(stream))
        await asyncio.wait([ending], timeout=0.3)
        assert not ending.done()
        stored.set()
        await asyncio.gather(out, ending)
