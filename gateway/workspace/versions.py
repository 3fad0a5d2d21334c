"""Former versions of the files and facts of all chats, for `/undo`."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

import structlog

from agent_core.clock import Clock
from agent_core.loop.permissions import Proposal
from agent_core.tools.programs.shell import CommandTool
from agent_core.versions.versions import ChatVersions, KeepLimits
from agent_core.workspace.keeper import Author
from channels.base import ChatKey
from gateway.workspace.folders import folder_name, workspace_of
from gateway.workspace.quota_settings import QuotaSettings
from gateway.workspace.quotas import ChatQuota, Quotas

FOLDER = "versions"
"""In PARLEY_HOME; programs cannot see it."""

log = structlog.get_logger(__name__)


class Versions:
    """Returns the versions of a chat, creating them on first use."""

    def __init__(
        self, home: Path, clock: Clock, limits: KeepLimits | None = None, quotas: QuotaSettings | None = None
    ) -> None:
        self._home = home
        self._quotas = Quotas(home / FOLDER, quotas or QuotaSettings())
        self._clock = clock
        self._limits = limits
        self._known: WeakValueDictionary[str, ChatVersions] = WeakValueDictionary()

    def of(self, chat: ChatKey) -> ChatVersions:
        name = folder_name(chat)
        found = self._known.get(name)
        if found is None:
            folder = self._home / FOLDER / name
            workspace = workspace_of(self._home, chat)
            quota = ChatQuota(self._quotas, name, chat.platform, (workspace, folder))
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
        """Delete versions that are too old, in every chat. Blocks."""
        for folder in sorted((self._home / FOLDER).glob("*/")):
            found = self._known.get(folder.name) or ChatVersions(folder, folder, self._clock, self._limits)
            try:
                found.prune()
            except (OSError, ValueError) as error:
                log.warning("old versions are kept", folder=str(folder), reason=str(error))
