"""The admin pages are light, and quick also after twenty thousand runs."""

import asyncio
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from aiohttp import ClientSession

from gateway.store.opening import FILE
from tests.gateway.admin.desk import AdminWorld, admin_world

MOST = 150_000
"""Bytes over the wire before the first screen can be used."""
RUNS = 20_000
QUICK = 0.3
"""CPU seconds for a screen."""
LOADED = re.compile(r'(?:src|href)="(/[a-z./-]+\.(?:js|css|svg))"')
IMPORT = re.compile(r'from "(?:\.?/)([a-z]+\.js)"')


async def test_all_that_the_overview_loads_weighs_less_than_150_kb(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        weights: dict[str, int] = {}
        waiting = ["/admin/overview"]
        while waiting:
            path = waiting.pop()
            if path in weights:
                continue
            async with client.get(path) as answer:
                body = (await answer.read()).decode()
                weights[path] = int(answer.headers["Content-Length"])
            waiting += LOADED.findall(body) if path.startswith("/admin/o") else []
            waiting += [f"/{name}" for name in IMPORT.findall(body)] if path.endswith(".js") else []
    assert {"/design.css", "/admin/static/htmx.min.js", "/palette.js"} <= weights.keys()
    assert sum(weights.values()) < MOST, weights


async def test_the_screens_are_quick_after_twenty_thousand_runs(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await asyncio.to_thread(fill, world)
        for path in ("overview", "runs", "runs?sort=cost", "models", "inbox"):
            await seen(client, path)  # what is read once, such as templates
            began = time.process_time()
            assert "Overview" in await seen(client, path)
            assert time.process_time() - began < QUICK, path


async def seen(client: ClientSession, path: str) -> str:
    async with client.get(f"/admin/{path}") as answer:
        assert answer.status == 200
        return await answer.text()


def fill(world: AdminWorld) -> None:
    """Store runs of two weeks, each with two model calls that were paid for. Blocks."""
    chats, now = [str(world.bot.channel.chat(name)) for name in ("ann", "bob")], time.time()
    runs = [(f"r{number}", chats[number % 2], now - number * 60, now - number * 60 + 5) for number in range(RUNS)]
    paid = [(f"{run}-{call}", began, run, chat, "memory:ann") for run, chat, began, _ in runs for call in "ab"]

    with closing(sqlite3.connect(world.bot.home / FILE)) as store, store:
        store.executemany(
            "INSERT INTO runs (run, chat, session, person, state, reason, started, ended, model)"
            " VALUES (?, ?, 's', 'ann', 'done', 'completed', ?, ?, 'scripted')",
            runs,
        )
        store.executemany(
            "INSERT INTO spending (id, at, run, chat, person, job, model, tokens, cost, state)"
            " VALUES (?, ?, ?, ?, ?, '', 'scripted', 100, 1000000, 'settled')",
            paid,
        )
