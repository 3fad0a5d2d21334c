"""What the rooms of the gateway share; made once by the composition root."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.agent import Agent
from agent_core.clock import Clock, NewId
from channels.base import ChatKey
from gateway.about import About
from gateway.access import Access
from gateway.delivery import Delivery
from gateway.store.store import Store
from gateway.texts import Language


@dataclass(frozen=True)
class Desk:
    """Collaborators, not settings: each is used through its own methods."""

    store: Store
    delivery: Delivery
    access: Access
    clock: Clock
    new_id: NewId
    make_agent: Callable[[ChatKey, str, Path], Agent]
    """A new agent for a chat, a session id and the chat's workspace."""
    home: Path
    zone: ZoneInfo
    language: Language
    about: About

    def workspace(self, chat: ChatKey) -> Path:
        """The chat's own folder; its name is made of the key, with nothing that a path could trip over."""
        return self.home / "workspaces" / re.sub(r"[^\w-]", "_", str(chat))
