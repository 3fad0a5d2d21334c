"""The table of the conversations that a surface lists, such as the page."""

from collections.abc import Iterable, Mapping, Sequence

from channels.base import ChatKey
from channels.web.listing import LONGEST_TITLE, PAGE, Entries, Entry, Hit
from gateway.store.connection import Connection
from gateway.store.search import found_in, index_newest
from gateway.store.table import Table

MOST_TITLES = 5_000
"""Most titles that are read at once."""
MOST_HITS = 50
"""Most messages and titles that a search returns."""
UNDO_SECONDS = 60.0
"""Time after which a new message from Parley, such as a reminder, brings a deleted conversation back."""
ERASED_AFTER = 24 * 3600.0
"""Time after which a deleted conversation is erased."""
_AROUND = 60
"""Characters of a message that are shown before and after the words that were found."""
_SELECT = "SELECT chat, CASE title WHEN '' THEN words ELSE title END, last, pinned, answered > seen FROM conversations"


class Conversations(Table):
    """The conversations of each owner. `owner` is a chat without a thread; its threads are conversations."""

    async def of(self, owner: ChatKey, after: str = "", most: int = PAGE) -> Entries:
        """Return a page of the list, pinned conversations first, then those used last.

        Args:
            owner: The chat whose threads are the conversations.
            after: The `more` of the page before.
            most: The length of a page.

        Raises:
            ValueError: No page says `after`.
        """
        pinned, last, chat = _position(after)
        query = (
            f"{_SELECT} WHERE owner = ? AND deleted IS NULL AND (pinned, last, chat) < (?, ?, ?)"
            " ORDER BY pinned DESC, last DESC, chat DESC LIMIT ?"
        )
        values = (str(owner), pinned, last, chat, most + 1)

        def read(connection: Connection) -> Entries:
            found = [_entry(row) for row in connection.execute(query, values)]
            end = found[most - 1] if len(found) > most else None
            more = f"{int(end.is_pinned)} {end.last!r} {end.chat}" if end else ""
            return Entries(entries=tuple(found[:most]), more=more)

        return await self._reader.run(read)

    async def find(self, owner: ChatKey, words: str) -> Sequence[Hit]:
        """Return the newest conversations whose titles contain these words, then messages that have all of them."""
        titles = (
            f"{_SELECT} WHERE owner = ? AND deleted IS NULL"
            " AND (instr(lower(title), ?) > 0 OR instr(lower(words), ?) > 0) ORDER BY last DESC LIMIT ?"
        )
        sought = " ".join(words.lower().split())
        await index_newest(self._writer)

        def read(connection: Connection) -> list[Hit]:
            rows = connection.execute(titles, (str(owner), sought, sought, MOST_HITS)) if sought else ()
            hits = [Hit(entry=_entry(row), words="") for row in rows]
            entries = f"{_SELECT} WHERE chat = ? AND owner = ? AND deleted IS NULL"
            for chat, text in found_in(connection, owner, words, MOST_HITS):
                row = connection.execute(entries, (str(chat), str(owner))).fetchone()
                if row is not None:
                    hits.append(Hit(entry=_entry(row), words=_around(text, sought)))
            return hits

        return await self._reader.run(read)

    async def titles(self, chats: Iterable[ChatKey | str]) -> Mapping[ChatKey, str]:
        """Return the titles of those of these chats that are in a list, or the start of what was said first."""
        wanted = list(dict.fromkeys(map(str, chats)))[:MOST_TITLES]
        marks = ", ".join("?" * len(wanted))
        query = f"{_SELECT} WHERE deleted IS NULL AND chat IN ({marks})"

        def read(connection: Connection) -> dict[ChatKey, str]:
            return {each.chat: each.title for each in map(_entry, connection.execute(query, wanted)) if each.title}

        return await self._reader.run(read) if wanted else {}

    def heard(self, chat: ChatKey, words: str, at: float) -> None:
        """Record what a person wrote. It is written with the next commit, and brings a deleted conversation back.

        A conversation is named by its first words; a command names it only until something else is said.
        """
        words = self._secrets.mask(" ".join(words[: 4 * LONGEST_TITLE].split()))[:LONGEST_TITLE]
        query = (
            "INSERT INTO conversations (chat, owner, words, last, seen) VALUES (?, ?, ?, ?, ?) ON CONFLICT (chat)"
            " DO UPDATE SET last = CASE WHEN excluded.last > conversations.last THEN excluded.last"
            " ELSE conversations.last END, seen = excluded.seen, deleted = NULL,"
            " words = CASE WHEN conversations.words = '' OR (substr(conversations.words, 1, 1) = '/'"
            " AND substr(excluded.words, 1, 1) <> '/') THEN excluded.words ELSE conversations.words END"
        )
        row = (str(chat), str(chat.without_thread), words, at, at)

        def change(connection: Connection) -> None:
            connection.execute(query, row)

        self._writer.submit(change, later=True)

    def answered(self, chat: ChatKey, at: float) -> None:
        """Record that Parley wrote. It is written with the next commit."""
        query = (
            "INSERT INTO conversations (chat, owner, last, answered) VALUES (?, ?, ?, ?) ON CONFLICT (chat)"
            " DO UPDATE SET last = CASE WHEN excluded.last > conversations.last THEN excluded.last"
            " ELSE conversations.last END, answered = excluded.answered,"
            " deleted = CASE WHEN excluded.last > conversations.deleted + ? THEN NULL ELSE conversations.deleted END"
        )
        row = (str(chat), str(chat.without_thread), at, at, UNDO_SECONDS)

        def change(connection: Connection) -> None:
            connection.execute(query, row)

        self._writer.submit(change, later=True)

    async def rename(self, chat: ChatKey, title: str) -> str:
        """Give a conversation a title, and return it as it is kept; without a title, the start of what was said."""
        kept = self._secrets.mask(" ".join(title.split()))[:LONGEST_TITLE]

        def change(connection: Connection) -> str:
            connection.execute("UPDATE conversations SET title = ? WHERE chat = ?", (kept, str(chat)))
            row = connection.execute(f"{_SELECT} WHERE chat = ?", (str(chat),)).fetchone()
            return _entry(row).title if row else kept

        return await self._writer.submit(change)

    async def pin(self, chat: ChatKey, *, pinned: bool) -> None:
        """Put a conversation at the top of the list, or take it from there."""
        await self._set("pinned", int(pinned), chat)

    async def see(self, chat: ChatKey) -> None:
        """Record that a conversation was seen up to now."""
        await self._set("seen", self._clock.time(), chat)

    async def delete(self, chat: ChatKey, *, deleted: bool) -> None:
        """Take a conversation out of the list, or bring it back."""
        await self._set("deleted", self._clock.time() if deleted else None, chat)

    async def _set(self, column: str, value: float | None, chat: ChatKey) -> None:
        def change(connection: Connection) -> None:
            connection.execute(f"UPDATE conversations SET {column} = ? WHERE chat = ?", (value, str(chat)))  # noqa: S608

        await self._writer.submit(change)


def _entry(row: tuple[str, str, float, int, int]) -> Entry:
    chat, title, last, pinned, unread = row
    return Entry(chat=ChatKey.parse(chat), title=title, last=last, is_pinned=bool(pinned), is_unread=bool(unread))


def _position(after: str) -> tuple[int, float, str]:
    """Parse where a page begins. Raises ValueError."""
    if not after:
        return 2, 0.0, ""
    pinned, last, chat = after.split(" ", 2)
    return int(pinned), float(last), chat


def _around(text: str, sought: str) -> str:
    """Return the part of a text around the first of the words sought."""
    line = " ".join(text.split())
    lower = line.lower()
    at = min((place for word in sought.split() if (place := lower.find(word)) >= 0), default=0)
    start, end = max(0, at - _AROUND), at + 2 * _AROUND
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
