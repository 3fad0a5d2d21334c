"""Check-ins of the demo model: names one thing that needs the user, or nothing."""

import re

from agent_core.demo.report import NOTHING
from agent_core.demo.steps import Plan, Scene, Use, done

_LIST = r"^What the person wants looked after .*\n((?:- .*(?:\n|$))+)"
_DUE = r"^Due, failed or stuck:\n((?:- .*(?:\n|$))+)"
_SAID = r"^You wrote this to them .*\n((?:- .*(?:\n|$))+)"
_GREETS = re.compile(r"\bgreet them in one line\b", re.IGNORECASE)


def is_check_in(words: str) -> bool:
    return bool(_lines(_LIST, words) or _lines(_DUE, words) or _GREETS.search(words))


def check_in(words: str, scene: Scene) -> Plan:
    """Return the first item not mentioned within the last day, else a greeting or nothing to report."""
    said = " ".join(_lines(_SAID, words))
    for pattern, sentence in ((_DUE, scene.wording.check_in_due), (_LIST, scene.wording.check_in)):
        if new := next((line for line in _lines(pattern, words) if " ".join(line.split()) not in said), ""):
            return sentence.format(line=new)
    if not _GREETS.search(words):
        yield from done(Use(NOTHING, {"why": "all of it was said today"}))
    return scene.wording.greeting


def _lines(pattern: str, words: str) -> list[str]:
    found = re.search(pattern, words, re.MULTILINE)
    return [line.removeprefix("- ") for line in found[1].splitlines()] if found else []
