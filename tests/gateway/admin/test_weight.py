"""The admin pages are light, also after twenty thousand runs of four hundred people; `bench screens` times them."""

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
HEAVIEST = 40_000
"""Of the page itself, without the files that all screens have."""
RUNS = 20_000
PEOPLE = 400
PATHS = (
    *("overview", "runs", "runs?sort=cost", "models", "inbox", "people"),
    *("costs", "costs?by=person", "costs?by=chat&span=month"),
)
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


async def test_the_screens_are_light_after_twenty_thousand_runs(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await asyncio.to_thread(fill, world)
        await world.bot.made.people.membership.reload()
        there = {each.name for each in world.desk.screens}
        for path in (each for each in PATHS if each.partition("?")[0] in there):
            assert await seen(client, path) < HEAVIEST, path


async def seen(client: ClientSession, path: str) -> int:
    """Return the bytes over the wire of a screen without its files."""
    async with client.get(f"/admin/{path}") as answer:
        assert answer.status == 200
        assert "Overview" in await answer.text()
        return int(answer.headers["Content-Length"])


def fill(world: AdminWorld) -> None:
    """Store runs of two weeks, each with two model calls that were paid for. Blocks."""
    names, now = [f"colleague{number}" for number in range(PEOPLE)], time.time()
    chats = {name: str(world.bot.channel.chat(name)) for name in names}
    whose = [names[number % PEOPLE] for number in range(RUNS)]
    runs = [
        (f"r{number}", chats[name], name, now - number * 60, now - number * 60 + 5) for number, name in enumerate(whose)
    ]
    paid = [(f"{run}-{call}", at, run, chat, f"memory:{name}") for run, chat, name, at, _ in runs for call in "ab"]

    with closing(sqlite3.connect(world.bot.home / FILE)) as store, store:
        store.executemany(
            "INSERT INTO people (id, role, is_blocked, given_by, at) VALUES (?, 'member', 0, 'web:local', ?)",
            [(name, now) for name in names],
        )
        store.executemany(
            "INSERT INTO accounts (principal, person, name, chat) VALUES (?, ?, ?, ?)",
            [(f"memory:{name}", name, name.title(), chats[name]) for name in names],
        )
        store.executemany(
            "INSERT INTO runs (run, chat, session, person, state, reason, started, ended, model)"
            " VALUES (?, ?, 's', ?, 'done', 'completed', ?, ?, 'scripted')",
            runs,
        )
        store.executemany(
            "INSERT INTO spending (id, at, run, chat, person, job, model, tokens, cost, state)"
            " VALUES (?, ?, ?, ?, ?, '', 'scripted', 100, 1000000, 'settled')",
            paid,
        )
