"""The table of the menus of commands that single private chats and members of groups have."""

from msgspec import Struct

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.table import Table, readable

START = """
-- The menu that was set in each place that has one of its own, by a digest of its commands. It may be there already, as
-- the core made the table before.
CREATE TABLE IF NOT EXISTS menus (
  chat TEXT PRIMARY KEY,
  digest TEXT NOT NULL
);
"""


class MenuPlace(Struct, frozen=True):
    """A private chat, or one member of a group, with a menu of its own. It is stored as `CHAT` or `CHAT MEMBER`."""

    chat: ChatKey
    member: str = ""
    """Id of the member; empty in a private chat."""

    def __str__(self) -> str:
        return f"{self.chat} {self.member}".strip()

    @classmethod
    def parse(cls, stored: str) -> "MenuPlace":
        chat, _, member = stored.partition(" ")
        return cls(ChatKey.parse(chat), member)


class Menus(Table):
    """A digest of the commands in each menu that the platforms keep."""

    async def all(self) -> dict[MenuPlace, str]:
        """Return the digests by place."""

        def read(connection: Connection) -> dict[MenuPlace, str]:
            return dict(readable(connection.execute("SELECT chat, digest FROM menus"), _menu, "menus"))

        return await self.read(read)

    async def save(self, place: MenuPlace, digest: str | None) -> None:
        """Record that a place has a menu, or none of its own."""

        def change(connection: Connection) -> None:
            if digest is None:
                connection.execute("DELETE FROM menus WHERE chat = ?", (str(place),))
            else:
                connection.execute(
                    "INSERT INTO menus (chat, digest) VALUES (?, ?)"
                    " ON CONFLICT (chat) DO UPDATE SET digest = excluded.digest",
                    (str(place), digest),
                )

        await self.write(change)


def _menu(row: tuple[str, str]) -> tuple[MenuPlace, str]:
    place, digest = row
    return MenuPlace.parse(place), digest
