"""`parley upgrade --check`: which version runs, whether there is a newer one, and what it would do to the database."""

import importlib.metadata
import json
import re
import sqlite3
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from gateway.security.packages import ROOT, version
from gateway.security.printing import print_pieces
from gateway.security.secrets import Secrets
from gateway.settings.files import home_folder
from gateway.settings.settings import database_of
from gateway.store.file_connection import connect_to_read
from gateway.store.opening import FILE, migrations, schema_of

UP_TO_DATE, UNKNOWN, NEWER = 0, 3, 10
"""Exit codes."""
SECONDS = 60
"""Longest time for a command that uses the network."""
MIGRATIONS = "gateway/store/migrations"
SILENT = "git does not answer"
ON_POSTGRES = "The database is on PostgreSQL; the next start may change it, so first make a copy of it with pg_dump."
_RELEASE = re.compile(r"^parley \((\d[\w.+!-]*)\)", re.MULTILINE)


class Found(Struct, frozen=True):
    """The result of the search for a newer version."""

    code: int
    lines: tuple[str, ...]
    migrations: int = 0
    """Changes of the database that the newer version brings."""


class _CannotAsk(Exception):
    """A command failed; the text is for the user."""


def run(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Look for a newer version, changing nothing that runs. Return the exit code."""
    found = look(ROOT)
    database = database_of(environ, cwd)
    about = _about_database(home_folder(environ, cwd), found) if database is None else [ON_POSTGRES]
    lines = [f"Parley {version()}, {_kind(ROOT)}", *found.lines, *about]
    print_pieces((f"{line}\n" for line in lines), Secrets())
    return found.code


def look(root: Path) -> Found:
    """Ask where this installation came from for a newer version."""
    try:
        return _in_checkout(root) if (root / ".git").exists() else _in_index()
    except _CannotAsk as error:
        return Found(UNKNOWN, (f"It is not known if there is a newer version: {error}.",))


def _kind(root: Path) -> str:
    return f"a git checkout in {root}" if (root / ".git").exists() else f"installed in {sys.prefix}"


def _in_checkout(root: Path) -> Found:
    """Fetch, and compare with the branch that the checkout follows."""
    git = ["git", "-C", str(root)]
    follows = [*git, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}"]
    branch = _output(follows, "the checkout follows no branch")
    _output([*git, "fetch", "--quiet", "--tags"], "the repository cannot be reached")
    behind = int(_output([*git, "rev-list", "--count", "HEAD..@{upstream}"], SILENT))
    if not behind:
        return Found(UP_TO_DATE, (f"It is up to date with {branch}.",))
    files = f":(glob){MIGRATIONS}/*"  # without those of PostgreSQL, which have the same numbers
    added = _output([*git, "diff", "--name-only", "--diff-filter=A", "HEAD...@{upstream}", "--", files], SILENT)
    commits = "1 commit" if behind == 1 else f"{behind} commits"
    todo = f"{branch} has {commits} more. To upgrade: git -C {root} pull, then restart Parley."
    return Found(NEWER, (todo,), migrations=len(added.splitlines()))


def _in_index() -> Found:
    """Ask pip for the newest release, unless the package came from elsewhere."""
    if (origin := _origin()) is not None:
        raise _CannotAsk(f"it was installed from {origin}; look there")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions", "parley"]
    match = _RELEASE.search(_output(command, "pip has no answer from the package index"))
    if match is None:
        raise _CannotAsk("pip's answer is not understood")
    if match[1] == version():
        return Found(UP_TO_DATE, ("It is the newest release.",))
    todo = f"The index has {match[1]}. To upgrade: pip install parley=={match[1]}, then restart Parley."
    return Found(NEWER, (todo,))


def _origin() -> str | None:
    """Return the address or file that the package was installed from; None if that was an index."""
    try:
        written = importlib.metadata.distribution("parley").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return "unknown sources"
    return str(json.loads(written).get("url")) if written else None


def _output(command: Sequence[str], trouble: str) -> str:
    """Return what a command prints. Raises _CannotAsk."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed commands
            command,
            capture_output=True,
            check=False,
            timeout=SECONDS,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _CannotAsk(f"{trouble} ({type(error).__name__})") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise _CannotAsk(f"{trouble} ({said[-1][:200]})" if said else trouble)
    return done.stdout.strip()


def _about_database(home: Path, found: Found) -> Iterator[str]:
    """Yield what the next start would do to the database."""
    if not (home / FILE).exists():
        yield f"There is no database in {home} yet."
        return
    try:
        with closing(connect_to_read(home / FILE)) as connection:
            pending = len(migrations()) - schema_of(connection)
    except sqlite3.Error as error:
        yield f"The database cannot be read ({error}); parley doctor says more."
        return
    if count := max(pending, 0) + found.migrations:
        changes = "1 change" if count == 1 else f"{count} changes"
        yield f"The first start after it makes {changes} to the database, and an older Parley cannot use it then."
        yield "First make a backup: parley backup before-upgrade.zip"
    else:
        yield "The database stays as it is."
