"""What the rooms of the gateway share; made once by the composition root."""

import re
from dataclasses import dataclass
from hashlib import sha256
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
from gateway.secrets import Secrets
from gateway.store.store import Store
from gateway.texts import Language

LONGEST_NAME = 100
"""Characters of a chat's key in the name of its folder."""


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

    def workspace(self, chat: ChatKey) -> Path:
        """The chat's own folder."""
        return self.home / "workspaces" / workspace_name(chat)


def workspace_name(chat: ChatKey) -> str:
    """No two keys share it, and a person can read it: `telegram_42_-1001_7` stands for its key alone, and what had to
    be altered or cut, or has capitals (some disks see none), ends with a digest."""
    key = str(chat)
    name = re.sub("[^A-Za-z0-9-]", "_", key)
    if len(key) > LONGEST_NAME or not re.fullmatch("[a-z0-9:-]*", key):
        return f"{name[:LONGEST_NAME]}.{sha256(key.encode(errors='surrogatepass')).hexdigest()[:16]}"
    return name
