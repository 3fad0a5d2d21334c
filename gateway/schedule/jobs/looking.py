"""The interface between the heartbeat and the firings of its job."""

from dataclasses import dataclass
from typing import Protocol

from agent_core.loop.limits import LoopLimits, TaskBudget
from agent_core.sources import Sources
from gateway.store.job import Firing, Job


@dataclass(frozen=True)
class CheckInBrief:
    """The prompt and limits of one check-in's run."""

    prompt: str
    duty: str
    limits: LoopLimits
    budget: TaskBudget
    seconds: float
    tools: frozenset[str]
    """The names of the tools it may use."""
    sources: Sources
    """The sources of untrusted input in the prompt."""


class LooksAfter(Protocol):
    """Provides the content of check-ins. Each method may be called again after a crash."""

    async def brief(self, job: Job, firing: Firing) -> CheckInBrief | None:
        """Return what to check, or None if there is nothing; then the firing ends as NOTHING without a model call."""

    async def words(self, job: Job, firing: Firing, text: str) -> str | None:
        """Return the message for the chat after the run ended with `text` (empty if it had nothing to report).

        Returns None to send nothing; then the firing ends as NOTHING.
        """

    async def came_out(self, job: Job, firing: Firing) -> None:
        """Record the firing's outcome, which is already stored."""
