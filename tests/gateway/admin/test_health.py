"""The screens of health and the log: what they show, and to whom."""

import io
from pathlib import Path

import pytest
from aiohttp import ClientSession

from gateway.records.recent_log import KEPT, RECENT, Copied, RecentLog
from gateway.security.secrets import Secrets
from tests.gateway.admin.desk import admin_world

SECRET = "sk-live-0123456789abcdef"  # noqa: S105
ATTACK = "<img src=x onerror=alert(1)>"


async def get(client: ClientSession, path: str) -> str:
    async with client.get(f"/admin/{path}") as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


async def test_health_shows_channels_and_the_doctors_findings_with_their_fixes(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        text = await get(client, "health")
        assert "memory" in text
        assert "Check now" in text
        assert "in order" not in text
        checked = await get(client, "health?check=1")
        assert "in order" in checked
        assert "settings: " in checked


async def test_the_log_is_filtered_masked_followed_and_for_owners_only(tmp_path: Path) -> None:
    async with admin_world(tmp_path, secrets=Secrets((SECRET,))) as world, world.client() as client:
        start = RECENT.lines()[-1].number if RECENT.lines() else 0
        RECENT.take(f"level=info event=hello token={SECRET}\nlevel=warning event=careful {ATTACK}\n")
        text = await get(client, f"log?after={start}")
        assert "event=hello" in text
        assert SECRET not in text
        assert ATTACK not in text
        warnings = await get(client, f"log?after={start}&level=warning")
        assert "event=hello" not in warnings
        assert "event=careful" in warnings
        assert "event=hello" not in await get(client, f"log?after={start}&q=careful")
        async with client.get(f"/admin/api/log?after={start}&level=warning") as answer:
            news = await answer.json()
            assert [each["level"] for each in news["lines"]] == ["warning"]
        async with client.get(f"/admin/api/log?after={news['last']}") as answer:
            assert (await answer.json())["lines"] == []


async def test_lines_of_the_log_tell_the_time_in_the_zone_of_the_browser(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        start = RECENT.lines()[-1].number if RECENT.lines() else 0
        RECENT.take("timestamp=2026-11-20T23:24:05.120000Z level=info event=hello until=2026-11-20T23:24:06Z\n")
        async with client.get(f"/admin/log?after={start}", headers={"X-Parley-Zone": "Asia/Tokyo"}) as answer:
            text = await answer.text()
        assert "timestamp=2026-11-21 08:24:05 level=info event=hello until=2026-11-20T23:24:06Z" in text
        assert "timestamp=2026-11-20T23:24:05.120000Z" in await get(client, f"log?after={start}")


@pytest.mark.parametrize("query", ["after=-1", "after=x", "level=secret", f"after={'9' * 30}"])
async def test_a_bad_query_for_the_log_is_no_page(tmp_path: Path, query: str) -> None:
    async with admin_world(tmp_path) as world, world.client() as client, client.get(f"/admin/log?{query}") as answer:
        assert answer.status == 404


async def test_the_last_actions_are_shown(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.") as world, world.client() as client:
        assert "Tool calls and changes by admins appear here" in await get(client, "log")
        await world.bot.hears("/config set keep_days 60")
        await world.bot.made.base.audit.close()
        text = await get(client, "log")
        assert "config keep_days" in text
        assert "memory:ann" in text


def test_a_flood_keeps_only_the_last_lines_and_tracebacks_keep_their_level() -> None:
    log, out = RecentLog(), io.StringIO()
    copied = Copied(out, log)
    copied.write("\x1b[32m2026 [error    ] broken\x1b[0m\nTraceback ...\n  line\n")
    assert log.lines()[0].text == "2026 [error    ] broken"
    assert {each.level for each in log.lines()} == {"error"}
    for number in range(3 * KEPT):
        copied.write(f'{{"level": "info", "event": "{number}"}}\n')
    assert len(log.lines()) == KEPT
    assert len(log.lines(most=200)) == 200
    assert log.lines()[-1].number == 3 * KEPT + 3
    assert "broken" in out.getvalue()
