"""The page after years of use: 10,000 conversations, of which one has 20,000 messages.

A running Parley is asked over HTTP for the list, for the conversation page by page, and for what a search finds.
`screens.py` opens each screen of such a page in Chromium.
"""

import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from aiohttp import ClientSession, CookieJar

from agent_core.clock import SystemClock, new_id
from agent_core.messages import user
from agent_core.origin import CLEAN
from bench.bot import PARLEY, Bot
from bench.figures import Figure
from channels.base import MessageReceived, OutboundMessage, Sender
from channels.web.adapter import CHAT
from gateway.store.opening import FILE
from gateway.store.outbox import insert, rows_of
from gateway.store.rows import Post
from gateway.store.search import index
from gateway.store.store import Store
from tests.end_to_end.opened_page import link_of
from tests.entering import sign_in
from tests.process import SILENT

CONVERSATIONS = 10_000
MESSAGES = 20_000
TIMES = 20
"""How often the list is read."""
LONG = CHAT.model_copy(update={"thread": "the-long-one"})
YESTERDAY = 86_400.0


async def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        bot = await filled(Path(folder))
        await bot.launch()
        try:
            link = await link_of(bot)
            async with ClientSession(link.partition("?")[0], cookie_jar=CookieJar(unsafe=True)) as client:
                await sign_in(client, link)
                return await _read(client)
        finally:
            await bot.stop()


async def filled(folder: Path) -> Bot:
    """Return a Parley with a page and a store that was filled; it is not started yet."""
    bot = Bot(folder, PARLEY)
    bot.set("PARLEY_WEB_PORT", "0")
    for name, value in SILENT.items():
        bot.set(name, value)
    bot.home.mkdir()
    await _fill(bot.home)
    return bot


async def _fill(home: Path) -> None:
    began = time.time() - YESTERDAY
    async with Store.open(home, SystemClock(), new_id) as store:
        for number in range(CONVERSATIONS - 1):
            chat = CHAT.model_copy(update={"thread": f"conversation-{number}"})
            store.conversations.heard(chat, f"About the matter number {number}", began - number)
        store.conversations.heard(LONG, "The long one", began)
        await store.check_writable()
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        for number in range(MESSAGES // 2):
            _exchange(connection, number, began + number)
        connection.execute("COMMIT")


def _exchange(connection: sqlite3.Connection, number: int, at: float) -> None:
    """Store a message of the person, and the answer to it."""
    words = f"message {number} about the garden" + (" and a rare heron" if number == 0 else "")
    said = MessageReceived(
        event_id=f"web:{number}",
        chat=LONG,
        sender=Sender(id="local", name="You"),
        at=at,
        message_id=f"{number}",
        text=words,
    )
    inbox = (said.event_id, str(LONG), said.message_id, said.model_dump_json(), at)
    connection.execute(
        "INSERT INTO inbox (event_id, chat, message_id, payload, at, state) VALUES (?, ?, ?, ?, ?, 'done')", inbox
    )
    post = Post(
        f"run{number}:0:0", f"run{number}", LONG, OutboundMessage(markdown=f"**Yes**, {words}."), CLEAN, f"ours{number}"
    )
    insert(connection, rows_of([post], at + 0.5))
    connection.execute("UPDATE outbox SET state = 'sent', said_at = at WHERE key = ?", (post.key,))
    message, run = user(words, origin=CLEAN), f"run{number}"
    row = (number + 1, str(LONG), "long", run, message.model_dump_json())
    connection.execute("INSERT INTO transcript (seq, chat, session, run, turn, message) VALUES (?, ?, ?, ?, 0, ?)", row)
    index(connection, [(number + 1, LONG, run, message)])


async def _read(client: ClientSession) -> list[Figure]:
    lists = [(await _get(client, "/api/conversations"))[1] for _ in range(TIMES)]
    pages, count, before = [], 0, ""
    while True:
        found, took = await _get(client, "/api/history", conversation="the-long-one", before=before)
        pages.append(took)
        count += len(found["messages"])
        if not (before := found["before"]):
            break
    frequent = [(await _get(client, "/api/conversations/search", words="garden"))[1] for _ in range(TIMES)]
    rare = [(await _get(client, "/api/conversations/search", words="heron"))[1] for _ in range(TIMES)]
    return [
        Figure(f"the list of {CONVERSATIONS} conversations, slowest of {TIMES}", max(lists), "ms", 100),
        Figure(f"the newest messages of {MESSAGES}", pages[0], "ms", 100),
        Figure(f"each page of these, up to the first: slowest of {len(pages)}", max(pages), "ms", 100),
        Figure("messages of them that no page showed", MESSAGES - count, "", 0),
        Figure("search for a word of each message, median", statistics.median(frequent), "ms", 100),
        Figure("search for a word of one message, median", statistics.median(rare), "ms", 100),
    ]


async def _get(client: ClientSession, path: str, **query: str) -> tuple[dict[str, str], float]:
    began = time.perf_counter()
    async with client.get(path, params=query) as answer:
        answer.raise_for_status()
        found = await answer.json()
    return found, 1000 * (time.perf_counter() - began)
