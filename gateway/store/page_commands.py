"""The table of commands that visitors of a page give in chats that another node works on."""

from channels.base import CommandInvoked
from gateway.store.connection import Connection
from gateway.store.table import Table, first_readable
from gateway.store.topics import Topic

KEPT = 3_600.0
"""Seconds after which a command is forgotten whose node has died."""


class PageCommands(Table):
    """Commands under way from one node to another, and their answers on the way back."""

    async def give(self, command: CommandInvoked) -> None:
        """Store a command under the id of its event, for the node that works on its chat."""
        event, now = self._secrets.masked(command).model_dump_json(), self._clock.time()

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM page_commands WHERE at < ?", (now - KEPT,))
            row = command.event_id, event, now
            connection.execute("INSERT INTO page_commands (id, event, at) VALUES (?, ?, ?)", row)
            self._changed(connection, Topic.COMMANDS, command.event_id)

        await self._writer.submit(change)

    async def offer(self, key: str) -> None:
        """Tell the other nodes of a command again."""
        await self._writer.submit(lambda connection: self._changed(connection, Topic.COMMANDS, key))

    async def withdraw(self, key: str) -> None:
        """Forget a command for whose answer nobody waits any more."""

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM page_commands WHERE id = ?", (key,))

        await self._writer.submit(change)

    async def find(self, key: str) -> CommandInvoked | None:
        """Return a command that nobody has taken."""

        def read(connection: Connection) -> CommandInvoked | None:
            query = "SELECT event FROM page_commands WHERE id = ? AND taken = 0"
            return first_readable(connection.execute(query, (key,)), _command, "page_commands")

        return await self._reader.run(read)

    async def take(self, key: str) -> bool:
        """Take a command, to carry it out. Returns False if it was taken or withdrawn."""

        def change(connection: Connection) -> bool:
            query = "UPDATE page_commands SET taken = 1 WHERE id = ? AND taken = 0"
            return connection.execute(query, (key,)).rowcount == 1

        return await self._writer.submit(change)

    async def answer(self, key: str, answer: str) -> None:
        """Store the answer to a command, for the node that waits for it."""
        answer = self._secrets.mask(answer)

        def change(connection: Connection) -> None:
            connection.execute("UPDATE page_commands SET answer = ? WHERE id = ?", (answer, key))
            self._changed(connection, Topic.ANSWERS, key)

        await self._writer.submit(change)

    async def fetch(self, key: str) -> str | None:
        """Return the answer to a command and forget both; None if there is none yet."""

        def change(connection: Connection) -> str | None:
            query = "DELETE FROM page_commands WHERE id = ? AND answer IS NOT NULL RETURNING answer"
            found = connection.execute(query, (key,)).fetchall()
            return next((str(answer) for (answer,) in found), None)

        return await self._writer.submit(change)


def _command(row: tuple[str]) -> CommandInvoked:
    (event,) = row
    return CommandInvoked.model_validate_json(event)
