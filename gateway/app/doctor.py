"""`parley doctor`, with the models of the plugins that come with Parley, and what these find."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from channels.checkup import Finding
from gateway.app.chosen_plugins import own_models, own_plugins
from gateway.errors import ParleyError
from gateway.settings.settings import Settings
from gateway.store.connection import Connection
from gateway.store.file_connection import connect_to_read
from gateway.store.opening import FILE
from gateway.store.server import PostgresServer
from gateway.upkeep.doctor import report


def run(environ: Mapping[str, str], cwd: Path) -> int:
    """Print the report. Returns 0 if there is no problem, else 1. Raises SettingsError if there are no settings."""
    return report.run(environ, cwd, own_models, own_findings)


async def own_findings(settings: Settings) -> Sequence[Finding]:
    """Return what the plugins find that come with Parley and are on; nothing if the store cannot be read."""
    if settings.database is None and not (settings.home / FILE).is_file():
        return ()
    examining = [each for each in own_plugins() if each.name not in settings.plugins_off]
    try:
        with _reading(settings) as connection:
            return [finding for each in examining for finding in await each.examined(settings, connection)]
    except (sqlite3.Error, ParleyError):  # which other checks tell, or there are no tables of theirs yet
        return ()


@contextmanager
def _reading(settings: Settings) -> Iterator[Connection]:
    """Open the store to read, while Parley may run. Raises sqlite3.Error and ParleyError."""
    if settings.database is not None:
        with PostgresServer(settings.database).read() as connection:
            yield connection
        return
    with closing(connect_to_read(settings.home / FILE)) as file:
        yield file
