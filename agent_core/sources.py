"""Sources of untrusted input, such as a web page, file, user or server. The taint of a row is a set of them.

A source is a string that starts with its kind, such as `page:example.com/news`, so that it fits into a row, a line and
a log.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

Sources = tuple[str, ...]

UNKNOWN = "unknown"
"""Source of untrusted input of unknown origin: rows of earlier versions, or more sources than `MOST`."""
SEARCH = "search"
NETWORK = "network"
"""Programs with network access."""
MOST = 12
"""Limit of distinct sources in one row."""
LONGEST = 120
"""Characters of one source."""

_NOT_IN_A_LINE = re.compile(r"[\s|;\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def page(url: str) -> str:
    """Return the source of a web page: host and path only, because the query may be private."""
    parts = urlsplit(url.strip())
    return _source("page", f"{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}")


def file(name: str) -> str:
    """Return the source of a workspace file of unknown author."""
    return _source("file", name)


def person(name: str) -> str:
    """Return the source of a person whose words others pass on."""
    return _source("person", name)


def sent(by: str, name: str) -> str:
    """Return the source of a file that one person made, who may not use the bot, and another one sent."""
    return _source("sent", f"{by.replace(':', ' ')}:{name}")


def server(name: str) -> str:
    """Return the source of an MCP server."""
    return _source("server", name)


def tool(name: str) -> str:
    """Return the source of a tool that returns untrusted input without naming its origin."""
    return _source("tool", name)


def union(*groups: Iterable[str]) -> Sources:
    """Return the distinct sources in order; where they are too many, the rest becomes UNKNOWN."""
    found = tuple(dict.fromkeys(each for group in groups for each in group))
    return found if len(found) <= MOST else (*found[: MOST - 1], UNKNOWN)


def parted(source: str) -> tuple[str, str]:
    """Return a source's kind and name; the name may be empty."""
    kind, _, name = source.partition(":")
    return kind, name


def listed(sources: Iterable[str]) -> str:
    """Format sources as one line, to be parsed by `read`."""
    return "; ".join(sources)


def read(line: str) -> Sources:
    """Parse a line made by `listed`; an empty entry becomes UNKNOWN."""
    return tuple(dict.fromkeys(each.strip() or UNKNOWN for each in line.split(";")))


def _source(kind: str, name: str) -> str:
    return f"{kind}:{_NOT_IN_A_LINE.sub(' ', name).strip()[:LONGEST]}"
