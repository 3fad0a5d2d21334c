"""The folders of chats, the former versions of their files, and their memories."""

from agent_core.workspace.provenance import FileLedger
from channels.base import ChatKey, Sender
from gateway.app.parts.base import Base
from gateway.app.parts.people import PeopleParts
from gateway.plugins.memory.memories import Memories
from gateway.permissions.workspaces import Versions, Workspaces


class FileParts:
    """The folders of chats, the former versions of their files, and their memories."""

    def __init__(self, base: Base, people: PeopleParts) -> None:
        home, clock, shared = base.home, base.clock, base.current.now.shared_memory

        def accounts(chat: ChatKey, person: str) -> list[str]:
            return people.access.ids(chat, Sender(id=person, name=""))

        self.versions = Versions(home, clock, quotas=base.current.quotas, accounts=accounts)
        self.workspaces = Workspaces(home, self.versions, FileLedger(home / "provenance"))
        self.memories = Memories(home, clock, base.current, base.delivery, people.access, self.versions, shared=shared)
