"""Writes settings into the `.env` file: whole or not at all, with every other line kept as it is."""

import io
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from dotenv.parser import parse_stream

from gateway.errors import SettingsError
from gateway.settings.files import DOTENV
from gateway.settings.settings import Settings

_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_BOM = "\ufeff"


class EnvFile:
    """The `.env` file that Parley reads. It is made readable for its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, settings: Settings) -> "EnvFile":
        """Return the file that these settings were read from, or else the one in the home."""
        read = (file for file in settings.files if file.suffix != ".toml")
        return cls(next(read, settings.home / DOTENV))

    def check(self) -> None:
        """Raise SettingsError if the file could not be written."""
        file = self.path.resolve()
        try:
            mode = file.stat().st_mode if file.exists() else None
            if mode is not None and not stat.S_ISREG(mode):
                raise self._unusable("it is not a file", "move it away")
            if mode is not None and not mode & stat.S_IWUSR:
                raise self._unusable("it is read-only", f"run chmod u+w {file}")
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=file.parent):
                pass
        except OSError as error:
            raise self._unusable(str(error.strerror), "make its folder yours, or set PARLEY_HOME") from error

    def write(self, values: Mapping[str, str]) -> None:
        """Set these variables. Raises SettingsError, and then nothing has changed."""
        self.check()
        file = self.path.resolve()
        try:
            before = file.read_bytes().decode() if file.exists() else ""
            replace_whole(file, changed(before, values))
        except OSError as error:
            raise self._unusable(str(error.strerror), "make its folder yours, or set PARLEY_HOME") from error
        except UnicodeDecodeError as error:
            raise self._unusable("it is not UTF-8 text", "save it as UTF-8") from error

    def _unusable(self, why: str, fix: str) -> SettingsError:
        return SettingsError(f"{self.path} cannot be written ({why}); {fix}, then try again. Nothing was written.")


def changed(text: str, values: Mapping[str, str]) -> str:
    """Return the text of a `.env` file with these values: in place of the old ones, new ones at the end."""
    end = "\r\n" if "\r\n" in text else "\n"
    bom, text = (_BOM, text.removeprefix(_BOM)) if text.startswith(_BOM) else ("", text)
    left = dict(values)
    pieces = list(_replaced(text, left))
    whole = "".join(pieces)
    if left and whole and not whole.endswith("\n"):
        whole += end
    return bom + whole + "".join(f"{name}={quoted(value)}{end}" for name, value in left.items())


def _replaced(text: str, left: dict[str, str]) -> Iterator[str]:
    """Yield the file piece by piece with the new values, which are taken out of `left`.

    Of several lines with the same name the last one counts, so all of them get the value.
    """
    new = dict(left)
    for binding in parse_stream(io.StringIO(text, newline="")):
        raw = binding.original.string
        if binding.key not in new or binding.error:
            yield raw
            continue
        left.pop(binding.key, None)
        before = raw[: len(raw) - len(raw.lstrip())]
        exported = "export " if raw.lstrip().startswith("export ") else ""
        after = raw[len(raw.rstrip("\r\n")) :]
        yield f"{before}{exported}{binding.key}={quoted(new[binding.key])}{after}"


def quoted(value: str) -> str:
    """Return the value as `.env` files write it."""
    if _PLAIN.fullmatch(value) or not value:
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def replace_whole(file: Path, text: str) -> None:
    """Replace the file by one with this text that only its owner can read, or leave it as it is. Raises OSError."""
    handle, name = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)  # its mode is 0600
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
