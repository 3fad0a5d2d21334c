"""The table of people's time zones."""

from msgspec import Struct

from gateway.store.connection import Connection
from gateway.store.table import Table, readable
from gateway.store.topics import Topic

SAID = "said"
"""The source of a zone that the person has named."""
BROWSER = "browser"
"""The source of a zone that the page has told; others are platforms."""


class PersonZone(Struct, frozen=True):
    """The time zone of an account's person, as far as it is known."""

    principal: str
    zone: str | None
    """None: the person was asked and has not answered."""
    source: str
    is_told: bool = False
    """True once the person was told the zone and its source, or asked."""


class PersonZones(Table):
    """The time zones of people, by account."""

    async def all(self) -> dict[str, PersonZone]:
        """Return what is known, by principal, in order with the changes that this process makes."""

        def read(connection: Connection) -> dict[str, PersonZone]:
            rows = connection.execute("SELECT principal, zone, source, is_told FROM person_zones")
            return {each.principal: each for each in readable(rows, _person_zone, "person_zones")}

        return await self._writer.submit(read)

    async def save(self, known: PersonZone) -> None:
        """Insert what is known of an account, or replace it; other nodes are told."""

        def change(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO person_zones (principal, zone, source, is_told) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (principal) DO UPDATE SET zone = excluded.zone, source = excluded.source,"
                " is_told = excluded.is_told",
                (known.principal, known.zone, known.source, int(known.is_told)),
            )
            self._changed(connection, Topic.ZONES)

        await self._writer.submit(change)


def _person_zone(row: tuple[str, str | None, str, int]) -> PersonZone:
    principal, zone, source, is_told = row
    return PersonZone(principal, zone, source, bool(is_told))
