"""A file of rows by name, to which each change is appended, so that it costs the same however many there are.

Each line is a JSON list: the name, and the row or null for one that is gone. Earlier versions wrote one JSON object.
All methods block.
"""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
_LINE = TypeAdapter(tuple[str, JsonValue])
_WHOLE = TypeAdapter(dict[str, JsonValue])
"""A file of an earlier version."""
SPARE = 500
"""Lines that may stand in the file beside twice the rows before it is written anew."""


class RowsFile:
    """The rows in one file, which another process may change in between."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: int | None = None
        """Lines in the file; None if the next change is to write it anew."""

    def read(self) -> dict[str, JsonValue]:
        """Return the rows. Raises ValueError for what is no such file, and OSError.

        Half a line at the end is what a crash left of a change, which counts as not made.
        """
        self._lines = None
        *lines, rest = self._path.read_text("utf-8").split("\n")
        if not lines and rest:
            return _WHOLE.validate_json(rest)
        rows: dict[str, JsonValue] = {}
        for line in lines:
            name, row = _LINE.validate_json(line)
            if row is None:
                rows.pop(name, None)
            else:
                rows[name] = row
        self._lines = None if rest else len(lines)
        return rows

    def write(self, changed: Mapping[str, JsonValue], count: int, rows: Callable[[], Mapping[str, JsonValue]]) -> None:
        """Save what has changed. Failures are ignored.

        Args:
            changed: The changed rows, None for those that are gone.
            count: The number of rows that there are now.
            rows: Returns all of them.
        """
        with suppress(OSError):
            if self._lines is None or self._lines + len(changed) > 2 * count + SPARE:
                self._write_anew(rows())
            else:
                self._append(changed)

    def _write_anew(self, rows: Mapping[str, JsonValue]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        arriving = self._path.with_suffix(".arriving")
        arriving.write_bytes(_lines(rows))
        arriving.chmod(0o600)
        self._lines = None
        arriving.replace(self._path)
        self._lines = len(rows)

    def _append(self, changed: Mapping[str, JsonValue]) -> None:
        """Append lines. Raises OSError, after which the file is written anew."""
        before, self._lines = self._lines or 0, None
        handle = os.open(self._path, _FLAGS)
        try:
            data = _lines(changed)
            if os.write(handle, data) != len(data):
                raise OSError("the disk took only a part")
        finally:
            os.close(handle)
        self._lines = before + len(changed)


def _lines(rows: Mapping[str, JsonValue]) -> bytes:
    return "".join(f"{json.dumps([name, row])}\n" for name, row in rows.items()).encode()
