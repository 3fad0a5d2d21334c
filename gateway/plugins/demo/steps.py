"""Building blocks of the demo model's plans: a plan yields calls and is sent their results."""

import re
from collections.abc import Generator
from dataclasses import dataclass, field

from msgspec import Struct

from agent_core.messages import JsonObject
from gateway.plugins.demo.wording import Wording

_PROGRAM = re.compile(r"^Error: (.+)$", re.MULTILINE)
_REFUSED = "Next: do without it, and say so"
"""The end of what a model is told of a call that is not allowed."""


@dataclass(frozen=True)
class Use:
    """A tool call."""

    tool: str
    arguments: JsonObject
    optional: bool = field(default=False, compare=False)
    """If True, the plan continues without it if the tool is missing."""


class Outcome(Struct, frozen=True):
    """The result of a tool call."""

    use: Use
    text: str
    failed: bool

    @property
    def fact(self) -> str:
        """Return the result without the advice that follows a failure; of a failed program only its error."""
        if not self.failed:
            return self.text
        said = _PROGRAM.findall(self.text)
        fact: str = said[-1] if said else self.text
        return fact.split(". Next: ", 1)[0].rstrip(".")

    @property
    def is_refused(self) -> bool:
        """True if the call was not allowed, so that other words do not help."""
        return self.failed and self.text.endswith(_REFUSED)


class Step(Struct, frozen=True):
    """Calls made together, and the text before them."""

    uses: tuple[Use, ...]
    before: str = ""


class Scene(Struct, frozen=True):
    """The data that a plan may use."""

    wording: Wording
    system: str
    outcomes: tuple[Outcome, ...]
    """Tool results since the question that no earlier plan has used."""
    report: str = ""
    """The last report that the user was sent unasked."""

    def has_loaded(self, skill: str) -> bool:
        return f"### Skill: {skill}\n" in self.system


Plan = Generator[Step, tuple[Outcome, ...], str]
"""Yields steps, is sent their outcomes, and returns the answer."""


class StepFailed(Exception):
    """A call failed that the plan cannot do without."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.fact)
        self.outcome = outcome


def done(*uses: Use, before: str = "") -> Generator[Step, tuple[Outcome, ...], tuple[Outcome, ...]]:
    """Make calls that must not fail, and return their outcomes. Raises StepFailed."""
    outcomes = yield Step(uses, before)
    for outcome in outcomes:
        if outcome.failed:
            raise StepFailed(outcome)
    return outcomes


def loaded(skill: str, scene: Scene) -> Generator[Step, tuple[Outcome, ...], None]:
    """Load the skill if it is not loaded, and if skills can be loaded. Raises StepFailed."""
    if not scene.has_loaded(skill):
        yield from done(Use("load_skill", {"name": skill}, optional=True))


def script(skill: str, name: str, *args: str, optional: bool = False) -> Use:
    """Return the call that runs a script of a skill."""
    return Use("run_skill_script", {"skill": skill, "script": name, "args": [*args]}, optional)
