"""`parley replay [RUN]`: shows a run step by step, or the newest runs. Read-only; Parley may be running."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from gateway.errors import ParleyError
from gateway.records.replay.lines import Manner, replayed, table
from gateway.security.printing import print_pieces
from gateway.settings.settings import load_settings
from gateway.store.archive import Archive, RunRow

NEWEST = 10


def run(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Show a run or the newest runs. Returns the exit code, or raises ParleyError."""
    settings = load_settings(environ, cwd)
    manner = Manner(ZoneInfo(settings.timezone), full=given.full, mask=settings.secrets.mask)
    with Archive.open(settings.home, settings.database) as archive:
        if given.run is None:
            lines: Iterable[str] = _newest(archive, manner)
        else:
            lines = replayed(archive, _chosen(archive, given.run, manner), manner, last=given.last)
        print_pieces((f"{line}\n" for line in lines), settings.secrets)
    return 0


def _newest(archive: Archive, manner: Manner) -> Iterator[str]:
    runs = archive.newest_runs(NEWEST)
    if runs:
        yield from table(runs, manner)
    else:
        yield "Nothing has run yet."


def _chosen(archive: Archive, start: str, manner: Manner) -> RunRow:
    """Return the run whose id starts with `start`. Raises ParleyError unless there is exactly one."""
    found = archive.find_runs(start)
    if not found:
        raise ParleyError(f"There is no run {start}. `parley replay` lists the newest ones.")
    if len(found) > 1:
        listed = "\n".join(table(found, manner))
        raise ParleyError(f"Several runs begin with {start}; say more of the one that you mean.\n{listed}")
    return found[0]
