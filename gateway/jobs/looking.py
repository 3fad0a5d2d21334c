"""What the heartbeat and the firings of its job have to say to each other: values and a protocol."""

from dataclasses import dataclass
from typing import Protocol

from agent_core.limits import LoopLimits, TaskBudget
from gateway.store.job import Firing, Job


@dataclass(frozen=True)
class CheckInBrief:
    """What the run of one check-in is told, and how far it may go."""

    prompt: str
    duty: str
    limits: LoopLimits
    budget: TaskBudget
    seconds: float
    tools: frozenset[str]
    """The names of those that it has, of all that there are."""
    tainted: bool
    """Whether others than the person may have had a word in the prompt."""


class LooksAfter(Protocol):
    """Who knows what a chat's check-ins are about; every step may be taken again after a crash."""

    async def brief(self, job: Job, firing: Firing) -> CheckInBrief | None:
        """None: there is nothing to look at now; the firing comes to NOTHING, and no model is asked."""

    async def words(self, job: Job, firing: Firing, text: str) -> str | None:
        """What the chat is told where the run has ended with this text ("": it had nothing to report). None: nothing,
        and the firing comes to NOTHING."""

    async def came_out(self, job: Job, firing: Firing) -> None:
        """The firing has ended as it says, and is on disk."""
