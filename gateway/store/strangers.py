"""The table of unknown people who wrote in a direct chat and wait for a decision."""

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace
from pydantic import TypeAdapter

from channels.base import CommandInvoked, MessageReceived
from gateway.store.connection import Connection, Rows
from gateway.store.table import Table, alone, readable
from gateway.store.topics import Topic

KEPT = 7 * 24 * 3_600.0
"""Seconds for which a stranger and their words are kept."""
LONGEST = 500
"""Characters of a stranger's words that are kept."""
MOST_SHOWN = 3
"""Strangers who are shown to owners and admins at once; the others wait."""
MOST = 1_000
"""Strangers who are kept; further ones are ignored, so that mass-created accounts cannot fill the disk."""

Said = MessageReceived | CommandInvoked
_SAID: TypeAdapter[Said] = TypeAdapter(Said)
_SELECT = "SELECT id, principal, event, at, state FROM strangers"


class StrangerState(StrEnum):
    WAITING = "waiting"
    """Not shown yet, because others are."""
    SHOWN = "shown"
    IGNORED = "ignored"
    """The words are deleted, and further ones are not kept."""


class Stranger(Struct, frozen=True):
    """An unknown person and the first words."""

    id: str
    principal: str
    event: Said
    """The first message with the words of all, or the first command if there is no message."""
    at: float
    """When the first event came, in seconds since the epoch."""
    state: StrangerState

    @property
    def words(self) -> str:
        if isinstance(self.event, MessageReceived):
            return self.event.text
        return f"/{self.event.name} {self.event.arguments}".strip()


class Strangers(Table):
    """The strangers of the last week, oldest first."""

    async def hear(self, new_id: str, principal: str, said: Said) -> Stranger | None:
        """Keep the words of a stranger. Returns the stranger if they are new, or had said no more than a command.

        At most `MOST_SHOWN` are in the state `SHOWN`; a later one waits.
        """
        now = self._clock.time()
        said = self._secrets.masked(_bare(said))

        def change(connection: Connection) -> Stranger | None:
            alone(connection)
            _forget_old(connection, now)
            known = _find(connection, "principal = ?", principal)
            self._changed(connection, Topic.STRANGERS)
            if known is not None:
                _add_words(connection, known, said)
                only_began = isinstance(known.event, CommandInvoked) and isinstance(said, MessageReceived)
                is_open = known.state is not StrangerState.IGNORED
                return replace(known, event=said) if only_began and is_open else None
            (count,) = connection.execute("SELECT count(*) FROM strangers").fetchone()
            if count >= MOST:
                return None
            (shown,) = connection.execute("SELECT count(*) FROM strangers WHERE state = 'shown'").fetchone()
            state = StrangerState.SHOWN if shown < MOST_SHOWN else StrangerState.WAITING
            stranger = Stranger(new_id, principal, said, now, state)
            row = stranger.id, principal, said.model_dump_json(), now, state.value
            connection.execute("INSERT INTO strangers (id, principal, event, at, state) VALUES (?, ?, ?, ?, ?)", row)
            return stranger

        return await self._writer.submit(change)

    async def all(self) -> list[Stranger]:
        """Return all strangers, oldest first."""
        since = self._clock.time() - KEPT

        def read(connection: Connection) -> list[Stranger]:
            return list(_strangers(connection.execute(f"{_SELECT} WHERE at > ? ORDER BY at, id", (since,))))

        return await self._reader.run(read)

    async def find(self, key: str) -> Stranger | None:
        """Return the stranger with this id, unless their time is over."""
        since = self._clock.time() - KEPT

        def read(connection: Connection) -> Stranger | None:
            found = _find(connection, "id = ?", key)
            return found if found is not None and found.at > since else None

        return await self._reader.run(read)

    async def ignore(self, key: str) -> bool:
        """Delete the words of a stranger and ignore further ones. Returns False if there is no such stranger."""

        def change(connection: Connection) -> bool:
            known = _find(connection, "id = ?", key)
            if known is None or known.state is StrangerState.IGNORED:
                return False
            empty = _without_words(known.event).model_dump_json()
            connection.execute("UPDATE strangers SET state = 'ignored', event = ? WHERE id = ?", (empty, key))
            self._changed(connection, Topic.STRANGERS)
            return True

        return await self._writer.submit(change)

    async def forget(self, principal: str) -> bool:
        """Delete a stranger and the words. Returns False if there is none."""

        def change(connection: Connection) -> bool:
            return connection.execute("DELETE FROM strangers WHERE principal = ?", (principal,)).rowcount == 1

        return await self._writer.submit(change)

    async def show_next(self) -> None:
        """Delete strangers whose time is over, and show others in their place."""
        now = self._clock.time()

        def change(connection: Connection) -> None:
            alone(connection)
            _forget_old(connection, now)
            (shown,) = connection.execute("SELECT count(*) FROM strangers WHERE state = 'shown'").fetchone()
            connection.execute(
                "UPDATE strangers SET state = 'shown'"
                " WHERE id IN (SELECT id FROM strangers WHERE state = 'waiting' ORDER BY at, id LIMIT ?)",
                (max(0, MOST_SHOWN - shown),),
            )

        await self._writer.submit(change)


def _bare(said: Said) -> Said:
    """Return an event with at most `LONGEST` characters of its author's own words, without files or quotations."""
    if isinstance(said, CommandInvoked):
        return said.model_copy(update={"arguments": said.arguments[:LONGEST]})
    bare = {"text": said.text[:LONGEST], "shared": "", "attachments": (), "reply_to": None, "quoted": None}
    return said.model_copy(update=bare)


def _without_words(said: Said) -> Said:
    return said.model_copy(update={"arguments": ""} if isinstance(said, CommandInvoked) else {"text": ""})


def _add_words(connection: Connection, known: Stranger, said: Said) -> None:
    """Add the words of a message, up to the limit. A message takes the place of a command."""
    if known.state is StrangerState.IGNORED or not isinstance(said, MessageReceived):
        return
    if isinstance(known.event, MessageReceived):
        if said.message_id == known.event.message_id:
            return  # delivered again
        text, named = f"{known.event.text}\n{said.text}"[:LONGEST], (*known.event.named, *said.named)
        said = known.event.model_copy(update={"text": text, "named": tuple(dict.fromkeys(named))})
    connection.execute("UPDATE strangers SET event = ? WHERE id = ?", (said.model_dump_json(), known.id))


def _forget_old(connection: Connection, now: float) -> None:
    connection.execute("DELETE FROM strangers WHERE at <= ?", (now - KEPT,))


def _find(connection: Connection, where: str, value: str) -> Stranger | None:
    return next(_strangers(connection.execute(f"{_SELECT} WHERE {where}", (value,))), None)


def _strangers(rows: Rows) -> Iterator[Stranger]:
    return readable(rows, _stranger, "strangers")


def _stranger(row: tuple[str, str, str, float, str]) -> Stranger:
    key, principal, event, at, state = row
    return Stranger(key, principal, _SAID.validate_json(event), at, StrangerState(state))
