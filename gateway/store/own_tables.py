"""Lets the SQL of a plugin touch the tables of the plugin only.

Each statement is tried once on an empty database in memory that has these tables and no others, so that it is refused
whatever it names besides: a table of Parley or of another plugin, the schema, a function of one database only.
"""

import re
import sqlite3
from collections.abc import Iterable
from threading import Lock
from typing import Any

from gateway.store.connection import Connection, Rows
from gateway.store.plugin_tables import PluginTables

_LITERAL = re.compile(r"(?P<kind>[\w&]?)'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_READ_DIFFERENTLY = re.compile(r"--|/\*|[\r$`\[\]'\"]")
"""Signs outside of literals that SQLite and PostgreSQL do not read in the same way, or that begin one without end."""
_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_UPDATE,
    sqlite3.SQLITE_DELETE,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_OF_SQLITE = ("sqlite_", "pragma_")


class NotItsTable(ValueError):
    """A statement of a plugin touches more than its own tables, or is none for both databases."""

    def __init__(self, plugin: str, statement: str, reason: object) -> None:
        shown = " ".join(statement.split())[:80]
        super().__init__(
            f"the plugin {plugin} may touch its own tables only, with SQL for both databases: {shown!r} "
            f"is refused ({reason})"
        )


class OwnTables:
    """The tables of a plugin, and the statements that are known to touch no others."""

    def __init__(self, tables: PluginTables) -> None:
        self._tables = tables
        self._trial: sqlite3.Connection | None = None
        """Made for the first statement."""
        self._known: set[str] = set()
        self._lock = Lock()

    def check(self, statement: str) -> None:
        """Raise NotItsTable for a statement that may touch more."""
        if statement in self._known:
            return
        with self._lock:
            try:
                self._try(statement)
            except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
                raise NotItsTable(self._tables.plugin, statement, error) from None
        self._known.add(statement)

    def only(self, connection: Connection) -> Connection:
        """Return a connection that takes no other statements."""
        return _OwnConnection(connection, self)

    def _try(self, statement: str) -> None:
        for literal in _LITERAL.finditer(statement):
            if literal["kind"]:
                raise ValueError(f"a text may not begin with {literal['kind']}'")
        if found := _READ_DIFFERENTLY.search(_LITERAL.sub("", statement)):
            raise ValueError(f"{found[0]!r} may stand in texts only")
        if self._trial is None:
            self._trial = self._tables.on_trial()
            self._trial.set_authorizer(_authorized)
        try:
            self._trial.execute(f"EXPLAIN {statement}")
        except sqlite3.ProgrammingError as error:
            if "one statement" in str(error):
                raise
            # it was understood, and its values are missing


class _OwnConnection:
    """Implements `Connection` for the SQL of a plugin."""

    def __init__(self, connection: Connection, own: OwnTables) -> None:
        self.whole = connection
        self._own = own

    @property
    def in_transaction(self) -> bool:
        return self.whole.in_transaction

    def execute(self, statement: str, values: Any = (), /) -> Rows:
        self._own.check(statement)
        return self.whole.execute(statement, values)

    def executemany(self, statement: str, values: Iterable[Any], /) -> Rows:
        self._own.check(statement)
        return self.whole.executemany(statement, values)


def whole(connection: Connection) -> Connection:
    """Return the connection itself of one that was limited to the tables of a plugin."""
    return connection.whole if isinstance(connection, _OwnConnection) else connection


def _authorized(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    names = second if action == sqlite3.SQLITE_FUNCTION else first
    if action not in _ALLOWED or (names or "").lower().startswith(_OF_SQLITE) or names == "load_extension":
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK
