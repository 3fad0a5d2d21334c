"""Scans the files of a skill for what a person should know before approving it. It finds the obvious, and no more."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from agent_core.late_pattern import LatePattern
from agent_core.skills.skill import FILE
from agent_core.untrusted import harmless

MOST_SHOWN = 5
"""Details of one finding."""
LARGE_BYTES = 100 * 1024
_DETAIL_CHARS = 60
_DOCUMENTS = (".md", ".txt", ".rst", ".json", ".yaml", ".yml", ".csv", ".tsv", ".html", ".svg", ".xml", ".toml")

_NETWORK = LatePattern(
    r"\b(?:import|from)\s+(?P<module>requests|urllib\d?|http|httpx|aiohttp|socket|ftplib|smtplib|websockets?|paramiko)\b"
    r"|(?<![\w-])(?P<program>curl|wget|nc|ncat|ssh|scp|rsync|telnet)\s"
    r"|\b(?P<call>fetch\(|XMLHttpRequest|/dev/tcp/|require\(['\"](?:https?|net)['\"]\))"
    r"|(?P<url>\b(?:https?|wss?|ftp)://[^\s/'\"<>)`]+)"
)
_PATH = LatePattern(
    r"(?:~|\$HOME|\$\{HOME\})(?:/[\w.-]+)*|\.\./"
    r"|(?<![\w/.:])/(?:etc|home|root|proc|sys|var|Users)/[\w./-]*"
)
_SECRET = LatePattern(r"\.(?:env|ssh|aws|netrc|gnupg|kube)\b|id_rsa|os\.environ|process\.env|\bprintenv\b")


class Finding(StrEnum):
    HIDDEN = "hidden"
    """Characters that people do not see, or control tokens of models."""
    NETWORK = "network"
    PATHS = "paths"
    """Paths outside of its own folder and the workspace."""
    SECRETS = "secrets"
    """Places where secrets are kept."""
    BINARY = "binary"
    """A file that cannot be read as text."""
    LARGE = "large"


class Found(Struct, frozen=True):
    kind: Finding
    file: str
    details: tuple[str, ...] = ()


def scan(files: Mapping[str, bytes]) -> tuple[Found, ...]:
    """Scan all files of a skill."""
    return tuple(found for path, content in files.items() for found in _of_file(path, content))


def _of_file(path: str, content: bytes) -> Iterator[Found]:
    if len(content) > LARGE_BYTES:
        yield Found(Finding.LARGE, path, (str(len(content) // 1024),))
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\t", " ")
    except UnicodeDecodeError:
        yield Found(Finding.BINARY, path)
        return
    if hidden := sum(harmless(line) != line for line in text.split("\n")):
        yield Found(Finding.HIDDEN, path, (str(hidden),))
    if path == FILE or path.lower().endswith(_DOCUMENTS):
        return
    if details := _details(_NETWORK, text):
        yield Found(Finding.NETWORK, path, details)
    if details := _details(_PATH, text):
        yield Found(Finding.PATHS, path, details)
    if details := _details(_SECRET, text):
        yield Found(Finding.SECRETS, path, details)


def _details(pattern: LatePattern, text: str) -> tuple[str, ...]:
    """Return the distinct matches in order, without the words around their names."""
    matches = (next(filter(None, found.groups()), found[0]) for found in pattern.finditer(text))
    return tuple(dict.fromkeys(harmless(match).strip()[:_DETAIL_CHARS] for match in matches))[:MOST_SHOWN]
