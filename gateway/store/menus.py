"""The table of the menus of commands that single private chats have."""

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.table import Table


class Menus(Table):
    """A digest of the commands in each menu that the platforms keep."""

    async def all(self) -> dict[ChatKey, str]:
        """Return the digests by chat."""

        def read(connection: Connection) -> dict[ChatKey, str]:
            rows = connection.execute("SELECT chat, digest FROM menus").fetchall()
            return {ChatKey.parse(chat): digest for chat, digest in rows}

        return await self._reader.run(read)

    async def save(self, chat: ChatKey, digest: str | None) -> None:
        """Record that a chat has a menu, or none of its own."""

        def change(connection: Connection) -> None:
            if digest is None:
                connection.execute("DELETE FROM menus WHERE chat = ?", (str(chat),))
            else:
                connection.execute(
                    "INSERT INTO menus (chat, digest) VALUES (?, ?)"
                    " ON CONFLICT (chat) DO UPDATE SET digest = excluded.digest",
                    (str(chat), digest),
                )

        await self._writer.submit(change)
