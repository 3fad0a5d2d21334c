"""Reads the last actions from the audit files: calls that were made or refused, and what admins changed."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from gateway.records.audit_chain import FOLDER, NAME
from gateway.records.audit_entry import GAP, Entry, read_entry

_UNDECIDED = frozenset({"pending", "asked", GAP})


class Action(Struct, frozen=True):
    """One entry about something that was done, refused or changed."""

    at: str
    """In UTC, as ISO 8601."""
    status: str
    chat: str
    person: str
    """For whom it was done, as `platform:id`."""
    what: str
    """The tool, or what was changed."""
    details: str
    decision: str
    decided_by: str
    """Who allowed or refused it, as `platform:id`; `rule`, `nobody`, or empty if nobody was asked."""
    is_erased: bool


def last_actions(home: Path, most: int) -> list[Action]:
    """Return the last actions, newest first. Raises OSError."""
    return list(islice(_newest_first(home), most))


def changes(home: Path, of: str, most: int) -> list[Action]:
    """Return the last changes whose name begins with `of`, newest first. Raises OSError."""
    return list(islice((each for each in _newest_first(home) if each.what.startswith(of)), most))


def _newest_first(home: Path) -> Iterator[Action]:
    files = sorted((home / FOLDER).glob("*.jsonl"), reverse=True)
    for file in (each for each in files if NAME.fullmatch(each.name)):
        arguments: dict[str, str] = {}
        actions: list[Action] = []
        for line in file.read_bytes().splitlines():
            entry = read_entry(line)
            if entry is None:
                continue
            fields = {name: str(value or "") for name, value in (entry.content or {}).items()}
            call = f"{fields.get('run')} {fields.get('call')}"
            if entry.status == "pending":
                arguments[call] = fields.get("arguments", "")
            elif entry.status not in _UNDECIDED:
                actions.append(_action(entry, fields, arguments.pop(call, "")))
        yield from reversed(actions)


def _action(entry: Entry, fields: dict[str, str], arguments: str) -> Action:
    return Action(
        at=entry.at,
        status=entry.status,
        chat=fields.get("chat", ""),
        person=fields.get("person", ""),
        what=fields.get("tool") or fields.get("what", ""),
        details=arguments or fields.get("details", ""),
        decision=fields.get("decision", ""),
        decided_by=fields.get("decided_by", ""),
        is_erased=entry.content is None,
    )
