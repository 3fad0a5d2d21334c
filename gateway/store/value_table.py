"""A table of the store whose rows are the values of a class."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import Generic, TypeVar

from pydantic import BaseModel, TypeAdapter

from agent_core.json_text import read_json
from agent_core.origin import Origin, in_line
from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.table import Table, readable
from gateway.store.topics import Topic

Value = TypeVar("Value")
SqlValue = str | float | None
Values = Mapping[str, SqlValue]
Also = Callable[[Connection, Value, Value], None]
"""Is called with a value as it was and as it is now."""


class RowCodec(Generic[Value]):
    """Converts values to rows and back, and holds the statements for them.

    A column bears the name of its field, unless another is given. Models and lists are stored as JSON.
    """

    def __init__(
        self, kind: type[Value], table: str, json_fields: Iterable[str] = (), columns: Mapping[str, str] | None = None
    ) -> None:
        """`columns` maps fields to their columns where the names differ."""
        self._table = table
        self._made_of = kind
        self._fields = [*signature(kind).parameters]
        self._decoders: dict[str, Callable[[str], object]] = {
            "chat": ChatKey.parse,
            "origin": in_line,
            **dict.fromkeys(json_fields, read_json),
        }
        named, marks = (
            ", ".join((columns or {}).get(name, name) for name in self._fields),
            ", ".join("?" * len(self._fields)),
        )
        self._select = f"SELECT {named} FROM {table} WHERE"  # noqa: S608
        self._insert = f"INSERT INTO {table} ({named}) VALUES ({marks}) ON CONFLICT DO NOTHING"  # noqa: S608
        self._update = f"UPDATE {table} SET ({named}) = ({marks}) WHERE"  # noqa: S608

    @cached_property
    def _kind(self) -> TypeAdapter[Value]:
        return TypeAdapter(self._made_of)

    def select(self, connection: Connection, where: str, values: Values) -> Iterator[Value]:
        """Yield the values of the rows where the condition holds; rows that cannot be read are logged and skipped."""
        return readable(connection.execute(f"{self._select} {where}", values), self._value, self._table)

    def add(self, connection: Connection, value: Value) -> bool:
        """Insert a value. Returns False if its key is taken."""
        return connection.execute(self._insert, self._row(value)).rowcount == 1

    def save(self, connection: Connection, value: Value, *key: str) -> None:
        """Overwrite the row whose fields of these names equal those of the value."""
        where = " AND ".join(f"{name} = ?" for name in key)
        found = [_encoded(name, getattr(value, name)) for name in key]
        connection.execute(f"{self._update} {where}", (*self._row(value), *found))

    def _row(self, value: Value) -> tuple[SqlValue, ...]:
        return tuple(_encoded(name, getattr(value, name)) for name in self._fields)

    def _value(self, row: Sequence[object]) -> Value:
        """Raise ValueError for a row with invalid values."""
        pairs = zip(self._fields, row, strict=True)
        return self._kind.validate_python({name: self._decoded(name, column) for name, column in pairs})

    def _decoded(self, name: str, column: object) -> object:
        decode = self._decoders.get(name)
        return decode(column) if decode and isinstance(column, str) else column


class ValueTable(Table, Generic[Value]):
    """Reads and changes the values of a table. A subclass gives the rows, and says what of a value is masked."""

    rows: RowCodec[Value]
    key: str
    """Name of the field that `change` finds a value by."""
    topic: Topic | None = None
    """Of what other nodes are told when a value has changed."""

    async def change(
        self, key: str | ChatKey, step: Callable[[Value], Value], also: Also[Value] | None = None
    ) -> Value | None:
        """Apply a step to a value in its current state. Returns the result, or None if there is no such value.

        `also` changes what belongs to it in the same transaction.
        """

        def change(connection: Connection) -> Value | None:
            if not self._lock(connection, str(key)):
                return None
            found = next(self.rows.select(connection, f"{self.key} = :key", {"key": str(key)}), None)
            if found is None:
                return None
            value = self._masked(step(found))
            if value != found:
                self.rows.save(connection, value, self.key)
                if self.topic:
                    self._changed(connection, self.topic)
            if also is not None:
                also(connection, found, value)
            return value

        return await self._writer.submit(change)

    async def _read(self, where: str, values: Values) -> list[Value]:
        def read(connection: Connection) -> list[Value]:
            return list(self.rows.select(connection, where, values))

        return await self._reader.query(read)

    def _lock(self, connection: Connection, key: str) -> bool:
        """Let no other node change a value until the end of the transaction. Returns False if there is no such value.

        Nothing is locked where only one node can change a value.
        """
        return True

    def _masked(self, value: Value) -> Value:
        """Return the value without secrets, as it is stored."""
        return value


def _encoded(name: str, value: object) -> SqlValue:
    match value:
        case ChatKey():
            return str(value)
        case BaseModel():
            return value.model_dump_json()
        case tuple():
            return json.dumps(value)
        case Origin():
            return value.line
        case str() | int() | float() | None:
            return value
    raise TypeError(f"{name} cannot be stored")
