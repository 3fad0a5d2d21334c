"""Checks the audit files against their chain, their heads and their key, reading only."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from gateway.records.audit_chain import FOLDER, HEADS, KEY, NAME, DayHead, key_of, oldest_on, read_heads
from gateway.records.audit_entry import GAP, Entry, first_code, read_entry


class Verdict(Struct):
    """The result of a check."""

    days: int = 0
    entries: int = 0
    erased: int = 0
    unsigned: int = 0
    """Lines from before there was a chain."""
    gaps: list[str] = field(default_factory=list)
    """Places where entries were never written, as the process was killed or the disk was full."""
    faults: list[str] = field(default_factory=list)
    """Signs of a change by somebody without the key."""


def check(home: Path, today: str, *, is_running: bool) -> Verdict:
    """Check all days that have not expired. Raises OSError.

    Args:
        home: The folder of what Parley keeps.
        today: The day, in UTC.
        is_running: True if a Parley writes there now.
    """
    verdict, oldest = Verdict(), oldest_on(today)
    key = key_of(home)
    heads = read_heads(home, key) if key else None  # before the files, which are never behind it
    files = {file.stem: file for file in sorted((home / FOLDER).glob("*.jsonl")) if NAME.fullmatch(file.name)}
    if heads is None:
        if files or key:
            missing = f"{HEADS} is missing or was changed" if key else f"{KEY} is missing"
            verdict.faults.append(f"{missing}, so nothing can be checked")
        return verdict
    verdict.faults.extend(f"{day}: {fault}" for day, fault in sorted(heads.faults.items()) if day > oldest)
    for day in sorted(heads.days.keys() | files.keys()):
        if day <= oldest:
            continue
        head = heads.days.get(day)
        if head is None:
            verdict.faults.append(f"{day}: the file was added, for no entry was written on that day")
        elif day in files:
            _check_day(_Day(day, key, head), files[day].read_bytes(), verdict)
        elif head.entries:
            verdict.faults.append(f"{day}: the file was removed, with {head.entries} entries")
    if heads.is_open and not is_running:
        verdict.gaps.append("Parley was killed: what it had not written in its last second is missing")
    return verdict


class _Day(Struct, frozen=True):
    day: str
    key: bytes
    head: DayHead


def _check_day(day: _Day, data: bytes, verdict: Verdict) -> None:
    previous, count, is_anchored = first_code(day.key, day.day), 0, day.head.entries == 0
    for number, entry in _lines(data):
        place = f"{day.day}, line {number}"
        if entry is None:
            if day.head.has_unsigned and not count:
                verdict.unsigned += 1
            else:
                verdict.gaps.append(f"{place}: half an entry")
            continue
        if not entry.follows(day.key, previous):
            verdict.faults.append(f"{place}: changed, or entries before it were removed, added or moved")
        previous, count = entry.code, count + 1
        is_anchored |= count == day.head.entries and previous == day.head.code
        verdict.erased += entry.content is None
        if entry.status == GAP:
            verdict.gaps.append(f"{place}: {_lost(entry)} not written before {entry.at}")
    verdict.days += 1
    verdict.entries += count
    if count < day.head.entries:
        verdict.faults.append(f"{day.day}: {day.head.entries - count} of {day.head.entries} entries are missing")
    elif not is_anchored:
        verdict.faults.append(f"{day.day}: the entries are not those that were written")


def _lines(data: bytes) -> Iterator[tuple[int, Entry | None]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line:
            yield number, read_entry(line)


def _lost(entry: Entry) -> str:
    lost = (entry.content or {}).get("lost")
    return f"{lost} entries" if lost else "entries of the last second may have been"
