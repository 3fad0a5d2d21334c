"""Checks the files of shared skills without running anything in them."""

from collections.abc import Iterator

from agent_core.skills.folder import Diagnostic
from agent_core.skills.skill import Origin
from channels.checkup import Finding, note, ok, problem
from gateway.runs.toolbox import skill_library
from gateway.settings.settings import Settings

MOST_TOLD = 5


def look_at_skills(settings: Settings) -> Iterator[Finding]:
    library = skill_library(settings)
    yours = sum(skill.origin is Origin.OWNER for skill in library.skills)
    yield ok(f"skills: {len(library.skills) - yours} that come along, {yours} of yours")
    for skill in library.skills:
        if reason := library.reason(skill):
            yield note(f"skill {skill.name} is not available: {reason}")
    found = sorted(library.diagnostics, key=lambda each: each.is_usable)
    yield from map(_verdict, found[:MOST_TOLD])
    if len(found) > MOST_TOLD:
        yield note(f"{len(found) - MOST_TOLD} more files of skills need a look", "see /skills in a direct chat")


def _verdict(found: Diagnostic) -> Finding:
    fact, _, advice = str(found).rpartition("; ")
    return note(fact, advice) if found.is_usable else problem(fact, advice)
