"""Reads rows that another version may have written; one that cannot be parsed does not hide the others."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import structlog

T = TypeVar("T")
Row = TypeVar("Row", bound=Sequence[object])

log = structlog.get_logger(__name__)


def readable(rows: Iterable[Row], read: Callable[[Row], T], table: str) -> Iterator[T]:
    """Yield `read(row)` for each row, skipping and logging rows for which it raises ValueError.

    They stay in the table as they are. The first column names the row in the log.
    """
    for row in rows:
        try:
            yield read(row)
        except ValueError as error:
            reason = str(error).partition("\n")[0]  # the rest quotes the row, which may hold a user's text
            log.warning("a stored row cannot be read; it is left where it is", table=table, row=row[0], reason=reason)
