"""An operator's tools are told whether Parley is ready."""

import re
from pathlib import Path

import pytest

from tests.gateway.conftest import StartBot
from tests.gateway.operation import watched


async def test_while_it_starts_it_is_not_ready(tmp_path: Path) -> None:
    async with watched(None, tmp_path) as client:
        async with client.get("/healthz", headers={"Host": "tunnel.example"}) as answer:
            assert (answer.status, await answer.text()) == (200, "ok")
        async with client.get("/readyz") as answer:
            assert (answer.status, await answer.json()) == (
                503,
                {"ready": False, "not_ready": {"program": "is starting or ending"}},
            )


async def test_it_is_ready_until_it_is_stopped(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot()
    async with watched(bot, tmp_path) as client:
        async with client.get("/readyz") as answer:
            assert (answer.status, await answer.json()) == (200, {"ready": True})
        await bot.drains()
        async with client.get("/readyz") as answer:
            assert (answer.status, (await answer.json())["not_ready"]) == (503, {"program": "is being stopped"})


async def test_it_is_not_ready_on_a_disk_that_takes_no_writes(
    start_bot: StartBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot()
    async with watched(bot, tmp_path) as client:
        monkeypatch.setattr("gateway.app.readiness.ENOUGH", 2**80)
        async with client.get("/readyz") as answer:
            found = (await answer.json())["not_ready"]
    assert re.fullmatch(r"only \d+ MB are free", found["disk"])


@pytest.mark.parametrize("host", ["evil.example", "10.0.0.7:8765", "127.0.0.1.evil.example"])
async def test_no_web_page_reads_it_under_a_name_that_it_has_pointed_here(
    start_bot: StartBot, tmp_path: Path, host: str
) -> None:
    bot = await start_bot()
    async with watched(bot, tmp_path) as client, client.get("/readyz", headers={"Host": host}) as answer:
        assert answer.status == 403
