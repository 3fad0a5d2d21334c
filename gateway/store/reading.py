"""Reading rows that another version may have written: one that cannot be understood keeps no other from being read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import structlog

T = TypeVar("T")
Row = TypeVar("Row", bound=Sequence[object])

log = structlog.get_logger(__name__)


def readable(rows: Iterable[Row], read: Callable[[Row], T], table: str) -> Iterator[T]:
    """What `read` makes of each row, without those where it raises ValueError; they stay in the table as they are.

    The first column says in the log which row it is.
    """
    for row in rows:
        try:
            yield read(row)
        except ValueError as error:
            reason = str(error).partition("\n")[0]  # what follows quotes the row, which may be somebody's words
            log.warning("a stored row cannot be read; it is left where it is", table=table, row=row[0], reason=reason)
