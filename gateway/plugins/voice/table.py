"""The tables of transcribed recordings, and of the people who were told that nothing transcribes them."""

from msgspec import Struct

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.table import Table

START = """
-- They may be there already, as the core made them before.
CREATE TABLE IF NOT EXISTS voice_recordings (
  seq INTEGER NOT NULL,
  place INTEGER NOT NULL,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  words TEXT NOT NULL,
  seconds REAL,
  model TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (seq, place)
);
CREATE TABLE IF NOT EXISTS voice_notices (person TEXT PRIMARY KEY, seq INTEGER NOT NULL);
"""


class Recording(Struct, frozen=True):
    """A transcribed attachment of an inbox item."""

    seq: int
    place: int
    """Its position among the attachments."""
    chat: ChatKey
    person: str
    """The id of the sender."""
    words: str
    seconds: float | None
    """None if the length is not known."""
    model: str


class Recordings(Table):
    """Transcripts, so that none is made and paid twice."""

    async def find(self, seq: int, place: int) -> str | None:
        """Return the words of an attachment, if it was transcribed."""
        query = "SELECT words FROM voice_recordings WHERE seq = ? AND place = ?"

        def read(connection: Connection) -> str | None:
            row = connection.execute(query, (seq, place)).fetchone()
            return str(row[0]) if row else None

        return await self.read(read)

    async def add(self, made: Recording) -> None:
        """Store a transcript; the first one of an attachment stays."""
        words, now = self._secrets.mask(made.words), self._clock.time()
        row = (made.seq, made.place, str(made.chat), made.person, words, made.seconds, made.model, now)
        query = "INSERT INTO voice_recordings VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"

        def change(connection: Connection) -> None:
            connection.execute(query, row)

        await self.write(change)

    async def is_first_notice(self, person: str, seq: int) -> bool:
        """Record that a person is told, with this inbox item. Returns False if they were told with another one."""

        def change(connection: Connection) -> bool:
            connection.execute("INSERT INTO voice_notices VALUES (?, ?) ON CONFLICT DO NOTHING", (person, seq))
            told = connection.execute("SELECT seq FROM voice_notices WHERE person = ?", (person,)).fetchone()
            return bool(told == (seq,))

        return await self.write(change)


def erase(connection: Connection, forgotten: Forgotten) -> None:
    """Delete the transcripts of what a person has recorded, and that they were told."""
    direct = [(str(chat),) for chat in forgotten.direct]
    connection.executemany("DELETE FROM voice_recordings WHERE chat = ?", direct)
    groups = [(str(chat), forgotten.account.id) for chat in forgotten.groups]
    connection.executemany("DELETE FROM voice_recordings WHERE chat = ? AND person = ?", groups)
    chats = forgotten.account.chats
    told = connection.execute(
        "SELECT person FROM voice_notices WHERE person >= ? AND person < ?", (chats, f"{chats[:-1]};")
    ).fetchall()
    theirs = [row for row in told if row[0].endswith(f":{forgotten.account.id}")]
    connection.executemany("DELETE FROM voice_notices WHERE person = ?", theirs)
