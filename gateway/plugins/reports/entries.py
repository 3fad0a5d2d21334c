"""Reads the entries in what a server's tool has answered: JSON in any form with titles and times, or such lines."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from agent_core.messages import JsonObject
from gateway.settings.zone import is_zone

LONGEST = 1_000_000
"""Characters of an answer that are read."""
_LINE = re.compile(r"[-*\s\d.]*\**([A-Za-z][A-Za-z ]{1,20}?)\**:\**\s+(\S.*)")
_MILLISECONDS = 100_000_000_000
"""Numbers from here on count milliseconds since the epoch."""


def entries_in(text: str, is_one: Callable[[JsonObject], bool]) -> Sequence[JsonObject] | None:
    """Return the first list of entries in an answer; None if there is no list that can be read."""
    found = list(_values(text[:LONGEST]))
    lists = [each for value in (found, *found, list(_blocks(text[:LONGEST]))) for each in _lists(value)]
    chosen = next((each for each in lists if any(map(is_one, each))), None)
    if chosen is None:
        return [] if any(_has_empty_list(value) for value in found) else None
    return [each for each in chosen if is_one(each)]


def value_of(entry: JsonObject, *names: str) -> JsonValue:
    """Return the first value that an entry has by one of these names, however they are spelled."""
    by_letters = {_letters(key): value for key, value in entry.items()}
    return next((by_letters[name] for name in names if by_letters.get(name) not in (None, "", [])), None)


def words_of(value: JsonValue) -> str:
    """Return a value as words: of an object its name, of a list its first."""
    if isinstance(value, list):
        return words_of(value[0]) if value else ""
    if isinstance(value, dict):
        found = value_of(value, "displayname", "name", "emailaddress", "email", "address", "title", "value")
        return words_of(found)
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def time_of(value: JsonValue, zone: ZoneInfo) -> datetime | date | None:
    """Return a moment, or a date where there is no time; None if it is neither. Times without a zone are in `zone`."""
    if isinstance(value, dict):
        named = value_of(value, "timezone", "tz")
        there = ZoneInfo(named) if isinstance(named, str) and is_zone(named) else zone
        return time_of(value_of(value, "datetime", "date", "time", "value"), there)
    if isinstance(value, str) and not (value.isdigit() and len(value) > len("20261130")):
        return _read(value, zone)
    with suppress(ValueError, OverflowError, OSError, TypeError):
        number = float(value)  # type: ignore[arg-type]
        return datetime.fromtimestamp(number / 1000 if number >= _MILLISECONDS else number, UTC)
    return None


def _read(value: str, zone: ZoneInfo) -> datetime | date | None:
    with suppress(ValueError):
        return date.fromisoformat(value)
    with suppress(ValueError):
        found = datetime.fromisoformat(value)
        return found if found.tzinfo else found.replace(tzinfo=zone)
    with suppress(ValueError):
        found = parsedate_to_datetime(value)  # as in the header of a message
        return found if found.tzinfo else found.replace(tzinfo=zone)
    return None


def _values(text: str) -> Iterator[JsonValue]:
    """Yield the JSON values in a text, whatever stands before and between them.

    It tries at each bracket, so each try has to end where the decoder does; `read_first` may look at all of the rest.
    """
    decoder, place = json.JSONDecoder(), 0
    while (found := min((at for at in (text.find("{", place), text.find("[", place)) if at >= 0), default=-1)) >= 0:
        try:
            value, place = decoder.raw_decode(text, found)
            yield value
        except (ValueError, RecursionError):
            place = found + 1


def _blocks(text: str) -> Iterator[JsonValue]:
    """Yield what stands in lines as `Subject: Hello`, one object for each group of lines."""
    for block in re.split(r"\n\s*\n", text):
        lines = (_LINE.fullmatch(line) for line in block.splitlines())
        if said := {line[1]: line[2] for line in lines if line}:
            yield said


def _lists(value: JsonValue) -> Iterator[Sequence[JsonObject]]:
    if isinstance(value, list) and (objects := [each for each in value if isinstance(each, dict)]):
        yield objects
    if isinstance(value, dict):
        for each in value.values():
            yield from _lists(each)


def _has_empty_list(value: JsonValue) -> bool:
    return value == [] or (isinstance(value, dict) and any(map(_has_empty_list, value.values())))


def _letters(key: str) -> str:
    return "".join(each for each in key.lower() if each.isalnum())
