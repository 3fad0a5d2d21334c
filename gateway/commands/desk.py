"""The parts of the gateway that commands use."""

from dataclasses import dataclass
from pathlib import Path

from agent_core.clock import Clock, NewId
from channels.base import ChatKey
from gateway.chat.gaps import Gaps
from gateway.chat.memories import Memories
from gateway.chat.pace import Pace
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.approvals import Approvals
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.workspaces import Versions, workspace_of
from gateway.runs.agents import Agents
from gateway.runs.drain import Drain
from gateway.runs.runner import Runner
from gateway.runs.tasks.tasks import Tasks
from gateway.schedule.heartbeat.heartbeats import Heartbeats
from gateway.schedule.jobs.jobs import Jobs
from gateway.schedule.zones import Zones
from gateway.security.secrets import Secrets
from gateway.store.store import Store
from gateway.texts.about import About
from gateway.texts.say import Language
from gateway.upkeep.before_restore import BeforeRestore


@dataclass(frozen=True)
class Desk:
    """What commands use."""

    store: Store
    runner: Runner
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
    before_restore: BeforeRestore
    drain: Drain
    approved: ApprovedTools

    def workspace(self, chat: ChatKey) -> Path:
        """Return the chat's workspace folder. Each thread has its own."""
        return workspace_of(self.home, chat)
