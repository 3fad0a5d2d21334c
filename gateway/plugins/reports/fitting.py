"""Finds the tool of an MCP server from which a report is read, and its arguments, by names and schemas alone."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from msgspec import Struct
from pydantic import JsonValue

from agent_core.messages import JsonObject
from agent_core.sources import parted
from agent_core.tools.tool import Tool

MOST = 50
"""Entries that are asked for."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_READS = frozenset(_WORD.findall("check fetch find get list query read recent search show unread upcoming view"))
_SEARCHES = frozenset({"find", "query", "search"})
_NEWEST = frozenset({"inbox", "recent", "unread", "upcoming", "view"})
_NOT_TO_CALL = frozenset(
    _WORD.findall(
        "accept add archive attachment attachments availability batch book busy calendars cancel change colors contact "
        "contacts count create decline delete delta download draft drafts edit export filter filters folder folders "
        "forward freebusy import insert invite label labels mailboxes mark modify move patch post propose quick remove "
        "reply respond rsvp rule rules schedule send set settings snooze stop subscribe suggest trash types "
        "unsubscribe update upload watch write"
    )
)
"""Words in the names of tools that change something, or list something else."""
_COUNT = re.compile(r"max|limit|top|count|size|perpage")


class Argument(Struct, frozen=True):
    """An argument of a tool, by its schema.

    Attributes:
        name: The name, as the tool has it.
        letters: Its letters in lower case.
        about: The name and description of the tool, and the description of the argument.
    """

    name: str
    letters: str
    schema: JsonObject
    is_required: bool
    about: str

    @property
    def kinds(self) -> frozenset[str]:
        """Return the JSON types that it may have; none if the schema does not say."""
        either = self.schema.get("anyOf") or self.schema.get("oneOf")
        schemas = either if isinstance(either, list) else [self.schema]
        return frozenset(kind for each in schemas if isinstance(each, dict) for kind in _types(each.get("type")))

    def takes(self, kind: str) -> bool:
        """Return True if a value of this JSON type may be given."""
        return not self.kinds or kind in self.kinds


Fill = Callable[[Argument], JsonValue]
"""Returns the value of an argument; None for one that it does not know."""


class Wanted(Struct, frozen=True):
    """A tool that is looked for.

    Attributes:
        is_meant: Tells by the words of a tool's name, and by all that is said of it, whether it lists the right things.
        fill: Fills in its arguments.
    """

    is_meant: Callable[[frozenset[str], str], bool]
    fill: Fill


class Fit(Struct, frozen=True):
    """A tool that was found, with its arguments."""

    tool: Tool
    server: str
    arguments: JsonObject
    score: int


def best_fits(tools: Iterable[Tool], wanted: Wanted) -> dict[str, Fit]:
    """Return the best tool of each server that has one."""
    found: dict[str, Fit] = {}
    for tool in tools:
        fit = _fit(tool, wanted)
        if fit is not None and (fit.server not in found or fit.score > found[fit.server].score):
            found[fit.server] = fit
    return found


def moment(argument: Argument, at: datetime) -> JsonValue:
    """Return a moment as an argument takes it: as a date, or with the time and its zone."""
    if not argument.takes("string"):
        return None
    is_date = argument.schema.get("format") == "date" or argument.letters.endswith(("date", "day"))
    return at.date().isoformat() if is_date else at.isoformat(timespec="seconds")


def count(argument: Argument) -> JsonValue:
    """Return how many entries are asked for, if the argument says so."""
    if not _COUNT.search(argument.letters) or not argument.kinds & {"integer", "number"}:
        return None
    most = argument.schema.get("maximum")
    return min(MOST, int(most)) if isinstance(most, int | float) else MOST


def fields(argument: Argument, names: str) -> JsonValue:
    """Return the fields that are asked for, where answers may be limited to some, as at Microsoft."""
    return names if argument.letters == "select" and argument.takes("string") and "comma" in argument.about else None


def _fit(tool: Tool, wanted: Wanted) -> Fit | None:
    kind, server = parted(tool.source)
    words = [each.lower() for each in _WORD.findall(tool.name.removeprefix(f"{server}_"))]
    about = f"{tool.name} {tool.spec.description}"
    is_other = kind != "server" or _NOT_TO_CALL.intersection(words)
    if is_other or not wanted.is_meant(frozenset(words), about.lower()):
        return None
    arguments: JsonObject = {}
    for each in _arguments(tool, about):
        value = wanted.fill(each)
        if value is not None:
            arguments[each.name] = value
        elif each.is_required and "default" not in each.schema:
            return None
    hints = len(_READS.intersection(words)) + 2 * len(_NEWEST.intersection(words)) - len(_SEARCHES.intersection(words))
    return Fit(tool, server, arguments, 2 * len(arguments) + hints - len(words))


def _arguments(tool: Tool, about: str) -> Sequence[Argument]:
    schemas, required = tool.spec.parameters.get("properties"), tool.spec.parameters.get("required")
    return [
        Argument(
            name,
            "".join(_WORD.findall(name)).lower(),
            schema,
            isinstance(required, list) and name in required,
            f"{about} {name} {schema.get('description', '')}".lower(),
        )
        for name, schema in (schemas.items() if isinstance(schemas, dict) else ())
        if isinstance(schema, dict)
    ]


def _types(given: JsonValue) -> Sequence[str]:
    return [each for each in (given if isinstance(given, list) else [given]) if isinstance(each, str)]
