"""The tables of devices that are told, and of the key with which this installation signs."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import astuple

from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.table import Table

START = """
CREATE TABLE push (
  browser TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  key TEXT NOT NULL,
  auth TEXT NOT NULL,
  language TEXT NOT NULL
);
CREATE TABLE push_key (
  id INTEGER PRIMARY KEY,
  private TEXT NOT NULL
);
"""
_COLUMNS = "browser, principal, endpoint, key, auth, language"


class Device(Struct, frozen=True):
    """A browser that wants to be told, as its push service knows it."""

    browser: str
    """The digest of the signed-in browser."""
    principal: str
    endpoint: str
    """The address at its push service."""
    key: str
    """Its public key, in base64url."""
    auth: str
    """Its secret of 16 bytes, in base64url."""
    language: str


class Devices(Table):
    """The devices, and the key."""

    async def find(self, browser: str) -> Device | None:
        """Return the device of a browser."""

        def read(connection: Connection) -> Device | None:
            row = connection.execute(f"SELECT {_COLUMNS} FROM push WHERE browser = ?", (browser,)).fetchone()  # noqa: S608
            return Device(*row) if row else None

        return await self.read(read)

    async def keep(self, device: Device) -> None:
        """Add a device, or change it. An earlier browser with the same address is told no more."""
        marks = ", ".join("?" * len(astuple(device)))

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM push WHERE endpoint = ? OR browser = ?", (device.endpoint, device.browser))
            connection.execute(f"INSERT INTO push ({_COLUMNS}) VALUES ({marks})", astuple(device))  # noqa: S608

        await self.write(change)

    async def remove(self, browser: str, endpoint: str = "") -> None:
        """Tell a browser no more; with an address, unless it has another one by now."""

        def change(connection: Connection) -> None:
            connection.execute(
                "DELETE FROM push WHERE browser = ? AND (endpoint = ? OR ? = '')", (browser, endpoint, endpoint)
            )

        await self.write(change)

    async def private_key(self, make: Callable[[], str]) -> str:
        """Return the key with which this installation signs, which is made once."""

        def stored(connection: Connection) -> str:
            row = connection.execute("SELECT private FROM push_key WHERE id = 1").fetchone()
            return str(row[0]) if row else ""

        if found := await self.read(stored):
            return found
        made = make()

        def change(connection: Connection) -> str:
            connection.execute("INSERT INTO push_key (id, private) VALUES (1, ?) ON CONFLICT DO NOTHING", (made,))
            return stored(connection)

        return await self.write(change)


def browsers_of(connection: Connection, principals: Callable[[str], bool]) -> Sequence[str]:
    """Return the browsers of these people that are told, as part of a transaction."""
    rows = connection.execute("SELECT browser, principal FROM push ORDER BY browser").fetchall()
    return [browser for browser, principal in rows if principals(principal)]


def erase(connection: Connection, forgotten: Forgotten) -> None:
    """Erase the devices of a person."""
    connection.execute("DELETE FROM push WHERE principal = ?", (forgotten.principal,))
