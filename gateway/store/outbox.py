"""The table of outbound messages."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from agent_core.origin import in_line
from channels.base import ChatKey, OutboundMessage, Posted
from channels.values import Known
from gateway.security.secrets import Secrets
from gateway.store.connection import Connection, Work
from gateway.store.further_messages import first_of, further_ids, insert_further, place_of
from gateway.store.inbox import mark_done, parse_item
from gateway.store.reading_place import END, Place
from gateway.store.rows import InboxItem, Offered, Post, PostState
from gateway.store.table import Table, chat_of, in_chat, readable
from gateway.store.topics import Topic

MOST_IDS = 1_000
_SENT = (
    "UPDATE outbox SET state = 'sent', message_id = ?, body = ?, said_at = ?,"
    " attempts = coalesce(nullif(attempts + ?, 0), ?) WHERE key = ?"
)
_SPOKE = "UPDATE chats SET spoke = 1 WHERE chat = ? AND spoke = 0"
SAYS_YES = '"says":"yes"'
"""In the JSON of a message with a button that a plain "yes" presses."""
ASKS_WHERE = '"action":"/tz mine '
"""In that of one with buttons for time zones."""
_REPLY = "inbox-"
"""Key prefix of what answers a command or a press."""
ORDER = "at, length(key), key"
"""Posts of one run share a time, and their keys end in numbers: 9 sorts before 10."""


class _Row(NamedTuple):
    key: str
    run: str
    chat: str
    body: str
    message_id: str | None
    state: str
    unknown: int
    at: float
    said_at: float | None
    origin: str | None


_SELECT = f"SELECT {', '.join(_Row._fields)} FROM outbox"  # noqa: S608


class Outbox(Table):
    """Outbound messages, their attempts and their places on the platform."""

    async def add(self, posts: Sequence[Post], settled: Sequence[int] = ()) -> None:
        """Queue posts and mark the inbox items that they answer as done."""
        rows = rows_of(masked_posts(posts, self._secrets), self._clock.time())

        def change(connection: Connection) -> None:
            insert(connection, rows)
            mark_done(connection, settled)

        await self._writer.submit(change)

    def tried(self, key: str, unknown: int) -> "asyncio.Future[None]":
        """Record a try to send a post; `unknown` is the number of tries that may have arrived, with this one.

        Await it before a repeat, which must be on disk first. A first try is recorded when it has failed: see `unsent`.
        """
        query = "UPDATE outbox SET state = 'sending', attempts = attempts + 1, unknown = ? WHERE key = ?"

        def change(connection: Connection) -> None:
            connection.execute(query, (unknown, key))

        return self._writer.submit(change, later=unknown <= 1)

    def not_sent(self, key: str, unknown: int) -> "asyncio.Future[None]":
        """Record that a send failed for certain; `unknown` counts the other attempts that may have arrived."""

        def change(connection: Connection) -> None:
            connection.execute("UPDATE outbox SET unknown = ? WHERE key = ?", (unknown, key))

        return self._writer.submit(change, later=True)

    async def sent(self, post: Post, posted: Posted, tries: int = 0, also: Work[None] | None = None) -> None:
        """Record the arrival of a post.

        Args:
            post: The post as it was sent.
            posted: The message that the platform stored.
            tries: The number of tries that were not recorded before.
            also: Written in the same transaction.
        """
        at = self._clock.time() if posted.at is None else posted.at
        body, chat = self._secrets.masked(_kept(post.message)).model_dump_json(), str(post.chat)

        def change(connection: Connection) -> None:
            row = (posted.message_id, body, at, tries, int(post.message_id is None), post.key)
            connection.execute(_SENT, row)
            insert_further(connection, post.chat, posted)
            if post.chat.thread is not None and connection.execute(_SPOKE, (chat,)).rowcount:
                self._changed(connection, Topic.SPOKEN, chat)
            if also is not None:
                also(connection)

        await self._writer.submit(change)

    async def shown(self, post: Post, posted: Posted) -> None:
        """Record a message that was sent without being queued, as it would be worthless later."""
        rows = rows_of(masked_posts([post], self._secrets), self._clock.time())
        self._writer.submit(partial(insert, rows=rows), later=True)
        await self.sent(post, posted)

    async def failed(self, key: str, reason: str) -> None:
        """Give up a post."""
        reason = self._secrets.mask(reason)

        def change(connection: Connection) -> None:
            connection.execute("UPDATE outbox SET state = 'failed', reason = ? WHERE key = ?", (reason, key))

        await self._writer.submit(change)

    async def unconfirmed(self, key: str, reason: str) -> None:
        """Give up a post whose arrival is unknown; it is not sent again automatically."""
        reason = self._secrets.mask(reason)
        query = "UPDATE outbox SET state = 'failed', reason = ?, unconfirmed = 1 WHERE key = ?"

        def change(connection: Connection) -> None:
            connection.execute(query, (reason, key))

        await self._writer.submit(change)

    async def offer(self, post: Post) -> None:
        """Queue a post that offers the chat the messages that may not have arrived."""
        rows = rows_of(masked_posts([post], self._secrets), self._clock.time())
        query = "UPDATE outbox SET unconfirmed = 2 WHERE chat = ? AND unconfirmed = 1"

        def change(connection: Connection) -> None:
            insert(connection, rows)
            connection.execute(query, (str(post.chat),))

        await self._writer.submit(change)

    async def to_offer(self) -> list[ChatKey]:
        """Return the chats with messages that may not have arrived and were not offered yet."""

        def read(connection: Connection) -> list[ChatKey]:
            found = connection.execute("SELECT DISTINCT chat FROM outbox WHERE unconfirmed = 1")
            return list(readable(found, chat_of, "outbox"))

        return await self._reader.run(read)

    async def last_unconfirmed(self, chat: ChatKey) -> list[Post]:
        """Return the parts of the chat's last message whose arrival is unknown."""
        query = f"{_SELECT} WHERE chat = ? AND unconfirmed > 0 ORDER BY {ORDER}"

        def read(connection: Connection) -> list[Post]:
            found = list(_posts(connection.execute(query, (str(chat),))))
            return [post for post in found if post.run == found[-1].run]

        return await self._reader.run(read)

    async def known(self, post: Post) -> Known:
        """Return the data that helps to find a post among the other messages of its chat."""
        query = "SELECT message_id FROM outbox WHERE chat = ? AND message_id IS NOT NULL ORDER BY at DESC LIMIT ?"

        def read(connection: Connection) -> frozenset[str]:
            firsts = [name for (name,) in connection.execute(query, (str(post.chat), MOST_IDS))]
            return frozenset([*firsts, *further_ids(connection, post.chat, MOST_IDS)])

        return Known(others=await self._reader.run(read), since=post.at)

    async def unsent(self, chat: ChatKey | None = None) -> list[Post]:
        """Return posts left by an earlier process start, in one chat or all, oldest first.

        Each may have been sent: a first try is not recorded before it is over.
        """
        condition, values = in_chat(chat)
        query = f"{_SELECT} WHERE state IN ('pending', 'sending'){condition} ORDER BY {ORDER}"

        def read(connection: Connection) -> list[Post]:
            return [post.of_earlier_start() for post in _posts(connection.execute(query, values))]

        return await self._reader.run(read)

    async def find(self, key: str) -> Post | None:
        """Return the post with this key."""

        def read(connection: Connection) -> Post | None:
            return _find(connection, key)

        return await self._reader.run(read)

    async def of_run(self, run: str) -> list[Post]:
        """Return the posts of a run, in order."""
        query = f"{_SELECT} WHERE run = ? ORDER BY {ORDER}"

        def read(connection: Connection) -> list[Post]:
            return list(_posts(connection.execute(query, (run,))))

        return await self._reader.run(read)

    async def offered(self, key: str) -> Offered | None:
        """Return the post with this key, and when it got its current text."""
        query = f"{_SELECT} WHERE key = ?"

        def read(connection: Connection) -> Offered | None:
            rows = map(_Row._make, connection.execute(query, (key,)))
            return next(readable(rows, lambda row: Offered(_post(row), row.said_at), "outbox"), None)

        return await self._reader.run(read)

    async def current(self, chat: ChatKey, message_id: str) -> Post | None:
        """Return the post that gave one of our messages its current text."""

        def read(connection: Connection) -> Post | None:
            return _current(connection, chat, message_id)

        return await self._reader.run(read)

    async def pressed(self, chat: ChatKey, message_id: str, action: str) -> Post | None:
        """Return the current version of the message whose button with this action was pressed.

        A press proves that the message is there, even if its send is not acknowledged yet or never was. Where the
        acknowledgement was lost, there may be two copies, and only one of them is known.
        """
        query = (
            f"{_SELECT} WHERE chat = ? AND instr(body, ?) > 0 AND (state != 'sent' OR message_id != ?) ORDER BY at DESC"
        )

        def read(connection: Connection) -> Post | None:
            known = _current(connection, chat, message_id)
            if known is not None and (known.has_button(action) or known.key.startswith(_REPLY)):
                return known
            quoted = json.dumps(action, ensure_ascii=False)[1:-1]
            found = _posts(connection.execute(query, (str(chat), quoted, message_id)))
            return next((post for post in found if post.has_button(action)), known)

        return await self._reader.run(read)

    async def parts(self, chat: ChatKey, message_id: str) -> list[Post]:
        """Return all parts of the message of which one has this id, as sent, before any button was pressed.

        Returns an empty list if the message is not one of ours.
        """
        query = (
            "SELECT key FROM outbox WHERE chat = ? AND message_id = ? AND state = 'sent'"
            " ORDER BY key LIKE 'inbox-%', at DESC, length(key) DESC, key DESC LIMIT 1"
        )

        def read(connection: Connection) -> list[Post]:
            row = connection.execute(query, (str(chat), first_of(connection, chat, message_id))).fetchone()
            if row is None:
                return []
            (key,) = row
            found: list[Post] = []
            whole = key.rpartition(":")[0]
            while (part := _find(connection, f"{whole}:{len(found)}")) is not None:
                found.append(part)
            only = _find(connection, key)  # keys of questions and files, which are never split, have no number
            return found or [only] if only else []

        return await self._reader.run(read)

    async def place(self, chat: ChatKey, message_id: str) -> int:
        """Return which of the messages that one send posted this is; 0 is the first."""
        return await self._reader.run(lambda connection: place_of(connection, chat, message_id))

    async def offers(self, chat: ChatKey, since: float, mark: str = SAYS_YES) -> list[Offered]:
        """Return our messages since `since` that a plain "yes" would answer in their current text, oldest first.

        Messages that were rewritten since, for instance by a button press, are left out. `mark` stands in what other
        messages are like that are looked for.
        """
        query = f"{_SELECT} WHERE chat = ? AND at >= ? AND state != 'failed' AND instr(body, ?) > 0 ORDER BY {ORDER}"

        def read(connection: Connection) -> list[Offered]:
            rows = map(_Row._make, connection.execute(query, (str(chat), since, mark)))
            found = list(readable(rows, lambda row: Offered(_post(row), row.said_at), "outbox"))
            return [each for each in found if _is_current(connection, each.post)]

        return await self._reader.run(read)

    async def sent_unprompted(self, chat: ChatKey, since: float) -> bool:
        """Return True if the bot sent an unprompted message there since `since`."""
        query = (
            "SELECT 1 FROM outbox"
            " WHERE chat = ? AND said_at >= ? AND state = 'sent' AND key LIKE '%:proactive:%' LIMIT 1"
        )

        def read(connection: Connection) -> bool:
            return connection.execute(query, (str(chat), since)).fetchone() is not None

        return await self._reader.run(read)

    async def screen(
        self, chat: ChatKey, most: int = 200, before: Place | None = None
    ) -> list[tuple[float, InboxItem | Post]]:
        """Return messages of a chat with their times, oldest first: those of users and ours.

        Args:
            chat: The chat.
            most: The number of messages to return.
            before: A place in the conversation; the newest messages before it are returned.
        """
        before = before or END
        theirs = "SELECT seq, payload, at FROM inbox WHERE chat = ? AND seq < ? ORDER BY seq DESC LIMIT ?"
        sent = f"{_SELECT} WHERE chat = ? AND at < ? AND state = 'sent'"
        ours = f"{sent} ORDER BY at DESC, length(key) DESC, key DESC LIMIT ?"

        def item(row: tuple[int, str, float]) -> tuple[float, InboxItem]:
            seq, payload, at = row
            return at, parse_item((seq, payload))

        def read(connection: Connection) -> list[tuple[float, InboxItem | Post]]:
            found: list[tuple[float, InboxItem | Post]] = []
            found.extend(readable(connection.execute(theirs, (str(chat), before.seq, most)), item, "inbox"))
            rows = map(_Row._make, connection.execute(ours, (str(chat), before.at, most)))
            found.extend(readable(rows, lambda row: (row.at, _post(row)), "outbox"))
            found.reverse()
            found.sort(key=lambda pair: pair[0])
            return found[-most:]

        return await self._reader.run(read)


PostRow = tuple[str, str, str, str, str | None, float, str | None]


def rows_of(posts: Sequence[Post], now: float) -> list[PostRow]:
    """Return the rows to insert for these posts, queued `now`."""
    return [
        (post.key, post.run, str(post.chat), post.message.model_dump_json(), post.message_id, now, post.origin_line)
        for post in posts
    ]


def _kept(message: OutboundMessage) -> OutboundMessage:
    """Return a message as it is kept once it has arrived."""
    if not message.forget:
        return message
    return message.model_copy(update={"markdown": message.markdown.replace(message.forget, "…"), "forget": ""})


def masked_posts(posts: Sequence[Post], secrets: Secrets) -> list[Post]:
    """Return the posts with secrets masked in their messages."""
    return [replace(post, message=secrets.masked(post.message)) for post in posts]


def insert(connection: Connection, rows: Sequence[PostRow]) -> None:
    """Insert posts. A known key is sent again, as an edit if it has a message id; ValueError if in another chat."""
    if not rows:
        return
    written = connection.executemany(
        "INSERT INTO outbox (key, run, chat, body, message_id, at, origin) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (key) DO UPDATE SET body = excluded.body, state = 'pending', origin = excluded.origin,"
        " message_id = coalesce(excluded.message_id, outbox.message_id) WHERE outbox.chat = excluded.chat",
        rows,
    )
    if written.rowcount != len(rows):
        raise ValueError(f"one of the keys {', '.join(row[0] for row in rows)} is that of a post in another chat")


def _find(connection: Connection, key: str) -> Post | None:
    return next(_posts(connection.execute(f"{_SELECT} WHERE key = ?", (key,))), None)


def _current(connection: Connection, chat: ChatKey, message_id: str) -> Post | None:
    """Return the newest post that made or edited a message; the reply to a button press counts as newer."""
    query = (
        f"{_SELECT} WHERE chat = ? AND message_id = ? AND state = 'sent'"
        " ORDER BY at DESC, key LIKE 'inbox-%' DESC, length(key) DESC, key DESC LIMIT 1"
    )
    return next(_posts(connection.execute(query, (str(chat), first_of(connection, chat, message_id)))), None)


def _is_current(connection: Connection, post: Post) -> bool:
    now = _current(connection, post.chat, post.message_id) if post.message_id else None
    return now is None or now.key == post.key


def _posts(rows: Iterable[tuple[object, ...]]) -> Iterator[Post]:
    return readable(map(_Row._make, rows), _post, "outbox")


def _post(row: _Row) -> Post:
    chat, message = ChatKey.parse(row.chat), OutboundMessage.model_validate_json(row.body)
    origin = row.origin if row.origin is None else in_line(row.origin)
    state = PostState(row.state)
    return Post(row.key, row.run, chat, message, origin, row.message_id, state, row.unknown, row.at)
