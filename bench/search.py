"""Search over a million messages, and what the index adds to each message that is stored."""

import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from agent_core.clock import SystemClock, new_id
from agent_core.messages import user
from agent_core.origin import CLEAN
from bench.figures import Figure
from channels.base import ChatKey
from gateway.store.opening import FILE
from gateway.store.search import index
from gateway.store.store import Store

MESSAGES = 1_000_000
CHATS = 200
WORDS = 30
"""Words of a message."""
LEXICON = [f"word{number}" for number in range(3_000)] + list(
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会"
)
RARE = "今天数据库备份完成了"
RARE_EVERY = 5_000
QUERIES = {
    "a frequent word": "word7",
    "two frequent words": "word7 word8",
    "four frequent words": "word7 word8 word9 word10",
    "two characters of Chinese": "数据",
    "a frequent character": "国",
    "an unknown word": "nowhere",
}
TRIES = 15


async def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with Store.open(home, SystemClock(), new_id):
            pass
        bare, indexed = await asyncio.to_thread(_fill, home)
        async with Store.open(home, SystemClock(), new_id) as store:
            found = [
                Figure(f"search {MESSAGES:,} messages for {name}", await _search(store, words), "ms", 100)
                for name, words in QUERIES.items()
            ]
        size = (home / FILE).stat().st_size / MESSAGES
    return [
        *found,
        Figure("store a message of 30 words without the index", bare * 1e6, "µs"),
        Figure("index it", indexed * 1e6, "µs"),
        Figure("bytes on disk a message, with the index", size, ""),
    ]


async def _search(store: Store, words: str) -> float:
    """Return the median time of a search in the 15 busiest chats, in ms."""
    took = []
    for number in range(TRIES):
        began = time.perf_counter()
        await store.search.find([_chat(number)], words, 5)
        took.append(time.perf_counter() - began)
    return 1_000 * statistics.median(took)


def _fill(home: Path) -> tuple[float, float]:
    """Store all messages. Returns the CPU seconds a message without the index, and those that the index adds."""
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        rows = list(_messages())
        bare = _timed(connection, rows, _store)
        indexed = _timed(connection, rows, _index)
    return bare, indexed


def _timed(connection: sqlite3.Connection, rows: list[tuple[int, str]], write: "Write") -> float:
    began = time.process_time()
    connection.execute("BEGIN")
    for seq, (chat, text) in enumerate(rows, start=1):
        write(connection, seq, _chat(chat), text)
    connection.execute("COMMIT")
    return (time.process_time() - began) / len(rows)


Write = Callable[[sqlite3.Connection, int, ChatKey, str], None]


def _store(connection: sqlite3.Connection, seq: int, chat: ChatKey, text: str) -> None:
    row = (seq, str(chat), f"session-{chat.chat}", f"run-{seq}", user(text, origin=CLEAN).model_dump_json())
    connection.execute("INSERT INTO transcript (seq, chat, session, run, turn, message) VALUES (?, ?, ?, ?, 0, ?)", row)


def _index(connection: sqlite3.Connection, seq: int, chat: ChatKey, text: str) -> None:
    index(connection, [(seq, chat, f"run-{seq}", user(text, origin=CLEAN))])


def _messages() -> Iterator[tuple[int, str]]:
    """Yield chats and texts; the first chats have most messages."""
    chance = random.Random(1)  # noqa: S311 (the same texts each time)
    for number in range(MESSAGES):
        text = " ".join(chance.choices(LEXICON, k=WORDS))
        yield int(CHATS * chance.random() ** 3), f"{text} {RARE}" if number % RARE_EVERY == 0 else text


def _chat(number: int) -> ChatKey:
    return ChatKey(platform="telegram", account="1", chat=str(number))
