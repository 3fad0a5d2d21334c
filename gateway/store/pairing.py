"""The tables of the pairing code and of wrong tries."""

import hmac
from collections.abc import Collection
from enum import StrEnum
from functools import partial

from msgspec import Struct

from gateway.store.connection import Connection
from gateway.store.people import check_seen, save_person
from gateway.store.person import Person
from gateway.store.table import Table, alone
from gateway.store.topics import Topic

LASTS = 3_600.0
"""Seconds that a code is valid, and that a sender with too many wrong tries is locked."""
MOST_OF_SENDER = 5
MOST_OF_CODE = 50
"""Wrong tries."""
_NOTE_TRY = (
    "INSERT INTO pairing_tries (principal, wrong, at) VALUES (?, ?, ?) ON CONFLICT (principal) DO UPDATE"
    " SET wrong = excluded.wrong, at = excluded.at"
)
KEPT = 7 * 24 * 3_600.0
"""Seconds for which the outcome of an event is kept: platforms repeat none that is older."""


class Code(Struct, frozen=True):
    """A code to say in a direct chat."""

    text: str
    expires: float


class Try(StrEnum):
    """The outcome of a try."""

    PAIRED = "paired"
    WRONG = "wrong"
    NOW_LOCKED = "now locked"
    LOCKED = "locked"


class Pairing(Table):
    """The current pairing code, if there is one."""

    async def current(self, fresh: str) -> tuple[Code, bool]:
        """Return the valid code; `fresh` becomes the code if there is none. The second value tells if it did."""
        now = self._clock.time()

        def change(connection: Connection) -> tuple[Code, bool]:
            alone(connection)
            found = _code(connection, now)
            if found is not None:
                return found, False
            connection.execute("DELETE FROM pairing")
            connection.execute("INSERT INTO pairing VALUES (1, ?, ?, 0)", (fresh, now + LASTS))
            connection.execute("DELETE FROM pairing_tries WHERE at <= ?", (now - LASTS,))
            return Code(fresh, now + LASTS), True

        return await self._writer.submit(change)

    async def attempt(
        self, text: str, principal: str, owner: Person, event: str, seen: Collection[Person] | None = None
    ) -> tuple[Try, bool]:
        """Take the try of an event. The right code is used up by storing the owner in the same transaction.

        The second value is False for an event that was handled before; then nothing changes. Raises Outdated as
        `People.save` does.
        """
        now = self._clock.time()
        name = {each.principal: self._secrets.mask(each.name) for each in owner.accounts}

        def change(connection: Connection) -> tuple[Try, bool]:
            alone(connection)  # another node may be handling the same event
            if (earlier := _outcome(connection, event)) is not None:
                return Try(earlier), False
            done = attempt(connection)
            self._changed(connection, Topic.PAIRING)
            note_outcome(connection, event, done, now)
            return done, True

        def attempt(connection: Connection) -> Try:
            wrong = _wrong(connection, principal, now)
            if wrong >= MOST_OF_SENDER:
                return Try.LOCKED
            code = _code(connection, now)
            if code is not None and hmac.compare_digest(code.text.encode(), text.encode()):
                connection.execute("DELETE FROM pairing")
                check_seen(connection, owner, seen)
                save_person(connection, owner, name)
                self._changed(connection, Topic.PEOPLE)
                return Try.PAIRED
            connection.execute(_NOTE_TRY, (principal, wrong + 1, now))
            connection.execute("UPDATE pairing SET wrong = wrong + 1")
            connection.execute("DELETE FROM pairing WHERE wrong >= ?", (MOST_OF_CODE,))
            return Try.NOW_LOCKED if wrong + 1 == MOST_OF_SENDER else Try.WRONG

        return await self._writer.submit(change)

    async def outcome(self, event: str) -> str | None:
        """Return what came of the code of an event, if the event was handled before."""

        return await self._reader.run(partial(_outcome, event=event))


def note_outcome(connection: Connection, event: str, outcome: str, now: float) -> None:
    """Record what came of the code of an event, as part of a transaction."""
    connection.execute("DELETE FROM code_outcomes WHERE at <= ?", (now - KEPT,))
    query = "INSERT INTO code_outcomes (event, outcome, at) VALUES (?, ?, ?) ON CONFLICT (event) DO NOTHING"
    connection.execute(query, (event, outcome, now))


def _outcome(connection: Connection, event: str) -> str | None:
    query = "SELECT outcome FROM code_outcomes WHERE event = ?"
    return next((str(outcome) for (outcome,) in connection.execute(query, (event,))), None)


def _code(connection: Connection, now: float) -> Code | None:
    row = connection.execute("SELECT code, expires FROM pairing WHERE expires > ?", (now,)).fetchone()
    return Code(*row) if row else None


def _wrong(connection: Connection, principal: str, now: float) -> int:
    query = "SELECT wrong FROM pairing_tries WHERE principal = ? AND at > ?"
    return next((int(wrong) for (wrong,) in connection.execute(query, (principal, now - LASTS))), 0)
