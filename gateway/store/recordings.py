"""The tables of transcribed recordings, and of the people who were told that nothing transcribes them."""

from dataclasses import dataclass

from gateway.store.connection import Connection
from gateway.store.table import Table


@dataclass(frozen=True)
class Recording:
    """A transcribed attachment of an inbox item."""

    seq: int
    place: int
    """Its position among the attachments."""
    words: str
    seconds: float | None
    """None if the length is not known."""
    model: str


class Recordings(Table):
    """Transcripts, so that none is made and paid twice."""

    async def find(self, seq: int, place: int) -> Recording | None:
        """Return the transcript of an attachment, if it was made."""
        query = "SELECT seq, place, words, seconds, model FROM recordings WHERE seq = ? AND place = ?"

        def read(connection: Connection) -> Recording | None:
            row = connection.execute(query, (seq, place)).fetchone()
            return Recording(*row) if row else None

        return await self._reader.run(read)

    async def add(self, made: Recording) -> None:
        """Store a transcript; the first one of an attachment stays."""
        words, now = self._secrets.mask(made.words), self._clock.time()
        row = (made.seq, made.place, words, made.seconds, made.model, now)

        def change(connection: Connection) -> None:
            connection.execute("INSERT INTO recordings VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row)

        await self._writer.submit(change)

    async def is_first_notice(self, person: str, seq: int) -> bool:
        """Record that a person is told, with this inbox item. Returns False if they were told with another one."""

        def change(connection: Connection) -> bool:
            connection.execute("INSERT INTO voice_notices VALUES (?, ?) ON CONFLICT DO NOTHING", (person, seq))
            told = connection.execute("SELECT seq FROM voice_notices WHERE person = ?", (person,)).fetchone()
            return bool(told == (seq,))

        return await self._writer.submit(change)
