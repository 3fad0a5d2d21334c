"""The files of all chats: folders, former versions for `/undo`, and sources of untrusted text."""

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

import structlog
from msgspec import Struct

from agent_core.clock import Clock
from agent_core.loop.permissions import Proposal
from agent_core.tools.shell import CommandTool
from agent_core.versions.versions import ChatVersions, KeepLimits
from agent_core.workspace.keeper import Author
from agent_core.workspace.provenance import FileLedger, FileSources
from channels.base import ChatKey
from gateway.permissions.quotas import ChatQuota, Quotas
from gateway.settings.limits import QuotaSettings

FOLDER = "versions"
"""In PARLEY_HOME; programs cannot see it."""

LONGEST_NAME = 100
"""Characters of a chat's key that are kept in the name."""

log = structlog.get_logger(__name__)


def folder_name(chat: ChatKey) -> str:
    """Return the name of a chat's folder, readable and unique to its key.

    A plain key keeps its form: `telegram_42_-1001_7`. One with altered or cut characters, or with capitals (some file
    systems ignore case), gets a digest at the end.
    """
    key = str(chat)
    name = re.sub("[^A-Za-z0-9-]", "_", key)
    if len(key) > LONGEST_NAME or not re.fullmatch("[a-z0-9:-]*", key):
        return f"{name[:LONGEST_NAME]}.{sha256(key.encode(errors='surrogatepass')).hexdigest()[:16]}"
    return name


def key_of(name: str) -> str:
    """Return the key of the chat that owns a folder, or the folder's name if the key cannot be told from it."""
    return name if "." in name else name.replace("_", ":")


def workspace_of(home: Path, chat: ChatKey) -> Path:
    """Return a chat's workspace folder. Each thread has its own."""
    return home / "workspaces" / folder_name(chat)


def _own_account(chat: ChatKey, person: str) -> list[str]:
    return [f"{chat.platform}:{person}"]


class Versions:
    """Returns the versions of a chat, creating them on first use."""

    def __init__(
        self,
        home: Path,
        clock: Clock,
        limits: KeepLimits | None = None,
        quotas: Callable[[], QuotaSettings] = QuotaSettings,
        accounts: Callable[[ChatKey, str], Sequence[str]] = _own_account,
    ) -> None:
        """Create the versions of all chats.

        Args:
            quotas: Returns those in force.
            accounts: Returns the account of a person in a chat as `platform:id`, and then the linked ones.
        """
        self._home = home
        self._quotas = Quotas(home / FOLDER, quotas)
        self._accounts = accounts
        self._clock = clock
        self._limits = limits
        self._known: WeakValueDictionary[str, ChatVersions] = WeakValueDictionary()

    def of(self, chat: ChatKey) -> ChatVersions:
        name = folder_name(chat)
        found = self._known.get(name)
        if found is None:
            folder = self._home / FOLDER / name
            workspace = workspace_of(self._home, chat)
            quota = ChatQuota(self._quotas, name, partial(self._accounts, chat), (workspace, folder))
            found = ChatVersions(folder, workspace, self._clock, self._limits, quota)
            self._known[name] = found
        return found

    async def why_not_undoable(self, proposal: Proposal) -> str:
        """Return the reason that the program's changes could not be undone, or "" if they can or no program is run.

        The files are backed up by this call, so that the result still holds when the program starts.
        """
        if proposal.chat_id is None or not isinstance(proposal.tool, CommandTool):
            return ""
        author = Author(proposal.call.name, proposal.call.id, proposal.user_id)
        return await asyncio.to_thread(self.of(ChatKey.parse(proposal.chat_id)).why_not, author)

    def changing(self, chat: ChatKey, memory: Path, author: Author) -> Callable[[Sequence[str], Sequence[str]], None]:
        """Return a callback that records changes to the facts in a chat's memory, so that they can be undone."""
        return partial(self.of(chat).facts, author, memory)

    def prune(self) -> None:
        """Delete versions that are too old, in every chat. Blocks.

        Where another node changes files at this moment it is left to that node, which prunes after each change.
        """
        for folder in sorted((self._home / FOLDER).glob("*/")):
            found = self._known.get(folder.name) or ChatVersions(folder, folder, self._clock, self._limits)
            try:
                found.prune_alone()
            except BlockingIOError:
                continue
            except (OSError, ValueError) as error:
                log.warning("old versions are kept", folder=str(folder), reason=str(error))


class Workspaces(Struct, frozen=True):
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
