"""Models that stand in for one another: who is asked, and who is left alone for a while because it failed.

A request that is too large, or refused as such, goes to no other model: the first is answered by compaction, and what
one provider would not hear is not for us to take to the next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.clock import Clock, SystemClock
from agent_core.llm import FailureKind, LlmClient, LlmFailure, ModelInfo

FIRST_REST_S = 60.0
LONGEST_REST_S = 600.0
"""The rest after each failure in a row is twice the one before, up to this."""
ACCOUNT_REST_S = 900.0
"""After a failure that only a person can put right: quota, key."""

PASSES_ON = frozenset({FailureKind.TRANSIENT, FailureKind.QUOTA, FailureKind.AUTH, FailureKind.FATAL})
"""Failures that another model need not have."""


@dataclass(frozen=True)
class Candidate:
    """A model, and who speaks to it."""

    model: ModelInfo
    llm: LlmClient


class ModelChain:
    """Shared by all conversations, so that what one of them has found out spares the others the wait."""

    def __init__(self, fallbacks: Sequence[Candidate] = (), clock: Clock | None = None) -> None:
        self.fallbacks = tuple(fallbacks)
        self._clock = clock or SystemClock()
        self._until: dict[str, float] = {}
        """Monotonic, by model."""
        self._failures: dict[str, int] = {}
        """In a row, by model."""

    def order(self, first: Candidate) -> list[Candidate]:
        """Whom to ask, one after another: those that do not rest. Where all do, all, the soonest back first."""
        others = (each for each in self.fallbacks if each.model.id != first.model.id)
        everyone = [first, *others]
        resting = self.resting()
        awake = [each for each in everyone if each.model.id not in resting]
        return awake or sorted(everyone, key=lambda each: resting[each.model.id])

    def resting(self) -> Mapping[str, float]:
        """The models that are left alone now, and for how many seconds yet."""
        now = self._clock.monotonic()
        return {model: until - now for model, until in self._until.items() if until > now}

    def gave_up(self, model: ModelInfo, failure: LlmFailure) -> None:
        """It is to rest, if there is another. What fails for many conversations at once has failed once."""
        if not self.fallbacks or failure.kind not in PASSES_ON or model.id in self.resting():
            return
        failures = self._failures[model.id] = self._failures.get(model.id, 0) + 1
        if failure.kind in (FailureKind.QUOTA, FailureKind.AUTH):
            rest = ACCOUNT_REST_S
        else:
            rest = min(FIRST_REST_S * 2.0 ** min(failures - 1, 10), LONGEST_REST_S)
        asked = min(failure.retry_after_s or 0.0, ACCOUNT_REST_S)
        self._until[model.id] = self._clock.monotonic() + max(rest, asked)

    def answered(self, model: ModelInfo) -> None:
        """It works."""
        self._failures.pop(model.id, None)
        self._until.pop(model.id, None)
