"""The marker of a home that several nodes share: a file in it with the id of the database that it belongs to."""

import asyncio
import os
from pathlib import Path

from gateway.errors import HomeUnusable, ParleyError
from gateway.store.connection import Connection
from gateway.store.table import Table

FILE = "database.id"


class ForeignHome(ParleyError):
    """The home is that of another database."""

    def __init__(self, home: Path) -> None:
        super().__init__(
            f"{home} belongs to another database than the one in PARLEY_DATABASE_URL: {home / FILE} says so. Set "
            "PARLEY_HOME to the folder that belongs to this database, or name the other database."
        )


class HomeNotShared(ParleyError):
    """The home is not the folder that the other nodes share."""

    def __init__(self, home: Path, name: str) -> None:
        super().__init__(
            f"{home} is not the folder that goes with this database: {FILE} is missing in it. Mount the folder that "
            f"the other nodes use as PARLEY_HOME. If you have brought its files here, also write {name} into "
            f"{home / FILE}."
        )


class HomeMarker(Table):
    """Compares the file with the store, which knows if there is one."""

    async def check(self, home: Path) -> None:
        """Create the marker with the first start. Raises ForeignHome, HomeNotShared and HomeUnusable."""
        name, is_marked = await self._reader.run(known_marker)
        try:
            found = await asyncio.to_thread(_read_or_create, home / FILE, None if is_marked else name)
        except OSError as error:
            raise HomeUnusable(home / FILE, error.strerror or str(error)) from error
        if found is None:
            raise HomeNotShared(home, name)
        if found != name:
            raise ForeignHome(home)
        if not is_marked:
            await self._writer.submit(lambda connection: connection.execute("UPDATE store SET marked = 1"))


def known_marker(connection: Connection) -> tuple[str, bool]:
    """Return the id of the store, and True if its home has a marker with it."""
    name, is_marked = connection.execute("SELECT id, marked FROM store").fetchone()
    return str(name), bool(is_marked)


def _read_or_create(file: Path, name: str | None) -> str | None:
    """Return the content of the file; it is created with `name` if it is missing, else None is returned."""
    if name is not None:
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(handle, "w") as new:
                new.write(f"{name}\n")
                new.flush()
                os.fsync(new.fileno())
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        return None
