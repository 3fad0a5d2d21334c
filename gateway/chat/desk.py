"""Collaborators shared across the gateway, assembled once by the composition root."""

from dataclasses import dataclass
from pathlib import Path

from agent_core.clock import Clock, NewId
from channels.base import ChatKey
from gateway.background.drain import Drain
from gateway.chat.gaps import Gaps
from gateway.chat.memories import Memories
from gateway.chat.pace import Pace
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.approvals import Approvals
from gateway.permissions.approved_tools import ApprovedTools
from gateway.records.audit import AuditLog
from gateway.runs.agents import Agents
from gateway.runs.tasks.tasks import Tasks
from gateway.schedule.heartbeat.heartbeats import Heartbeats
from gateway.schedule.jobs.firings import Firings
from gateway.schedule.jobs.jobs import Jobs
from gateway.schedule.zones import Zones
from gateway.security.secrets import Secrets
from gateway.store.store import Store
from gateway.texts.about import About
from gateway.texts.say import Language
from gateway.upkeep.upkeep import Upkeep
from gateway.workspace.folders import workspace_of
from gateway.workspace.versions import Versions


@dataclass(frozen=True)
class Desk:
    """Shared collaborators. Settings do not belong here."""

    store: Store
    audit: AuditLog
    delivery: Delivery
    access: Access
    pace: Pace
    gaps: Gaps
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
    versions: Versions
    tasks: Tasks
    jobs: Jobs
    heartbeats: Heartbeats
    firings: Firings
    upkeep: Upkeep
    drain: Drain
    approved: ApprovedTools

    async def run_over(self, run: str) -> None:
        """Close the questions and tasks of a chat's run that has ended."""
        await self.approvals.run_over(run)
        await self.tasks.run_over(run)

    def workspace(self, chat: ChatKey) -> Path:
        """Return the chat's workspace folder. Each thread has its own."""
        return workspace_of(self.home, chat)
