"""The table of outbound messages."""

import json
import sqlite3
from collections.abc import Sequence

from channels.base import ChatKey, OutboundMessage
from gateway.store.inbox import item, mark_done
from gateway.store.reading import readable
from gateway.store.rows import InboxItem, Offered, Post, PostState
from gateway.store.writer import Change

COLUMNS = "key, run, chat, body, message_id, state, unknown, at"
MOST_IDS = 1_000
_SAYS_YES = '"says":"yes"'
"""In the JSON of a message with a button that a plain "yes" presses."""
_REPLY = "inbox-"
"""Key prefix of what answers a command or a press."""
ORDER = "at, length(key), key"
"""Posts of one run share a time, and their keys end in numbers: 9 sorts before 10."""


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
    """Insert posts. An existing key is updated and sent again, as an edit if it has a message id."""
    if rows:
        connection.executemany(
            "INSERT INTO outbox (key, run, chat, body, message_id, at) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET body = excluded.body, state = 'pending',"
            " message_id = coalesce(excluded.message_id, message_id)",
            rows,
        )


def sending(key: str, unknown: int) -> Change[None]:
    query = "UPDATE outbox SET state = 'sending', attempts = attempts + 1, unknown = ? WHERE key = ?"

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(query, (unknown, key))

    return change


def not_sent(key: str, unknown: int) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE outbox SET unknown = ? WHERE key = ?", (unknown, key))

    return change


def unconfirmed(key: str, reason: str) -> Change[None]:
    query = "UPDATE outbox SET state = 'failed', reason = ?, unconfirmed = 1 WHERE key = ?"

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(query, (reason, key))

    return change


def offer(post: Post, now: float) -> Change[None]:
    noted = add([post], (), now)

    def change(connection: sqlite3.Connection) -> None:
        noted(connection)
        connection.execute("UPDATE outbox SET unconfirmed = 2 WHERE chat = ? AND unconfirmed = 1", (str(post.chat),))

    return change


def to_offer(connection: sqlite3.Connection) -> list[ChatKey]:
    found = connection.execute("SELECT DISTINCT chat FROM outbox WHERE unconfirmed = 1")
    return list(readable(found, lambda row: ChatKey.parse(row[0]), "outbox"))


def last_unconfirmed(connection: sqlite3.Connection, chat: ChatKey) -> list[Post]:
    query = f"SELECT {COLUMNS} FROM outbox WHERE chat = ? AND unconfirmed > 0 ORDER BY {ORDER}"  # noqa: S608
    found = list(readable(connection.execute(query, (str(chat),)), _post, "outbox"))
    return [post for post in found if post.run == found[-1].run]


def message_ids(connection: sqlite3.Connection, chat: ChatKey) -> frozenset[str]:
    query = "SELECT message_id FROM outbox WHERE chat = ? AND message_id IS NOT NULL ORDER BY at DESC LIMIT ?"
    return frozenset(row[0] for row in connection.execute(query, (str(chat), MOST_IDS)))


def sent(post: Post, message_id: str, at: float) -> Change[None]:
    body = post.message.model_dump_json()

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE outbox SET state = 'sent', message_id = ?, body = ?, said_at = ? WHERE key = ?",
            (message_id, body, at, post.key),
        )
        connection.execute("UPDATE chats SET spoke = 1 WHERE chat = ? AND spoke = 0", (str(post.chat),))

    return change


def failed(key: str, reason: str) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE outbox SET state = 'failed', reason = ? WHERE key = ?", (reason, key))

    return change


def unsent(connection: sqlite3.Connection) -> list[Post]:
    """Return posts left by an earlier process start. Each may have been sent: a send begins before it is recorded."""
    query = f"SELECT {COLUMNS} FROM outbox WHERE state IN ('pending', 'sending') ORDER BY {ORDER}"  # noqa: S608
    posts = readable(connection.execute(query), _post, "outbox")
    return [post.of_earlier_life() for post in posts]


def find(connection: sqlite3.Connection, key: str) -> Post | None:
    query = f"SELECT {COLUMNS} FROM outbox WHERE key = ?"  # noqa: S608
    row = connection.execute(query, (key,)).fetchone()
    return _post(row) if row else None


def reads_now(connection: sqlite3.Connection, chat: ChatKey, message_id: str) -> Post | None:
    """Return the newest post that made or edited a message; the reply to a button press counts as newer."""
    query = (
        f"SELECT {COLUMNS} FROM outbox WHERE chat = ? AND message_id = ? AND state = 'sent'"  # noqa: S608
        " ORDER BY at DESC, key LIKE 'inbox-%' DESC, length(key) DESC, key DESC LIMIT 1"
    )
    row = connection.execute(query, (str(chat), message_id)).fetchone()
    return _post(row) if row else None


def pressed(connection: sqlite3.Connection, chat: ChatKey, message_id: str, action: str) -> Post | None:
    """Return the current version of the message whose button with this action was pressed.

    A press proves that the message is there, even if its send is not acknowledged yet or never was. Where the
    acknowledgement was lost, there may be two copies, and only one of them is known.
    """
    known = reads_now(connection, chat, message_id)
    if known is not None and (known.has_button(action) or known.key.startswith(_REPLY)):
        return known
    query = (
        f"SELECT {COLUMNS} FROM outbox WHERE chat = ? AND instr(body, ?)"  # noqa: S608
        " AND (state != 'sent' OR message_id != ?) ORDER BY at DESC"
    )
    rows = connection.execute(query, (str(chat), json.dumps(action, ensure_ascii=False)[1:-1], message_id))
    found = readable(rows, _post, "outbox")
    return next((post for post in found if post.has_button(action)), known)


def parts(connection: sqlite3.Connection, chat: ChatKey, message_id: str) -> list[Post]:
    """Return all parts of the message of which one has this id, as sent, before any button was pressed.

    Returns an empty list if the message is not one of ours.
    """
    query = (
        "SELECT key FROM outbox WHERE chat = ? AND message_id = ? AND state = 'sent'"
        " ORDER BY key LIKE 'inbox-%', at DESC, length(key) DESC, key DESC LIMIT 1"
    )
    row = connection.execute(query, (str(chat), message_id)).fetchone()
    if row is None:
        return []
    found: list[Post] = []
    whole = row[0].rpartition(":")[0]
    while (part := find(connection, f"{whole}:{len(found)}")) is not None:
        found.append(part)
    only = find(connection, row[0])  # keys of questions and files, which are never split, have no number
    return found or [only] if only else []


def offers(connection: sqlite3.Connection, chat: ChatKey, since: float) -> list[Offered]:
    """Return messages that ask for a yes, without those that were rewritten since, for instance by a button press."""
    query = (
        f"SELECT {COLUMNS}, said_at FROM outbox WHERE chat = ? AND at >= ? AND state != 'failed'"  # noqa: S608
        f" AND instr(body, ?) ORDER BY {ORDER}"
    )
    rows = connection.execute(query, (str(chat), since, _SAYS_YES))
    found = list(readable(rows, lambda row: Offered(_post(row), row[8]), "outbox"))
    return [each for each in found if _reads_so(connection, each.post)]


def spoke_unasked(connection: sqlite3.Connection, chat: ChatKey, since: float) -> bool:
    query = (
        "SELECT 1 FROM outbox WHERE chat = ? AND said_at >= ? AND state = 'sent' AND key LIKE '%:proactive:%' LIMIT 1"
    )
    return connection.execute(query, (str(chat), since)).fetchone() is not None


def _reads_so(connection: sqlite3.Connection, post: Post) -> bool:
    now = reads_now(connection, post.chat, post.message_id) if post.message_id else None
    return now is None or now.key == post.key


def screen(connection: sqlite3.Connection, chat: ChatKey, most: int) -> list[tuple[float, InboxItem | Post]]:
    found: list[tuple[float, InboxItem | Post]] = []
    query = "SELECT seq, payload, at FROM inbox WHERE chat = ? ORDER BY seq DESC LIMIT ?"
    heard = connection.execute(query, (str(chat), most))
    found.extend(readable(heard, lambda row: (row[2], item(row[:2])), "inbox"))
    newest = "at DESC, length(key) DESC, key DESC"
    query = f"SELECT {COLUMNS} FROM outbox WHERE chat = ? AND state = 'sent' ORDER BY {newest} LIMIT ?"  # noqa: S608
    said = connection.execute(query, (str(chat), most))
    found.extend(readable(said, lambda row: (row[7], _post(row)), "outbox"))
    found.reverse()
    found.sort(key=lambda pair: pair[0])
    return found[-most:]


def _post(row: Sequence[str]) -> Post:
    key, run, chat, body, message_id, state, unknown, at = row[:8]
    return Post(
        key=key,
        run=run,
        chat=ChatKey.parse(chat),
        message=OutboundMessage.model_validate_json(body),
        message_id=message_id,
        state=PostState(state),
        unknown=int(unknown),
        at=float(at),
    )
