"""What the rooms of the gateway share; made once by the composition root."""

from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import Clock, NewId
from channels.base import ChatKey
from gateway.about import About
from gateway.access import Access
from gateway.agents import Agents
from gateway.approvals import Approvals
from gateway.audit import AuditLog
from gateway.delivery import Delivery
from gateway.folders import folder_name
from gateway.memories import Memories
from gateway.secrets import Secrets
from gateway.store.store import Store
from gateway.texts import Language


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
    zone: ZoneInfo
    language: Language
    about: About
    secrets: Secrets
    memories: Memories

    def workspace(self, chat: ChatKey) -> Path:
        """The chat's own folder; a thread has one of its own."""
        return self.home / "workspaces" / folder_name(chat)
