"""Fallbacks between models: the order in which they are asked, and pauses for those that failed.

A request that is too large, or was rejected, goes to no other model: the first is handled by compaction, and what one
provider refuses is not passed on to another.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from agent_core.clock import Clock, SystemClock
from agent_core.models.llm import FailureCause, FailureKind, LlmClient, LlmFailure, ModelInfo

FIRST_REST_S = 60.0
LONGEST_REST_S = 600.0
"""The pause doubles with each failure in a row, up to this."""
ACCOUNT_REST_S = 900.0
"""Pause after a failure that only a person can fix: quota, key or a model that does not exist."""

_PASSES_ON = frozenset({FailureKind.TRANSIENT, FailureKind.QUOTA, FailureKind.AUTH, FailureKind.FATAL})

_NEVER = frozenset({FailureCause.NOT_FOUND, FailureCause.REGION})
"""Causes for which a model does not answer at all."""


def passes_on(failure: LlmFailure) -> bool:
    """Return True for a failure that another model may not have."""
    return failure.kind in _PASSES_ON or failure.cause in _NEVER


class Candidate(Struct, frozen=True):
    """A model and its client."""

    model: ModelInfo
    llm: LlmClient


class ModelChain:
    """The fallbacks; shared by all conversations, so that a failure found by one spares the others the wait."""

    def __init__(
        self,
        fallbacks: Sequence[Candidate] = (),
        clock: Clock | None = None,
        *,
        expects: Callable[[Candidate], None] = lambda _: None,
    ) -> None:
        self.fallbacks = tuple(fallbacks)
        self.expects = expects
        """Called with the model that is asked next if the one that has just failed fails again."""
        self._clock = clock or SystemClock()
        self._until: dict[str, float] = {}
        """End of each model's pause, on the monotonic clock."""
        self._failures: dict[str, int] = {}
        """Failures in a row, by model."""

    def order(self, first: Candidate, second: Candidate | None = None) -> list[Candidate]:
        """Return the models to ask, in order, without paused ones. If all are paused, all, soonest available first.

        `second` is asked before the fallbacks.
        """
        wanted = [first, *([second] if second else []), *self.fallbacks]
        everyone = list({each.model.id: each for each in reversed(wanted)}.values())[::-1]
        if not self._until:
            return everyone
        resting = self.resting()
        awake = [each for each in everyone if each.model.id not in resting]
        return awake or sorted(everyone, key=lambda each: resting[each.model.id])

    def resting(self) -> Mapping[str, float]:
        """Return the paused models with the seconds left."""
        now = self._clock.monotonic()
        return {model: until - now for model, until in self._until.items() if until > now}

    def gave_up(self, model: ModelInfo, failure: LlmFailure) -> None:
        """Pause a model that is not the only one. Failures of several conversations at once count as one."""
        if not passes_on(failure) or model.id in self.resting():
            return
        failures = self._failures[model.id] = self._failures.get(model.id, 0) + 1
        if failure.kind in (FailureKind.QUOTA, FailureKind.AUTH) or failure.cause in _NEVER:
            rest = ACCOUNT_REST_S
        else:
            rest = min(FIRST_REST_S * 2.0 ** min(failures - 1, 10), LONGEST_REST_S)
        asked = min(failure.retry_after_s or 0.0, ACCOUNT_REST_S)
        self._until[model.id] = self._clock.monotonic() + max(rest, asked)

    def answered(self, model: ModelInfo) -> None:
        """Clear the model's failures."""
        self._failures.pop(model.id, None)
        self._until.pop(model.id, None)
