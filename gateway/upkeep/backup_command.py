"""`parley backup FILE` and `parley restore [FILE]`."""

import os
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from gateway.errors import HomeUnusable, ParleyError
from gateway.security.packages import version
from gateway.security.printing import print_pieces
from gateway.security.secrets import Secrets
from gateway.settings.files import home_folder
from gateway.settings.settings import database_of, load_settings
from gateway.store.opening import FILE
from gateway.upkeep.backup import Made, Wanted, make
from gateway.upkeep.forgetting import confirmed
from gateway.upkeep.kept import FOLDER, kept
from gateway.upkeep.restore import ASIDE, restore
from gateway.upkeep.sizes import in_words

MOST_NAMED = 5


class NotAFile(ParleyError):
    """The command works on SQLite's file, and the store is on PostgreSQL."""

    def __init__(self, command: str, instead: str) -> None:
        super().__init__(
            f"The store is on PostgreSQL (PARLEY_DATABASE_URL), where {command} does nothing; {instead} "
            "(docs/cluster.md says how)."
        )


def backup(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Make a backup. Returns the exit code, or raises ParleyError."""
    settings = load_settings(environ, cwd)
    if settings.database is not None:
        raise NotAFile("parley backup", "copy the database with pg_dump, and the home with a tool of yours")
    wanted = Wanted(files=given.files, secrets=given.secrets)
    made = make(settings.home, cwd / given.file, version(), wanted, settings.secrets.are_in)
    print_pieces((f"{line}\n" for line in _about(made, wanted)), settings.secrets)
    return 0


def _about(made: Made, wanted: Wanted) -> Iterator[str]:
    yield f"{made.path}: {in_words(made.size)}, for you alone to read."
    if made.has_secret_settings:
        yield "parley.toml is not in it, for a secret stands there; --secrets takes it and .env too."
    elif not wanted.secrets:
        yield "Keys and tokens (.env) are not in it; --secrets takes them too."
    if not wanted.files:
        yield "Files of chats are not in it; --files takes them too."
    if made.left_out:
        named = ", ".join(made.left_out[:MOST_NAMED])
        yield f"Left out, as links or not to be read: {len(made.left_out)}, such as {named}."


def bring_back(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Restore a backup, or list the backups if no file is given. Returns the exit code, or raises ParleyError.

    Settings are not loaded, as they may be what is broken.
    """
    on_server = database_of(environ, cwd) is not None
    if given.file is not None and on_server:
        raise NotAFile("parley restore", "bring the database back with pg_restore while Parley is stopped")
    home = home_folder(environ, cwd)
    lines = _listed(home, on_server=on_server) if given.file is None else _restored(home, cwd / given.file)
    print_pieces((f"{line}\n" for line in lines), Secrets())
    return 0


def _listed(home: Path, *, on_server: bool) -> Iterator[str]:
    """Yield a line for each backup. Raises HomeUnusable."""
    for folder in (home, home / FOLDER, home / ASIDE):
        _check_readable(folder)
    backups, replaced = [file for file in kept(home) if file.is_file()], sorted((home / ASIDE).glob("*"), reverse=True)
    if on_server:
        yield "The store is on PostgreSQL (PARLEY_DATABASE_URL); pg_dump makes its backups (docs/cluster.md says how)."
        yield from ["What follows is from before it was there."] * bool(backups or replaced)
    elif not backups:
        yield f"There is no backup in {home / FOLDER} yet. One is made each night while Parley runs."
    for file in backups:
        yield f"{file}  {in_words(file.stat().st_size)}"
    for folder in replaced:
        yield f"{folder}  what an earlier restore or move replaced"


def _check_readable(folder: Path) -> None:
    """Raise HomeUnusable if there is something that cannot be listed; one that is not there yet has nothing in it."""
    try:
        os.scandir(folder).close()
    except FileNotFoundError:
        return
    except OSError as error:
        raise HomeUnusable(folder, error.strerror or type(error).__name__) from error


def _restored(home: Path, source: Path) -> Iterator[str]:
    outcome = restore(home, source, time.time())
    yield f"{home / FILE} is now as it was on {datetime.fromtimestamp(outcome.at).astimezone():%Y-%m-%d %H:%M %Z}."
    yield f"What it replaced is in {outcome.aside}; to undo this: parley restore {outcome.aside}"
    if any(confirmed(home)):
        yield "What people had erased since then is erased again at the next start."
    yield "What was on its way then is not sent. What was said since is listed to the owners, and not answered."
