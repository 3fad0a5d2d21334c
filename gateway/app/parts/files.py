"""The folders of chats, and the former versions of their files."""

from agent_core.workspace.provenance import FileLedger
from channels.base import ChatKey, Sender
from gateway.app.parts.base import Base
from gateway.app.parts.people import PeopleParts
from gateway.permissions.workspaces import Versions, Workspaces


class FileParts:
    """The folders of chats, and the former versions of their files."""

    def __init__(self, base: Base, people: PeopleParts) -> None:
        home, clock = base.home, base.clock

        def accounts(chat: ChatKey, person: str) -> list[str]:
            return people.access.ids(chat, Sender(id=person, name=""))

        self.versions = Versions(home, clock, quotas=base.current.quotas, accounts=accounts)
        self.workspaces = Workspaces(home, self.versions, FileLedger(home / "provenance"))
