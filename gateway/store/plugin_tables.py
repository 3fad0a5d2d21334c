"""The tables of plugins: their migrations, and what was applied of them."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import closing

from msgspec import Struct

from gateway.errors import ParleyError
from gateway.store.connection import Connection
from gateway.store.portable_sql import Statement, on_file, statements

Dialect = Callable[[Statement], str]
"""Returns a statement as one of the databases takes it."""
_ADOPTS = re.compile(r"CREATE\s+TABLE\s+IF\b", re.IGNORECASE)
_REFUSED = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH}
"""SQLite's codes where a statement itself is wrong, also for PostgreSQL."""


class PluginTablesUnusable(ParleyError):
    """The tables of a plugin are not as it needs them. `plugin` is its name. Nothing was changed."""

    def __init__(self, plugin: str, sentences: str) -> None:
        super().__init__(sentences)
        self.plugin = plugin


class PluginTablesTooNew(PluginTablesUnusable):
    """The tables of a plugin were changed by a later version of it."""

    def __init__(self, plugin: str, found: int, known: int) -> None:
        super().__init__(
            plugin,
            f"The tables of the plugin {plugin} have schema {found}, but this version of it knows {known}. Start the "
            "newer version of the plugin, or bring back a backup from before it with `parley restore FILE`.",
        )


class PluginTablesRefused(PluginTablesUnusable):
    """The tables of a plugin cannot be made or changed as it asks."""

    def __init__(self, plugin: str, number: int, reason: object) -> None:
        super().__init__(
            plugin,
            f"The plugin {plugin} cannot make its tables: {reason} (migration {number}). Nothing was changed. Remove "
            "the plugin, or tell its authors.",
        )


class Migration(Struct, frozen=True):
    """One of the migrations of a plugin."""

    plugin: str
    number: int
    """From 1."""
    sql: str


class PluginTables(Struct, frozen=True):
    """The tables of a plugin, as its migrations make them one after the other.

    Their names, and those of their indexes, are the plugin's or begin with it and `_`. A migration changes only tables
    that one of them makes, and reads no others.
    """

    plugin: str
    migrations: Sequence[str]
    adopts: bool = False
    """True if the core may have made its tables before."""
    unfinished: str = ""
    """The table that names the chats in which something is to be finished, in a column `chat`."""

    def __post_init__(self) -> None:
        """Raises PluginTablesRefused, and ValueError if `unfinished` is no such table."""
        made: set[str] = set()
        for step in self.steps:
            try:
                for statement in statements(step.sql):
                    self._check(statement, made)
            except ValueError as error:
                raise PluginTablesRefused(self.plugin, step.number, error) from None
        if self.unfinished:
            self._check_unfinished()

    @property
    def made(self) -> Set[str]:
        """Return the names of the tables that the migrations make, without those that they drop again."""
        made: set[str] = set()
        for statement in (each for step in self.steps for each in statements(step.sql)):
            if statement.makes_table:
                made |= statement.names
            elif statement.verb == "DROP":
                made -= statement.names
        return made

    def on_trial(self) -> sqlite3.Connection:
        """Return an empty database in memory that has these tables and no others. Raises PluginTablesRefused."""
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for step in self.steps:
            make(connection, step, on_file)
        for table in sorted(made := self.made):
            for _, _, other, *_ in connection.execute(f"PRAGMA foreign_key_list({table})"):
                if other.lower() not in made:
                    raise PluginTablesRefused(self.plugin, len(self.migrations), f"{table} refers to {other}")
        return connection

    @property
    def steps(self) -> list[Migration]:
        return [Migration(self.plugin, number, sql) for number, sql in enumerate(self.migrations, start=1)]

    def _check_unfinished(self) -> None:
        try:
            with closing(self.on_trial()) as trial:
                if self.unfinished in self.made and trial.execute(f"SELECT chat FROM {self.unfinished}"):  # noqa: S608
                    return
        except sqlite3.Error:
            pass
        raise ValueError(f"its unfinished is {self.unfinished!r}, which is no table of its own with a column chat")

    def _check(self, statement: Statement, made: set[str]) -> None:
        for name in sorted(statement.names):
            if name != self.plugin and not name.startswith(f"{self.plugin}_"):
                raise ValueError(f"the name {name} does not begin with {self.plugin}_")
        if not self.adopts and _ADOPTS.match(statement.text):
            raise ValueError("with IF NOT EXISTS it would take the table of another")
        if statement.verb == "CREATE":
            made |= statement.names
        elif not statement.names <= made:
            raise ValueError(f"it has not made {', '.join(sorted(statement.names - made))}")


def recorded(connection: Connection) -> list[Migration]:
    """Return what was applied, also of plugins that are gone."""
    rows = connection.execute("SELECT plugin, number, sql FROM plugin_migrations ORDER BY plugin, number")
    return [Migration(*row) for row in rows.fetchall()]


def pending(connection: Connection, plugins: Iterable[PluginTables]) -> list[Migration]:
    """Return what is to be applied. Raises PluginTablesTooNew."""
    query = "SELECT plugin, max(number) FROM plugin_migrations GROUP BY plugin"
    numbers: dict[str, int] = dict(connection.execute(query).fetchall())
    found = []
    for each in plugins:
        number = numbers.get(each.plugin, 0)
        if number > len(each.migrations):
            raise PluginTablesTooNew(each.plugin, number, len(each.migrations))
        if missing := each.steps[number:]:
            each.on_trial().close()
            found += missing
    return found


def are_first(migrations: Iterable[Migration]) -> bool:
    """Return True if they are only of plugins that had no tables, which no other process uses."""
    migrations = [*migrations]
    begun = {each.plugin for each in migrations if each.number == 1}
    return all(each.plugin in begun for each in migrations)


def apply(connection: Connection, migrations: Iterable[Migration], dialect: Dialect) -> None:
    """Apply migrations in the open transaction, and record them. Raises PluginTablesRefused and sqlite3.Error."""
    for each in migrations:
        make(connection, each, dialect)
        connection.execute(
            "INSERT INTO plugin_migrations (plugin, number, sql) VALUES (?, ?, ?)", (each.plugin, each.number, each.sql)
        )


def make(connection: Connection, migration: Migration, dialect: Dialect) -> None:
    """Apply a migration in the open transaction without recording it. Raises PluginTablesRefused and sqlite3.Error."""
    try:
        for statement in statements(migration.sql):
            connection.execute(dialect(statement))
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in _REFUSED:
            raise
        raise PluginTablesRefused(migration.plugin, migration.number, error) from error
