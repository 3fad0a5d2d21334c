"""The table of reactions that are not final, so that the next process can replace them."""

from dataclasses import dataclass
from enum import StrEnum

from agent_core.reasons import TerminalReason
from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.table import Table, in_chat, readable


class Fate(StrEnum):
    """The state of a message that has a reaction."""

    OPEN = "open"
    """It waits, or its run has not ended."""
    ANSWERED = "answered"
    DROPPED = "dropped"
    """It was dropped, or its run ended without a whole answer."""


@dataclass(frozen=True)
class LeftReaction:
    """A message that may carry a reaction of the previous process."""

    seq: int
    """The number of the message in the inbox."""
    chat: ChatKey
    message_id: str
    fate: Fate


_STATE = "SELECT state FROM inbox WHERE seq = ?"
_RUN = (
    "SELECT runs.state, runs.reason, runs.run FROM runs JOIN transcript USING (run)"
    " WHERE runs.chat = ? AND (runs.ended IS NULL OR runs.ended >= ?)"
    " AND json_extract(transcript.message, '$.id') = 'inbox-' || ? ORDER BY runs.started DESC LIMIT 1"
)
_FAILED = "SELECT 1 FROM outbox WHERE key > ? || ':answer:' AND key < ? || ':answer;' AND state = 'failed'"


class Reactions(Table):
    """Messages on which a reaction other than the last one is shown."""

    async def add(self, seq: int, chat: ChatKey, message_id: str) -> None:
        """Record a message before it gets a reaction."""
        row = seq, str(chat), message_id, self._clock.time()

        def change(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO reactions (seq, chat, message_id, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row
            )

        await self._writer.submit(change)

    async def remove(self, seq: int) -> None:
        """Delete the record of a message whose reaction is final or gone."""

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM reactions WHERE seq = ?", (seq,))

        await self._writer.submit(change)

    async def left(self, chat: ChatKey | None = None) -> list[LeftReaction]:
        """Return the messages that the previous process left with a reaction, and what became of each.

        `chat` limits them to those of one chat.
        """
        condition, values = in_chat(chat)
        query = f"SELECT seq, chat, message_id, at FROM reactions WHERE TRUE{condition} ORDER BY seq"  # noqa: S608

        def read(connection: Connection) -> list[LeftReaction]:
            def left(row: tuple[int, str, str, float]) -> LeftReaction:
                seq, chat, message, at = row
                return LeftReaction(seq, ChatKey.parse(chat), message, _fate(connection, seq, chat, at))

            return list(readable(connection.execute(query, values).fetchall(), left, "reactions"))

        return await self._reader.run(read)


def _fate(connection: Connection, seq: int, chat: str, at: float) -> Fate:
    state = connection.execute(_STATE, (seq,)).fetchone()
    if state is None or state[0] == "new":
        return Fate.OPEN if state else Fate.DROPPED
    run = connection.execute(_RUN, (chat, at, seq)).fetchone()
    if run is None:
        return Fate.DROPPED
    state, reason, name = run
    if state == "running":
        return Fate.OPEN
    is_whole = reason == TerminalReason.COMPLETED and connection.execute(_FAILED, (name, name)).fetchone() is None
    return Fate.ANSWERED if is_whole else Fate.DROPPED
