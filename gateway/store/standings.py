"""The table of places that people have in workspaces and servers, as far as groups admit people by them."""

import json

from channels.base import (
    ChatKey,
)
from channels.values import Standing
from gateway.store.connection import Connection
from gateway.store.table import Table, readable
from gateway.store.topics import Topic
from gateway.store.unreadable import stored_texts


class Standings(Table):
    """The last standing told of each person, by platform, workspace and sender id."""

    async def all(self) -> dict[str, Standing]:
        """Return the standings by person."""

        def read(connection: Connection) -> dict[str, Standing]:
            rows = connection.execute("SELECT person, roles, is_full_member FROM standings")
            return dict(readable(rows, _standing, "standings"))

        return await self._writer.submit(read)  # in order with the changes that this process makes

    async def save(self, person: str, standing: Standing) -> None:
        values = (person, json.dumps(standing.roles), int(standing.is_full_member), self._clock.time())

        def change(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO standings (person, roles, is_full_member, at) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (person) DO UPDATE"
                " SET roles = excluded.roles, is_full_member = excluded.is_full_member, at = excluded.at",
                values,
            )
            self._changed(connection, Topic.STANDINGS)

        await self._writer.submit(change)


def person_in(chat: ChatKey, sender_id: str) -> str:
    """Return the key of a person's standing, which is that of a workspace or server."""
    return f"{chat.platform}:{chat.account}:{sender_id}"


def _standing(row: tuple[str, str, int]) -> tuple[str, Standing]:
    person, roles, is_full_member = row
    return person, Standing(roles=stored_texts(roles), is_full_member=bool(is_full_member))
