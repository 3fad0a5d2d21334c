"""`parley audit [--verify]`: the last actions, or a check of the chain. Read-only; Parley may be running."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from gateway.errors import HomeUnusable
from gateway.records.audit_actions import last_actions
from gateway.records.audit_chain import FOLDER
from gateway.records.audit_check import Verdict, check
from gateway.security.printing import print_pieces
from gateway.settings.files import NODES
from gateway.settings.settings import Settings, load_settings
from gateway.upkeep.doctor.home import running

NEWEST = 20
MOST_NAMED = 20


def audit(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Print the last actions, or check the files. Returns 1 if somebody changed them, or raises ParleyError."""
    settings = load_settings(environ, cwd)
    home = settings.home
    try:
        if not given.verify:
            print_pieces((f"{line}\n" for line in _listed(home)), settings.secrets)
            return 0
        verdict = check(home, f"{datetime.now(UTC):%Y-%m-%d}", is_running=_is_running(settings))
    except OSError as error:
        raise HomeUnusable(home / FOLDER, error.strerror or str(error)) from error
    print_pieces((f"{line}\n" for line in told(verdict)), settings.secrets)
    return int(bool(verdict.faults))


def _is_running(settings: Settings) -> bool:
    """Return True if a process that uses the home runs, on this machine or another."""
    return any(running(folder) for folder in (settings.local, *sorted((settings.home / NODES).glob("*/"))))


def told(verdict: Verdict) -> Iterator[str]:
    """Yield the lines that tell the result of a check."""
    if not (verdict.days or verdict.faults):
        yield "Nothing has been recorded yet."
        return
    erased = f", {verdict.erased} of them erased" if verdict.erased else ""
    yield f"{verdict.entries} entries of {verdict.days} days{erased}."
    if verdict.unsigned:
        yield f"{verdict.unsigned} lines are from before the entries were chained; they cannot be checked."
    yield from (f"gap: {gap}" for gap in _first(verdict.gaps))
    yield from (f"CHANGED: {fault}" for fault in _first(verdict.faults))
    if verdict.faults:
        yield "Somebody changed the audit files, and not through Parley."
    else:
        yield "Nothing was changed, removed or cut off."


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_NAMED
    return [*lines[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]


def _listed(home: Path) -> Iterator[str]:
    actions = last_actions(home, NEWEST)
    if not actions:
        yield "Nothing has been recorded yet."
    for each in reversed(actions):
        if each.is_erased:
            yield f"{each.at}  {each.status}  (erased)"
            continue
        by = f"  {each.decision} by {each.decided_by}" if each.decided_by else ""
        yield f"{each.at}  {each.status}  {each.what}  {each.details[:100]}  for {each.person} in {each.chat}{by}"
