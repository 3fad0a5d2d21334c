"""The table of chat owners: the node that works on each chat."""

from collections.abc import Callable, Sequence, Set

from msgspec import Struct

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.nodes import names_in
from gateway.store.table import Table, readable

Notify = Callable[[Connection, str], None]
"""Notifies a node when the open transaction is committed."""

_CLAIM = (
    "INSERT INTO chat_owners (chat, node, number, since) VALUES (?, ?, 1, now())"
    " ON CONFLICT (chat) DO UPDATE SET node = excluded.node, number = chat_owners.number + 1, since = excluded.since"
    " WHERE chat_owners.node IS NULL RETURNING number"
)
_BUSY = (
    "EXISTS (SELECT FROM inbox WHERE chat = ? AND state = 'new')"
    " OR EXISTS (SELECT FROM runs WHERE chat = ? AND state = 'running')"
    " OR EXISTS (SELECT FROM tasks WHERE chat = ? AND state IN ('pending', 'running'))"
    " OR EXISTS (SELECT FROM approvals WHERE chat = ? AND state = 'pending')"
)
_HAS_MORE = (
    "SELECT EXISTS (SELECT FROM inbox WHERE seq = ANY(:seqs) AND state <> 'new')"
    " OR EXISTS (SELECT FROM inbox WHERE chat = :chat AND state = 'new' AND seq <> ALL(:seqs))"
    " OR EXISTS (SELECT FROM outbox WHERE chat = :chat AND state IN ('pending', 'sending'))"
    " OR EXISTS (SELECT FROM outbox WHERE chat = :chat AND unconfirmed > 0)"
    " OR EXISTS (SELECT FROM runs WHERE chat = :chat AND state = 'running')"
    " OR EXISTS (SELECT FROM tasks WHERE chat = :chat AND state IN ('pending', 'running'))"
    " OR EXISTS (SELECT FROM approvals WHERE chat = :chat AND state = 'pending')"
    " OR EXISTS (SELECT FROM owed WHERE chat = :chat)"
)
"""Selects the kinds of pending work that `ChatWork.take_over` resumes."""
_LEFT = (
    "SELECT chat FROM inbox WHERE state = 'new'"
    " UNION SELECT chat FROM outbox WHERE state IN ('pending', 'sending')"
    " UNION SELECT chat FROM runs WHERE state = 'running'"
    " UNION SELECT chat FROM tasks WHERE state IN ('pending', 'running')"
    " UNION SELECT chat FROM owed WHERE kind = ANY(:kinds)"
)
BEATEN_WITHIN = 1.0
"""Seconds since its last beat in which a node is passed chats; a frozen one would keep them until it is fenced."""
_IS_FRESH = (
    "SELECT 1 FROM nodes WHERE id = ? AND NOT fenced AND NOT draining"
    " AND beat > clock_timestamp() - make_interval(secs => ?)"
)
_NOTIFY_OTHER = "SELECT pg_notify(? || node, ?) FROM chat_owners WHERE chat = ? AND node <> ?"
_ORPHANS = (
    "SELECT waiting.chat, coalesce(number, 0) FROM ({left}) AS waiting"
    " LEFT JOIN chat_owners USING (chat) WHERE node IS NULL"
)


class Claim(Struct, frozen=True):
    """A claimed chat."""

    number: int
    has_more: bool
    """True if there is pending work beside the rows for which the chat was claimed."""


class Orphan(Struct, frozen=True):
    """A chat with pending work and no owner."""

    chat: ChatKey
    number: int
    """The number of its last claim; 0 if there was none."""


class Load(Struct):
    """The load of a node that accepts chats."""

    chats: int
    unreachable: frozenset[str]
    """The platforms that it cannot reach."""


class ChatOwners(Table):
    """The owners of chats. A chat is free once its owner released it or was fenced."""

    async def claim(
        self, chat: ChatKey, node: str, seqs: Sequence[int], notify: Notify, unfinished: Sequence[str] = ()
    ) -> Claim | None:
        """Claim a chat, or `notify` its owner, before that can release it. Returns None if another node owns the chat.

        `seqs` are the inbox rows for which the chat is claimed, `unfinished` the tables of plugins that name chats
        with something to finish.
        """
        has_more = " OR ".join([_HAS_MORE, *(f"EXISTS (SELECT FROM {each} WHERE chat = :chat)" for each in unfinished)])

        def change(connection: Connection) -> Claim | None:
            claimed = connection.execute(_CLAIM, (str(chat), node)).fetchone()
            if claimed is not None:
                (found,) = connection.execute(has_more, {"chat": str(chat), "seqs": list(seqs)}).fetchone()
                return Claim(int(claimed[0]), has_more=bool(found))
            # The row is locked, so its owner cannot release it before this is committed.
            row = connection.execute("SELECT node FROM chat_owners WHERE chat = ?", (str(chat),)).fetchone()
            notify(connection, row[0])
            return None

        return await self._writer.submit(change)

    async def notify_other(self, chat: ChatKey, node: str, prefix: str, payload: str) -> bool:
        """Notify another node that owns a chat. Returns False if there is none.

        It may release the chat meanwhile; then it forwards the events to the next owner.
        `prefix` is that of the channels of NOTIFY on which single nodes listen.
        """
        values = prefix, payload, str(chat), node

        def notify(connection: Connection) -> bool:
            return connection.execute(_NOTIFY_OTHER, values).fetchone() is not None

        return await self._reader.query(notify)

    async def release(self, chats: Sequence[ChatKey], node: str, *, idle: bool = True) -> list[ChatKey]:
        """Give up chats, those in which nothing is to be done, or all of them. Returns which were given up."""

        def change(connection: Connection) -> list[ChatKey]:
            return [chat for chat in chats if _release(connection, str(chat), node, idle=idle)]

        return await self._writer.submit(change)

    async def orphans(self, kinds: Set[str], unfinished: Sequence[str] = ()) -> list[Orphan]:
        """Return the chats with something to do and no owner.

        `kinds` are those of what is owed that can be done, `unfinished` the tables of plugins that name chats with
        something to finish.
        """
        named = (f"SELECT chat FROM {each}" for each in unfinished)  # noqa: S608 (tables of plugins, which are checked)
        query = _ORPHANS.format(left=" UNION ".join([_LEFT, *named]))

        def read(connection: Connection) -> list[Orphan]:
            rows = connection.execute(query, {"kinds": sorted(kinds)}).fetchall()
            return list(readable(rows, lambda row: Orphan(ChatKey.parse(row[0]), int(row[1])), "chat_owners"))

        return await self._reader.run(read)

    async def notify_owner(self, chat: ChatKey, notify: Notify, otherwise: str | None = None) -> bool:
        """Notify the owner of a chat, or the node `otherwise` if it is free. Returns False if there is neither.

        A node that has not beaten just now does not count as `otherwise`.
        """

        def change(connection: Connection) -> bool:
            row = connection.execute("SELECT node FROM chat_owners WHERE chat = ?", (str(chat),)).fetchone()
            node = None if row is None else row[0]
            if node is None and otherwise is not None:
                fresh = connection.execute(_IS_FRESH, (otherwise, BEATEN_WITHIN)).fetchone()
                node = otherwise if fresh is not None else None
            if node is not None:
                notify(connection, node)
            return node is not None

        return await self._writer.submit(change)

    async def commit(self, change: Callable[[Connection], None]) -> None:
        """Commit a change that only sends notifications."""
        await self._writer.submit(change)

    async def in_inbox(self, node: str) -> list[tuple[ChatKey, int]]:
        """Return the pending inbox rows of the chats of a node."""
        query = (
            "SELECT chat, seq FROM inbox JOIN chat_owners USING (chat) WHERE state = 'new' AND node = ? ORDER BY seq"
        )

        def read(connection: Connection) -> list[tuple[ChatKey, int]]:
            rows = connection.execute(query, (node,)).fetchall()
            return list(readable(rows, lambda row: (ChatKey.parse(row[0]), int(row[1])), "inbox"))

        return await self._reader.run(read)

    async def renumbered(self, chat: ChatKey) -> Orphan | None:
        """Give a free chat a number that it has not had yet, and return it; None if the chat has an owner."""
        query = (
            "INSERT INTO chat_owners (chat, node, number, since) VALUES (?, NULL, 1, now())"
            " ON CONFLICT (chat) DO UPDATE SET number = chat_owners.number + 1 WHERE chat_owners.node IS NULL"
            " RETURNING number"
        )

        def change(connection: Connection) -> Orphan | None:
            row = connection.execute(query, (str(chat),)).fetchone()
            return None if row is None else Orphan(chat, int(row[0]))

        return await self._writer.submit(change)

    async def alive(self) -> set[str]:
        """Return the ids of the nodes that are not fenced."""

        def read(connection: Connection) -> set[str]:
            return {node for (node,) in connection.execute("SELECT id FROM nodes WHERE NOT fenced").fetchall()}

        return await self._reader.run(read)

    async def of_others(self, node: str) -> set[ChatKey]:
        """Return the chats that other nodes own."""
        query = "SELECT chat FROM chat_owners WHERE node <> ?"

        def read(connection: Connection) -> set[ChatKey]:
            rows = connection.execute(query, (node,)).fetchall()
            return set(readable(rows, lambda row: ChatKey.parse(row[0]), "chat_owners"))

        return await self._reader.run(read)

    async def loads(self) -> dict[str, Load]:
        """Return the load of each node that accepts chats."""
        query = (
            "SELECT nodes.id, count(chat), nodes.unreachable FROM nodes LEFT JOIN chat_owners ON node = nodes.id"
            " WHERE NOT fenced AND NOT draining GROUP BY nodes.id"
        )

        def read(connection: Connection) -> dict[str, Load]:
            found = connection.execute(query).fetchall()
            return {node: Load(int(count), names_in(unreachable)) for node, count, unreachable in found}

        return await self._reader.run(read)


def _release(connection: Connection, chat: str, node: str, *, idle: bool) -> bool:
    """Release a chat in two statements: the second one sees what was committed while the first waited for its lock."""
    query = "SELECT 1 FROM chat_owners WHERE chat = ? AND node = ? FOR UPDATE SKIP LOCKED"
    if connection.execute(query, (chat, node)).fetchone() is None:
        return False
    if idle and connection.execute(f"SELECT {_BUSY}", (chat,) * 4).fetchone()[0]:
        return False
    connection.execute("UPDATE chat_owners SET node = NULL, since = now() WHERE chat = ?", (chat,))
    return True
