"""Finds and reads the settings files."""

import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from channels.checkup import Finding, note
from gateway.errors import SettingsError
from gateway.settings.sources import Names

DOTENV = ".env"
TOML = "parley.toml"
CONFIG = "PARLEY_CONFIG"
"""Variable with the files given as `--config FILE`, separated as in PATH."""
CHECKOUT = "PARLEY_CHECKOUT"
"""Variable with the checkout whose `./run` started the program."""
NODES = "nodes"
"""The folder in the home with a folder for each node that shares it."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]")
SET_ELSEWHERE = {
    "PARLEY_HOME": "PARLEY_HOME says where this file is looked for, so set it in the environment and take it out here.",
    CONFIG: "start Parley with --config FILE instead.",
    CHECKOUT: "./run sets it.",
}
"""Variables that have no effect in a file, with the reason."""


def home_folder(environ: Mapping[str, str], cwd: Path) -> Path:
    """Return PARLEY_HOME, or `.parley` in the user's home folder."""
    person = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    named = environ.get("PARLEY_HOME", "").strip()
    if not named:
        return person / ".parley"
    return cwd / (person / named[2:] if named.startswith("~/") else named)


def host_name() -> str:
    """Return the name of this machine, with only such characters as a folder's name has everywhere."""
    return _NOT_IN_NAMES.sub("-", socket.gethostname()).lstrip(".-") or "node"


def setting_files(environ: Mapping[str, str], home: Path, cwd: Path) -> tuple[Path | None, Path | None]:
    """Return the `.env` and the `parley.toml` to read.

    A file named by `--config` replaces the one of its kind in PARLEY_HOME or in the checkout. The current folder is
    not searched: it may be a repository of somebody else's. Raises SettingsError if a named file is missing.
    """
    folders = [home, *(Path(folder) for folder in [environ.get(CHECKOUT, "")] if folder)]
    dotenv, toml = _find(DOTENV, folders), _find(TOML, folders)
    for name in filter(None, environ.get(CONFIG, "").split(os.pathsep)):
        file = cwd / Path(name).expanduser()
        if not file.is_file():
            raise SettingsError(f"There is no file {file}; behind --config name a .env or .toml file.")
        if file.suffix == ".toml":
            toml = file
        else:
            dotenv = file
    return dotenv, toml


def left_out(cwd: Path, read: Sequence[Path], names: Names) -> Iterator[Finding]:
    """Yield a note for each file in the current folder that holds settings of ours and is not read."""
    for file in (cwd / DOTENV, cwd / TOML):
        if file in read:
            continue
        with suppress(OSError, SettingsError):
            if file.is_file() and (file.name == TOML or _has_setting(read_text(file), names)):
                yield note(
                    f"{file} is not read: only files in PARLEY_HOME are",
                    f"if it is yours, move it there or start with --config {file}",
                )


def _has_setting(text: str, names: Names) -> bool:
    """Return True if a line of a `.env` sets one of these."""
    return re.search(rf"^(?:export )?(?:{'|'.join(sorted(names.flat))}) *=", text, re.MULTILINE) is not None


def read_text(file: Path) -> str:
    """Return the text of a settings file. Raises SettingsError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{file} cannot be read ({error.strerror}); make it readable, or move it away.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file} is not UTF-8 text; save it as UTF-8.") from error


def _find(name: str, folders: Sequence[Path]) -> Path | None:
    try:
        return next((folder / name for folder in folders if (folder / name).exists()), None)
    except OSError as error:
        raise SettingsError(
            f"{folders[0]} cannot be looked into ({error.strerror}); make it yours, or set PARLEY_HOME."
        ) from error
