"""What a plan of the demo model is made of: it asks for calls, and is told what came of them."""

import re
from collections.abc import Generator
from dataclasses import dataclass, field

from agent_core.demo.wording import Wording
from agent_core.messages import JsonObject

_PROGRAM = re.compile(r"^Error: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Use:
    """A tool call."""

    tool: str
    arguments: JsonObject
    optional: bool = field(default=False, compare=False)
    """The answer is as good without it."""


@dataclass(frozen=True)
class Outcome:
    """What came of a tool call."""

    use: Use
    text: str
    failed: bool

    @property
    def fact(self) -> str:
        """Without the advice to the model that follows a failure, and of a program that failed only why."""
        if not self.failed:
            return self.text
        said = _PROGRAM.findall(self.text)
        fact: str = said[-1] if said else self.text
        return fact.split(". Next: ", 1)[0].rstrip(".")


@dataclass(frozen=True)
class Step:
    """Calls that are made together, and what is said before."""

    uses: tuple[Use, ...]
    before: str = ""


@dataclass(frozen=True)
class Scene:
    """What a plan may look at."""

    wording: Wording
    system: str
    outcomes: tuple[Outcome, ...]
    """All that tools have said since the question."""
    report: str = ""
    """What the person was told unasked before it."""

    def has_loaded(self, skill: str) -> bool:
        return f"### Skill: {skill}\n" in self.system


Plan = Generator[Step, tuple[Outcome, ...], str]
"""Yields steps, is sent their outcomes, and returns the answer."""


class StepFailed(Exception):
    """A call went wrong without which there is no going on."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.fact)
        self.outcome = outcome


def done(*uses: Use, before: str = "") -> Generator[Step, tuple[Outcome, ...], tuple[Outcome, ...]]:
    """The outcomes of calls that must not fail. Raises StepFailed."""
    outcomes = yield Step(uses, before)
    for outcome in outcomes:
        if outcome.failed:
            raise StepFailed(outcome)
    return outcomes


def loaded(skill: str, scene: Scene) -> Generator[Step, tuple[Outcome, ...], None]:
    """The skill's instructions stand in the prompt, where skills can be loaded at all. Raises StepFailed."""
    if not scene.has_loaded(skill):
        yield from done(Use("load_skill", {"name": skill}, optional=True))
