"""What the rooms of the gateway share; made once by the composition root."""

from dataclasses import dataclass
from pathlib import Path

from agent_core.clock import Clock, NewId
from channels.base import ChatKey
from gateway.about import About
from gateway.access import Access
from gateway.agents import Agents
from gateway.approvals import Approvals
from gateway.audit import AuditLog
from gateway.delivery import Delivery
from gateway.folders import workspace_of
from gateway.heartbeat.heartbeats import Heartbeats
from gateway.jobs.firings import Firings
from gateway.jobs.jobs import Jobs
from gateway.memories import Memories
from gateway.secrets import Secrets
from gateway.store.store import Store
from gateway.tasks.tasks import Tasks
from gateway.texts import Language
from gateway.zones import Zones


@dataclass(frozen=True)
class Desk:
    """Collaborators, not settings: each is used through its own methods."""

    store: Store
    audit: AuditLog
    delivery: Delivery
    access: Access
    approvals: Approvals
    clock: Clock
    new_id: NewId
    agents: Agents
    home: Path
    zones: Zones
    language: Language
    about: About
    secrets: Secrets
    memories: Memories
    tasks: Tasks
    jobs: Jobs
    heartbeats: Heartbeats
    firings: Firings

    async def run_over(self, run: str) -> None:
        """A chat's run has ended: what it asked of people, and of others in its answer, is not wanted any more."""
        await self.approvals.run_over(run)
        await self.tasks.run_over(run)

    def workspace(self, chat: ChatKey) -> Path:
        """The chat's own folder; a thread has one of its own."""
        return workspace_of(self.home, chat)
