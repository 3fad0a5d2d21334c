"""The outbox table."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from channels.base import ChatKey, OutboundMessage
from gateway.store.inbox import item, mark_done
from gateway.store.reading import readable
from gateway.store.rows import InboxItem, Post, PostState
from gateway.store.writer import Change

COLUMNS = "key, run, chat, body, message_id, state"
ORDER = "at, length(key), key"
"""Posts of one run are noted at the same time, and their keys end in numbers: 9 before 10."""


def add(posts: Sequence[Post], settled: Sequence[int], now: float) -> Change[None]:
    rows = rows_of(posts, now)

    def change(connection: sqlite3.Connection) -> None:
        insert(connection, rows)
        mark_done(connection, settled)

    return change


def rows_of(posts: Sequence[Post], now: float) -> list[tuple[str, str, str, str, str | None, float]]:
    return [
        (post.key, post.run, str(post.chat), post.message.model_dump_json(), post.message_id, now) for post in posts
    ]


def insert(connection: sqlite3.Connection, rows: Sequence[tuple[str, str, str, str, str | None, float]]) -> None:
    """A key that is there already keeps its row, unless it was sent: then this is what it shall say now."""
    if rows:
        connection.executemany(
            "INSERT INTO outbox (key, run, chat, body, message_id, at) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET body = excluded.body, state = 'pending',"
            " message_id = coalesce(excluded.message_id, message_id)",
            rows,
        )


def sending(key: str) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE key = ?", (key,))

    return change


def sent(post: Post, message_id: str) -> Change[None]:
    body = post.message.model_dump_json()

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE outbox SET state = 'sent', message_id = ?, body = ? WHERE key = ?", (message_id, body, post.key)
        )
        connection.execute("UPDATE chats SET spoke = 1 WHERE chat = ? AND spoke = 0", (str(post.chat),))

    return change


def failed(key: str, reason: str) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE outbox SET state = 'failed', reason = ? WHERE key = ?", (reason, key))

    return change


def unsent(connection: sqlite3.Connection) -> list[Post]:
    """What an earlier life left. Any of it may have been sent: that a send begins is written after it has begun."""
    query = f"SELECT {COLUMNS} FROM outbox WHERE state IN ('pending', 'sending') ORDER BY {ORDER}"  # noqa: S608
    posts = readable(connection.execute(query), _post, "outbox")
    return [replace(post, state=PostState.SENDING) for post in posts]


def find(connection: sqlite3.Connection, key: str) -> Post | None:
    query = f"SELECT {COLUMNS} FROM outbox WHERE key = ?"  # noqa: S608
    row = connection.execute(query, (key,)).fetchone()
    return _post(row) if row else None


def reads_now(connection: sqlite3.Connection, chat: ChatKey, message_id: str) -> Post | None:
    """The newest of the posts that made or edited a message; what answers a press comes behind what was pressed."""
    query = (
        f"SELECT {COLUMNS} FROM outbox WHERE chat = ? AND message_id = ? AND state = 'sent'"  # noqa: S608
        " ORDER BY at DESC, key LIKE 'inbox-%' DESC, length(key) DESC, key DESC LIMIT 1"
    )
    row = connection.execute(query, (str(chat), message_id)).fetchone()
    return _post(row) if row else None


def parts(connection: sqlite3.Connection, chat: ChatKey, message_id: str) -> list[Post]:
    """All parts of the message of ours of which one has this id, as it read before anybody pressed a button on it;
    empty where it is none of ours."""
    query = (
        "SELECT key FROM outbox WHERE chat = ? AND message_id = ? AND state = 'sent'"
        " ORDER BY key LIKE 'inbox-%', at DESC, length(key) DESC, key DESC LIMIT 1"
    )
    row = connection.execute(query, (str(chat), message_id)).fetchone()
    found: list[Post] = []
    whole = row[0].rpartition(":")[0] if row else ""
    while (part := find(connection, f"{whole}:{len(found)}")) is not None:
        found.append(part)
    return found


def screen(connection: sqlite3.Connection, chat: ChatKey, most: int) -> list[tuple[float, InboxItem | Post]]:
    found: list[tuple[float, InboxItem | Post]] = []
    query = "SELECT seq, payload, at FROM inbox WHERE chat = ? ORDER BY seq DESC LIMIT ?"
    heard = connection.execute(query, (str(chat), most))
    found.extend(readable(heard, lambda row: (row[2], item(row[:2])), "inbox"))
    newest = "at DESC, length(key) DESC, key DESC"
    query = f"SELECT {COLUMNS}, at FROM outbox WHERE chat = ? AND state = 'sent' ORDER BY {newest} LIMIT ?"  # noqa: S608
    said = connection.execute(query, (str(chat), most))
    found.extend(readable(said, lambda row: (row[6], _post(row)), "outbox"))
    found.reverse()
    found.sort(key=lambda pair: pair[0])
    return found[-most:]


def _post(row: Sequence[str]) -> Post:
    key, run, chat, body, message_id, state = row[:6]
    return Post(
        key=key,
        run=run,
        chat=ChatKey.parse(chat),
        message=OutboundMessage.model_validate_json(body),
        message_id=message_id,
        state=PostState(state),
    )
