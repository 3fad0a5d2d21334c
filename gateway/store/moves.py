"""Gives all rows of a chat the new id that its platform has given to it, in one transaction.

Tables with a column `chat` are read from the database (`chat_columns.py`). Named here are the rows that refer to a chat
in another way, and those of which one is right where both ids have some.
"""

import json
from collections.abc import Iterable, Sequence
from functools import partial

from channels.base import ChatKey, ChatMoved, OutboundMessage
from gateway.store.budget import Scope
from gateway.store.chat_columns import CHAT, ChatTable, tables_of_chats
from gateway.store.connection import Connection
from gateway.store.inbox import accepting, mark_done, parse_item
from gateway.store.rows import InboxItem
from gateway.store.search import moved as index_moved
from gateway.store.table import Table, readable
from gateway.store.topics import Topic
from gateway.store.unreadable import texts_in

NOT_MOVED = frozenset({"chat_owners", "said"})
"""Tables whose rows are of what the processes do, or are computed from the rest."""
_APART = NOT_MOVED | {"chats", "inbox", "outbox"}
_OF_SESSION = ("transcript", "runs", "tool_calls", "rulings", "approvals", "rewinds", "paused_runs")
_REPLIES = ("runs", "tasks")
"""Tables with the id of a message to reply to."""
_TOPICS = (Topic.SETTINGS, Topic.ZONES, Topic.BUDGETS, Topic.JOBS, Topic.SPOKEN)
_OURS = "(chat = :old OR (chat >= :from AND chat < :to))"


class Moves(Table):
    """Moves of chats. Each is an event in the inbox until it was carried out."""

    async def told(self, event: ChatMoved) -> InboxItem:
        """Store a move that is to be carried out; again, if something has come to the old id since it was."""
        accept = accepting(self._secrets.masked(event), self._clock.time())
        again = "UPDATE inbox SET state = 'new' WHERE seq = ?"

        def change(connection: Connection) -> int:
            seq = accept(connection)
            if seq is None:
                query = "SELECT seq FROM inbox WHERE event_id = ?"
                (seq,) = connection.execute(query, (event.event_id,)).fetchone()
                if _chats(connection, event.chat):
                    connection.execute(again, (seq,))
            return int(seq)

        return InboxItem(await self._writer.submit(change), event)

    async def all(self) -> list[ChatMoved]:
        """Return the moves that were carried out, in order."""
        found = "SELECT seq FROM inbox WHERE event_id LIKE '%:moved:%'"  # read from the index of ids alone
        query = f"SELECT seq, payload FROM inbox WHERE seq IN ({found}) AND state = 'done' ORDER BY seq"  # noqa: S608

        def read(connection: Connection) -> list[ChatMoved]:
            items = readable(connection.execute(query).fetchall(), parse_item, "inbox")
            return [item.event for item in items if isinstance(item.event, ChatMoved)]

        return await self._reader.run(read)

    async def chats(self, event: ChatMoved) -> list[ChatKey]:
        """Return the old chat and its threads, as far as they have rows."""

        def read(connection: Connection) -> list[ChatKey]:
            return _chats(connection, event.chat)

        return await self._reader.run(read)

    async def apply(self, item: InboxItem, event: ChatMoved) -> list[ChatKey]:
        """Carry out a move, and settle its event. Returns the chats that had rows under the old id."""

        def change(connection: Connection) -> list[ChatKey]:
            tables, chats = tables_of_chats(connection), _chats(connection, event.chat)
            for chat in chats:
                _move(connection, tables, event, chat)
            _move_accounts(connection, str(event.chat), str(event.to))
            mark_done(connection, [item.seq])
            for topic in _TOPICS:
                self._changed(connection, topic)
            for chat in (event.chat, event.to):
                self._changed(connection, Topic.ERASED, str(chat))
            return chats

        return await self._writer.submit(change)


def renamed(event: ChatMoved, chat: ChatKey) -> ChatKey:
    """Return what a chat or thread is named after the move."""
    return event.to.model_copy(update={"thread": chat.thread})


def _chats(connection: Connection, old: ChatKey) -> list[ChatKey]:
    """Return a chat and its threads that have rows, apart from moves."""
    found: set[str] = set()
    values = {"old": str(old), "from": f"{old}:", "to": f"{old};"}
    for table in tables_of_chats(connection):
        if table.name not in NOT_MOVED:
            query = f"SELECT DISTINCT chat FROM {table.name} WHERE {_OURS}"  # noqa: S608
            query += " AND event_id NOT LIKE '%:moved:%'" if table.name == "inbox" else ""
            found.update(chat for (chat,) in connection.execute(query, values).fetchall())
    places = f"SELECT DISTINCT place FROM chat_settings WHERE {_OURS.replace(CHAT, 'place')}"  # noqa: S608
    found.update(place for (place,) in connection.execute(places, values).fetchall())
    return [ChatKey.parse(chat) for chat in sorted(found)]


def _move(connection: Connection, tables: Sequence[ChatTable], event: ChatMoved, chat: ChatKey) -> None:
    old, new = str(chat), str(renamed(event, chat))
    if _is_older(connection, old, new):
        skills = "DELETE FROM chat_skills WHERE chat = ? AND EXISTS (SELECT 1 FROM chat_skills WHERE chat = ?)"
        connection.execute(skills, (new, old))
    _join_sessions(connection, old, new)
    beaten = "SELECT job FROM heartbeats WHERE chat = ? AND EXISTS (SELECT 1 FROM heartbeats WHERE chat = ?)"
    connection.execute(f"DELETE FROM jobs WHERE id IN ({beaten})", (old, new))  # noqa: S608
    if not event.keeps_messages:
        _forget_messages(connection, tables, old)
    for table in tables:
        if table.name not in _APART:
            _rename(connection, table.name, CHAT, old, new, table.keys)
    _rename(connection, "chat_settings", "place", old, new, [{"name"}])
    _rename(connection, "conversations", "owner", old, new)
    _move_inbox(connection, event, chat)
    connection.execute("UPDATE outbox SET chat = ? WHERE chat = ?", (new, old))
    index_moved(connection, chat, renamed(event, chat))


def _rename(
    connection: Connection, table: str, column: str, old: str, new: str, keys: Iterable[Iterable[str]] = ()
) -> None:
    """Give rows the new key. Where the new chat has a row that excludes one of them, that one was made later."""
    for others in keys:
        same = "".join(f" AND later.{other} = {table}.{other}" for other in others)
        query = (
            f"DELETE FROM {table} WHERE {column} = ?"  # noqa: S608
            f" AND EXISTS (SELECT 1 FROM {table} AS later WHERE later.{column} = ?{same})"
        )
        connection.execute(query, (old, new))
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, old))  # noqa: S608


def _session(connection: Connection, chat: str) -> str | None:
    row = connection.execute("SELECT session FROM chats WHERE chat = ?", (chat,)).fetchone()
    return None if row is None else str(row[0])


def _began(connection: Connection, session: str | None) -> float:
    """Return the number of the first row of a conversation; one without rows is younger than any other."""
    row = connection.execute("SELECT min(seq) FROM transcript WHERE session = ?", (session,)).fetchone()
    return float("inf") if row[0] is None else float(row[0])


def _is_older(connection: Connection, old: str, new: str) -> bool:
    """Return True if the conversation of the old chat is the longer one, as it is unless it moved before."""
    return _began(connection, _session(connection, old)) <= _began(connection, _session(connection, new))


def _is_running(connection: Connection, session: str) -> bool:
    query = "SELECT 1 FROM runs WHERE session = ? AND state = 'running'"
    return connection.execute(query, (session,)).fetchone() is not None


def _join_sessions(connection: Connection, old: str, new: str) -> None:
    """Let the older conversation go on, with what was said in the other one meanwhile.

    While something runs in one of them they are not joined, as a run goes on from what was said last: its conversation
    is kept, and the other one becomes an earlier one.
    """
    first, second = _session(connection, old), _session(connection, new)
    if first is None:
        return
    if second is None:
        connection.execute("UPDATE chats SET chat = ? WHERE chat = ?", (new, old))
        return
    kept, joined = (first, second) if _is_older(connection, old, new) else (second, first)
    if _is_running(connection, kept) or _is_running(connection, joined):
        kept = kept if _is_running(connection, kept) else joined
    else:
        for table in _OF_SESSION:
            connection.execute(f"UPDATE {table} SET session = ? WHERE session = ?", (kept, joined))  # noqa: S608
        connection.execute("DELETE FROM session_titles WHERE session = ?", (joined,))
    connection.execute(
        "UPDATE chats SET session = ?, language = coalesce(language, (SELECT language FROM chats WHERE chat = ?)),"
        " zone = coalesce(zone, (SELECT zone FROM chats WHERE chat = ?)), spoke = CASE WHEN spoke = 1 THEN 1 ELSE"
        " (SELECT spoke FROM chats WHERE chat = ?) END WHERE chat = ?",
        (kept, old, old, old, new),
    )
    connection.execute("DELETE FROM chats WHERE chat = ?", (old,))


def _forget_messages(connection: Connection, tables: Sequence[ChatTable], old: str) -> None:
    """Forget the ids of messages, as others have them now. What was an edit, and open questions, are posted anew."""
    for name in _REPLIES:
        connection.execute(f"UPDATE {name} SET reply_to = NULL WHERE chat = ?", (old,))  # noqa: S608
    connection.execute(
        "UPDATE outbox SET state = 'failed', reason = 'the chat has another id' WHERE chat = ?"
        " AND state IN ('pending', 'sending') AND key LIKE '%:progress:%'",
        (old,),
    )
    asked = "SELECT run || ':ask:' || id FROM approvals WHERE chat = ? AND state = 'pending'"
    connection.execute(
        f"UPDATE outbox SET state = 'pending', unknown = 0 WHERE state = 'sent' AND key IN ({asked})",  # noqa: S608
        (old,),
    )
    open_posts = "SELECT key, body FROM outbox WHERE chat = ? AND state IN ('pending', 'sending')"
    bodies = readable(connection.execute(open_posts, (old,)).fetchall(), _without_reply, "outbox")
    connection.executemany("UPDATE outbox SET body = ? WHERE key = ?", list(bodies))
    for table in tables:
        if table.name in NOT_MOVED or not table.names_messages:
            continue
        if table.needs_messages:
            connection.execute(f"DELETE FROM {table.name} WHERE chat = ?", (old,))  # noqa: S608
        else:
            connection.execute(f"UPDATE {table.name} SET message_id = NULL WHERE chat = ?", (old,))  # noqa: S608


def _without_reply(row: tuple[str, str]) -> tuple[str, str]:
    key, body = row
    message = OutboundMessage.model_validate_json(body).model_copy(update={"reply_to": None})
    return message.model_dump_json(), key


def _move_inbox(connection: Connection, event: ChatMoved, chat: ChatKey) -> None:
    rows = connection.execute("SELECT seq, payload FROM inbox WHERE chat = ?", (str(chat),)).fetchall()
    moved = readable(rows, partial(_moved_item, event=event, new=renamed(event, chat)), "inbox")
    connection.executemany("UPDATE inbox SET chat = ?, payload = ? WHERE seq = ?", [row for row in moved if row])


def _moved_item(row: tuple[int, str], event: ChatMoved, new: ChatKey) -> tuple[str, str, int] | None:
    """Return what is to be stored of an inbox item; None for a move, which stays with the old chat."""
    item = parse_item(row)
    if isinstance(item.event, ChatMoved):
        return None
    update: dict[str, object] = {"chat": new}
    if not event.keeps_messages:
        fields = type(item.event).model_fields
        update.update({name: value for name, value in (("message_id", ""), ("reply_to", None)) if name in fields})
    return str(new), item.event.model_copy(update=update).model_dump_json(), item.seq


def _move_accounts(connection: Connection, old: str, new: str) -> None:
    """Move the budgets of a chat. Sums of what was used are added up again when they are asked for."""
    connection.execute("DELETE FROM spending_sums WHERE scope = ? AND subject IN (?, ?)", (Scope.CHAT, old, new))
    connection.execute(
        "DELETE FROM budgets WHERE scope = ? AND subject = ? AND EXISTS (SELECT 1 FROM budgets AS later"
        " WHERE later.scope = budgets.scope AND later.subject = ? AND later.period = budgets.period"
        " AND later.unit = budgets.unit)",
        (Scope.CHAT, old, new),
    )
    connection.execute("UPDATE budgets SET subject = ? WHERE scope = ? AND subject = ?", (new, Scope.CHAT, old))
    owed = connection.execute("SELECT plugin, who, at, direct, shared FROM owed_erasures").fetchall()
    for plugin, who, at, *lists in owed:
        known = [texts_in(chats) for chats in lists]
        direct, shared = (each and json.dumps([_under(chat, old, new) for chat in each]) for each in known)
        connection.execute(
            "UPDATE owed_erasures SET direct = coalesce(?, direct), shared = coalesce(?, shared)"
            " WHERE plugin = ? AND who = ? AND at = ?",
            (direct or None, shared or None, plugin, who, at),
        )


def _under(chat: str, old: str, new: str) -> str:
    return new + chat.removeprefix(old) if chat == old or chat.startswith(f"{old}:") else chat
