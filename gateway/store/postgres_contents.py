"""The content of a PostgreSQL database, while no Parley uses it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from gateway.errors import ParleyError
from gateway.store.connection import CommitUnknown
from gateway.store.contents import Row
from gateway.store.nodes import fence_all, hold_all
from gateway.store.plugin_tables import Dialect
from gateway.store.portable_sql import on_server
from gateway.store.postgres import PostgresConnection, PostgresError
from gateway.store.postgres_opening import (
    LOCK,
    DatabaseUnusable,
    apply,
    check_schema,
    check_server,
    migrations,
    schema_of,
    shown,
)

_SCHEMAS = "(current_schema(), 'dbos')"
"""Those that Parley's program uses."""
_RUNNING = (
    "SELECT name, host, greatest(0, round(extract(epoch FROM clock_timestamp() - beat)))::bigint FROM nodes"
    " WHERE NOT fenced AND beat > clock_timestamp() - interval '10 s' ORDER BY beat DESC LIMIT 1"
)


class DatabaseBusy(ParleyError):
    """Another process uses the database."""

    def __init__(self, name: str, holder: str) -> None:
        super().__init__(f"{name} is in use by {holder}. Stop all that use it, wait ten seconds, and try again.")


class ServerContents:
    """The content of a database, in one transaction. Open it with `alone`."""

    dialect: Dialect = staticmethod(on_server)

    def __init__(self, connection: PostgresConnection, name: str) -> None:
        self.connection = connection
        self.name = name

    @property
    def is_empty(self) -> bool:
        query = f"SELECT count(*) FROM pg_tables WHERE schemaname IN {_SCHEMAS}"  # noqa: S608
        (tables,) = self.connection.execute(query).fetchone()
        return not tables

    def check(self) -> None:
        check_schema(self.connection, self.name)

    def columns(self) -> Iterator[tuple[str, str]]:
        yield from self.connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"
        )

    def rows(self, query: str) -> Iterator[Row]:
        return self.connection.stream(query)

    def add(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        self.connection.copy_in(table, columns, rows)

    @contextmanager
    def created(self) -> Iterator[None]:
        for step in migrations():
            apply(self.connection, step)
        yield
        self.connection.execute("UPDATE store SET id = replace(gen_random_uuid()::text, '-', '')")
        self._continue_numbers()
        self.connection.execute("COMMIT")

    def leave(self) -> None:
        self.connection.execute("UPDATE schema_version SET number = -abs(number)")
        self.connection.execute("COMMIT")

    def come_back(self) -> None:
        self.connection.execute("UPDATE schema_version SET number = abs(number)")
        self.connection.execute("UPDATE store SET marked = 0")
        self.connection.execute("COMMIT")

    def _continue_numbers(self) -> None:
        """Let the numbers of new rows follow those of the copied ones."""
        numbered = self.connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND is_identity = 'YES'"
        )
        for table, column in numbered.fetchall():
            self.connection.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max({column})) FROM {table}"  # noqa: S608
                " HAVING count(*) > 0"
            )


@contextmanager
def alone(url: str) -> Iterator[ServerContents]:
    """Open a database in a transaction, in which no Parley can start there. Raises ParleyError."""
    name = shown(url)
    with closing(PostgresConnection(url)) as connection:
        try:
            check_server(connection, name)
            connection.execute("SET idle_in_transaction_session_timeout = 0")  # the other side may take its time
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("SELECT pg_try_advisory_lock(?)", (LOCK,)).fetchone() != (True,):
                raise DatabaseBusy(name, "a Parley that starts or moves its store")
            try:
                _fence_all(connection, name)
                yield ServerContents(connection, name)
            finally:
                _unlock(connection)
        except (PostgresError, CommitUnknown) as error:
            raise DatabaseUnusable(
                f"{name} cannot be used ({error}). See that PostgreSQL runs there with room on its disk, and that the "
                "address has the right user, password and database; then try again. What was not finished is undone."
            ) from error


def _unlock(connection: PostgresConnection) -> None:
    """End the lock at once, as the server may notice the end of the connection only later."""
    with suppress(PostgresError):  # it is lost, and the lock with it
        connection.execute("ROLLBACK")  # of what was not committed
        connection.execute("SELECT pg_advisory_unlock(?)", (LOCK,))


def _fence_all(connection: PostgresConnection, name: str) -> None:
    """Let no process that is cut off or frozen write later. Raises DatabaseBusy if one is alive."""
    if not schema_of(connection):
        return
    if running := connection.execute(_RUNNING).fetchone():
        node, host, seconds = running
        raise DatabaseBusy(name, f"{node} on {host}, {seconds} seconds ago")
    hold_all(connection)
    fence_all(connection)
