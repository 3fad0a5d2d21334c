"""Every screen of the page after years: 20,000 runs that were paid for, 400 people, and the conversations of `page`.

Chromium opens each of them as somebody who has bookmarked it, waits until everything of it is there, and tells when the
first words were painted, and how many bytes came over the wire.
"""

import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from playwright.async_api import BrowserContext

from agent_core.messages import user
from agent_core.origin import CLEAN
from bench.figures import Figure
from bench.page_reads import filled
from channels.base import ChatKey, MessageReceived, Sender
from gateway.store.opening import FILE
from tests.end_to_end.browser import CHROMIUM, chromium
from tests.end_to_end.opened_page import link_of
from tests.entering import enter
from tests.gateway.admin.desk import LOADED

RUNS = 20_000
PEOPLE = 400
APART = 120.0
"""Seconds between two runs, so that they fill four weeks."""
OPENED = 5
"""Number of times that a screen is opened."""
LATEST = 300
"""Milliseconds until the first words."""
HEAVIEST = 150
"""Kilobytes over the wire until a screen can be used."""
PATHS = "links => links.map((link) => link.getAttribute('href').slice(1))"
PAINTED = """new Promise((done) => new PerformanceObserver((seen) => done(seen.getEntries().at(-1).startTime))
  .observe({ type: "paint", buffered: true }))"""
TRANSFERRED = """[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, each) => sum + each.transferSize, 0) / 1000"""


async def figures() -> list[Figure]:
    if not CHROMIUM.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        bot = await filled(Path(folder))
        _fill_more(bot.home)
        await bot.launch()
        try:
            return await _opened(await link_of(bot))
        finally:
            await bot.stop()


def _fill_more(home: Path) -> None:
    now = time.time()
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        (seq,) = connection.execute("SELECT max(seq) FROM inbox").fetchone()
        for number in range(PEOPLE):
            _person(connection, number, now)
        for number in range(RUNS):
            _run(connection, number, seq + 1 + number, now - APART * (number + 1))
        connection.execute("COMMIT")


def _person(connection: sqlite3.Connection, number: int, at: float) -> None:
    connection.execute(
        "INSERT INTO people (id, role, is_blocked, given_by, at) VALUES (?, 'member', 0, 'web:local', ?)",
        (f"p{number}", at),
    )
    connection.execute(
        "INSERT INTO accounts (principal, person, name, chat) VALUES (?, ?, ?, ?)",
        (f"telegram:{number}", f"p{number}", f"Colleague {number}", str(_chat_of(number))),
    )


def _chat_of(person: int) -> ChatKey:
    return ChatKey(platform="telegram", account="4242", chat=str(person))


def _run(connection: sqlite3.Connection, number: int, seq: int, at: float) -> None:
    """Store a run of one of the people in their chat, with its question and a model call that was paid for."""
    run, person, chat = f"r{number}", str(number % PEOPLE), _chat_of(number % PEOPLE)
    asked = MessageReceived(
        event_id=f"telegram:{number}",
        chat=chat,
        sender=Sender(id=person, name=f"Colleague {person}"),
        at=at,
        message_id=f"{number}",
        text=f"What has become of order {number}?",
    )
    connection.execute(
        "INSERT INTO inbox (seq, event_id, chat, message_id, payload, at, state) VALUES (?, ?, ?, ?, ?, ?, 'done')",
        (seq, asked.event_id, str(chat), asked.message_id, asked.model_dump_json(), at),
    )
    said = user(asked.text, origin=CLEAN).model_copy(update={"id": f"inbox-{seq}"})
    connection.execute(
        "INSERT INTO transcript (chat, session, run, turn, message) VALUES (?, ?, ?, 0, ?)",
        (str(chat), f"s{person}", run, said.model_dump_json()),
    )
    connection.execute(
        "INSERT INTO runs (run, chat, session, person, state, reason, started, ended, model)"
        " VALUES (?, ?, ?, ?, 'done', 'completed', ?, ?, 'some-model')",
        (run, str(chat), f"s{person}", person, at, at + 5),
    )
    connection.execute(
        "INSERT INTO spending (id, at, run, chat, person, job, model, tokens, cost, state)"
        " VALUES (?, ?, ?, ?, ?, '', 'some-model', 100, 1000000, 'settled')",
        (run, at, run, str(chat), f"telegram:{person}"),
    )


async def _opened(link: str) -> list[Figure]:
    async with chromium() as browser:
        context = await browser.new_context(locale="en-GB")
        tab = await context.new_page()
        await enter(tab, link)
        base = link.partition("?")[0]
        await tab.goto(f"{base}admin/overview")
        await tab.locator("#nav a").first.wait_for()
        paths = await tab.locator("#nav a").evaluate_all(PATHS)
        await tab.close()
        return [figure for path in (*paths, f"admin/runs/r{RUNS - 1}") for figure in await _open(context, base, path)]


async def _open(context: BrowserContext, base: str, path: str) -> list[Figure]:
    """Open a screen several times, each in a new tab. The fastest counts: whatever else the machine does only adds."""
    painted, transferred = [], []
    for _ in range(OPENED):
        tab = await context.new_page()
        await tab.goto(f"{base}{path}")
        await tab.locator("main").wait_for()
        await tab.evaluate(LOADED)
        painted.append(float(await tab.evaluate(PAINTED)))
        transferred.append(float(await tab.evaluate(TRANSFERRED)))
        await tab.close()
    name = path.removeprefix("admin/") or "the chat"
    return [
        Figure(f"{name}: first words, fastest of {OPENED}", min(painted), "ms", LATEST),
        Figure(f"{name}: transferred", statistics.median(transferred), "kB", HEAVIEST),
    ]
