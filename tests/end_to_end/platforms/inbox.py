"""Parley's received and sent messages, read directly from its store, for platforms that are not told."""

import asyncio
import sqlite3
from pathlib import Path

from tests.end_to_end.tables import stored


async def taken_in(home: Path, chat: str = "%") -> dict[str, int]:
    """Return the number of events by message in matching chats; empty without a store."""
    return await asyncio.to_thread(_read, home, chat)


async def acknowledged(home: Path) -> None:
    """Wait until Parley knows that all it said has arrived; people see a message before that."""
    query = "SELECT 1 FROM outbox WHERE state IN ('pending', 'sending')"
    async with asyncio.timeout(30):
        while await asyncio.to_thread(_rows, home, query):  # noqa: ASYNC110 - there is nothing to be woken by
            await asyncio.sleep(0.01)


def _read(home: Path, chat: str) -> dict[str, int]:
    asked = "SELECT message_id, count(*) FROM inbox WHERE chat LIKE ? GROUP BY message_id"
    return dict(_rows(home, asked, chat))


def _rows(home: Path, asked: str, *values: str) -> list[tuple[str, int]]:
    try:
        return stored(home, asked, *values)
    except sqlite3.OperationalError:
        return []
