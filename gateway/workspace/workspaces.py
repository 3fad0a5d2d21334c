"""What belongs to the files of all chats: folders, former versions, and sources of untrusted text."""

from dataclasses import dataclass
from pathlib import Path

from agent_core.workspace.provenance import FileLedger, FileSources
from channels.base import ChatKey
from gateway.workspace.folders import workspace_of
from gateway.workspace.versions import Versions


@dataclass(frozen=True)
class Workspaces:
    """The workspaces of all chats."""

    home: Path
    versions: Versions
    ledger: FileLedger

    def folder(self, chat: ChatKey) -> Path:
        """Return the chat's workspace folder. Each thread has its own."""
        return workspace_of(self.home, chat)

    def sources(self, chat: ChatKey) -> FileSources:
        """Return the untrusted sources of the chat's files."""
        return self.ledger.of(self.folder(chat))
