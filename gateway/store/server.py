"""The store on a PostgreSQL server. Its modules are imported only when they are used, as they need an extra."""

import importlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from gateway.errors import ParleyError
from gateway.store.connection import Connection, Reads
from gateway.store.contents import OnServer
from gateway.store.plugin_tables import PluginTables
from gateway.store.signals import StoreNode
from gateway.store.writer import Writer


class NoDriver(ParleyError):
    """The extra with the PostgreSQL driver is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "PARLEY_DATABASE_URL needs packages that are missing. Start Parley with ./run, which installs them, or "
            "install its extra cluster, or remove the setting."
        )


class PostgresServer:
    """Operations on a database by its address."""

    def __init__(self, url: str) -> None:
        """Raises NoDriver."""
        self._url = url
        try:
            self._opening = importlib.import_module("gateway.store.postgres_opening")
        except ModuleNotFoundError as error:
            raise NoDriver from error

    async def wait_available(self) -> None:
        """Wait until the server accepts connections, up to a minute. Raises ParleyError."""
        await self._opening.wait_available(self._url)

    @asynccontextmanager
    async def opened(
        self, node: StoreNode | None = None, plugins: Sequence[PluginTables] = ()
    ) -> AsyncIterator[tuple[Writer, Reads]]:
        """Open the store, with the tables of these plugins. Raises ParleyError if the database cannot be used.

        `node` is the node that writes; None for a process that is not fenced.
        """
        fence, signals = (node.fence, node.signals) if node is not None else (None, None)
        async with self._opening.opened(self._url, fence, plugins) as (writing, reading):
            yield Writer(writing, fence=fence, signals=signals), reading

    async def migrate(self, plugins: Sequence[PluginTables] = ()) -> None:
        """Bring the schema and the tables of these plugins up to date. Raises ParleyError."""
        await self._opening.migrated(self._url, plugins)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a read-only connection to one snapshot, while Parley may run. Raises ParleyError."""
        with self._opening.reading(self._url) as connection:
            yield connection

    @contextmanager
    def alone(self) -> Iterator[OnServer]:
        """Open the content in one transaction while no Parley uses the database. Raises ParleyError."""
        with importlib.import_module("gateway.store.postgres_contents").alone(self._url) as contents:
            yield contents

    def about(self) -> str:
        """Return a line about the database for the doctor. Raises ParleyError if it cannot be used."""
        with self.read() as connection:
            return str(self._opening.about(connection, self._url))

    def is_behind(self) -> bool:
        """Return True if the tables are missing or older, so that a start makes them. Raises other ParleyErrors."""
        return bool(self._opening.is_behind(self._url))

    def pooler_problem(self) -> str:
        """Return what a connection pooler breaks, or "" if nothing. Raises ParleyError."""
        return str(self._opening.pooler_problem(self._url))
