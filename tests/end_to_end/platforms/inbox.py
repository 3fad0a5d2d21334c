"""What Parley has taken in, read from its store beside it: for platforms that are not told."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from gateway.store.store import FILE


async def taken_in(home: Path, chat: str = "%") -> dict[str, int]:
    """How many events there are of each message of the chats that are like this; none where there is no store yet."""
    return await asyncio.to_thread(_read, home / FILE, chat)


def _read(path: Path, chat: str) -> dict[str, int]:
    asked = "SELECT message_id, count(*) FROM inbox WHERE chat LIKE ? GROUP BY message_id"
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            return dict(store.execute(asked, (chat,)).fetchall())
    except sqlite3.OperationalError:
        return {}
