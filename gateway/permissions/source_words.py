"""Describes sources of untrusted input for people."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from agent_core.sources import parted
from gateway.texts.say import Language, say

MOST = 3
"""Most sources named in one sentence."""
KINDS = frozenset({"page", "search", "file", "sent", "person", "server", "network"})
_LOUD = str.maketrans(dict.fromkeys("*_`[]()<>~#|\\", " "))
"""Characters with a meaning in some Markdown dialect. Without them a source's name cannot pose as Parley's text."""


def named(sources: Sequence[str], language: Language) -> str:
    """Return the sources as a phrase, such as `example.com and report.pdf that Bob sent`, or "strangers" for none."""
    words = list(dict.fromkeys(_one(source, language) for source in sources))
    if len(words) > MOST:
        words = [*words[: MOST - 1], say("source_more", language, count=len(words) - MOST + 1)]
    return say("source_and", language).join(words) if words else say("source_unknown", language)


def _one(source: str, language: Language) -> str:
    kind, name = parted(source)
    if kind not in KINDS:
        return say("source_unknown", language)
    if kind == "page":
        name = urlsplit(f"//{name}").netloc
    by, _, sent = name.partition(":")
    by, sent, name = (" ".join(each.translate(_LOUD).split())[:60] for each in (by, sent, name))
    return say(f"source_{kind}", language, name=sent if kind == "sent" else name, by=by)
