"""Converts the values of a dataclass to rows of a table and back."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Generic, TypeVar

from pydantic import BaseModel, TypeAdapter

from agent_core.sources import listed, read
from channels.base import ChatKey
from gateway.store.table import readable

Value = TypeVar("Value")
SqlValue = str | float | None


def _sources(line: str) -> Sequence[str]:
    return read(line) if line else ()


class RowCodec(Generic[Value]):
    """A column bears the name of its field, unless another is given. Models and lists are stored as JSON."""

    def __init__(
        self, kind: type[Value], table: str, json_fields: Iterable[str] = (), columns: Mapping[str, str] | None = None
    ) -> None:
        """`columns` maps fields to their columns where the names differ."""
        self._table = table
        self._kind: TypeAdapter[Value] = TypeAdapter(kind)
        self._fields = [*signature(kind).parameters]
        self._decoders: dict[str, Callable[[str], object]] = {
            "chat": ChatKey.parse,
            "sources": _sources,
            **dict.fromkeys(json_fields, json.loads),
        }
        self.columns = ", ".join((columns or {}).get(name, name) for name in self._fields)
        self.marks = ", ".join("?" * len(self._fields))

    def row(self, value: Value) -> tuple[SqlValue, ...]:
        return tuple(_encoded(name, getattr(value, name)) for name in self._fields)

    def values(self, rows: Iterable[Sequence[object]]) -> Iterator[Value]:
        """Yield the values of rows that hold `columns`; rows that cannot be read are logged and skipped."""
        return readable(rows, self._value, self._table)

    def _value(self, row: Sequence[object]) -> Value:
        """Raise ValueError for a row with invalid values."""
        pairs = zip(self._fields, row, strict=True)
        return self._kind.validate_python({name: self._decoded(name, column) for name, column in pairs})

    def _decoded(self, name: str, column: object) -> object:
        decode = self._decoders.get(name)
        return decode(column) if decode and isinstance(column, str) else column


def _encoded(name: str, value: object) -> SqlValue:
    match value:
        case ChatKey():
            return str(value)
        case BaseModel():
            return value.model_dump_json()
        case tuple():
            return listed(value) if name == "sources" else json.dumps(value)
        case str() | int() | float() | None:
            return value
    raise TypeError(f"{name} cannot be stored")
