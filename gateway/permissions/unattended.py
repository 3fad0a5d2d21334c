"""Permissions of runs in which nobody can be asked: what the rules allow, and nothing that would need an approval."""

import asyncio
from collections.abc import Collection

from agent_core.loop.permissions import Answer, PermissionDecision, Proposal
from agent_core.skills.library import SkillLibrary
from agent_core.sources import UNKNOWN
from agent_core.tools.tool import FunctionTool
from agent_core.workspace.provenance import FileLedger
from gateway.permissions.addresses import FETCH, is_one_of
from gateway.permissions.gates import GATED
from gateway.permissions.policy import AFTER_FILES, AFTER_UNTRUSTED, WRITE, Ruling
from gateway.permissions.roles import Role
from gateway.permissions.rules import CANNOT_UNDO, Rules, in_english, undoable
from gateway.permissions.workspaces import Versions
from gateway.texts.say import say

SCRIPT = "run_skill_script"
JOB = "job"
"""What `PermissionDecision.ruled_by` says of a call that its job was set up for."""
NOBODY = "Nobody can be asked in a scheduled run: do without it, and say in the report what is missing."


class UnattendedPermissions:
    """Satisfies agent_core's `Permissions`."""

    def __init__(
        self,
        rules: Rules,
        versions: Versions,
        library: SkillLibrary,
        scripts: Collection[str],
        given: Collection[str],
        ledger: FileLedger,
        *,
        most: Role,
    ) -> None:
        """`versions` tells which programs can be undone; no others are run.

        Args:
            scripts: Skills whose scripts the user agreed to when setting the job.
            given: Addresses in the job's text that users wrote.
            ledger: Records the sources of untrusted input in each file.
            most: The run has no rights that this role has not.
        """
        self._rules = rules
        self._versions = versions
        self._library = library
        self._scripts = scripts
        self._given = given
        self._ledger = ledger
        self._most = most

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        if self._is_unwanted_page(proposal):
            return PermissionDecision(behavior="deny", reason=f"{say('not_given', 'en')} {NOBODY}")
        ruling = await undoable(await self._rules.guarded(proposal, self._most), proposal, self._versions)
        if ruling.behavior != "ask":
            return PermissionDecision(behavior=ruling.behavior, reason=in_english(ruling), ruled_by=ruling.setting)
        if GATED in ruling.reason:  # each single call is to be approved, which nobody did
            return PermissionDecision(behavior="deny", reason=f"{in_english(ruling)} {NOBODY}")
        if (self._is_approved(proposal) and CANNOT_UNDO not in ruling.reason) or self._is_given(proposal, ruling):
            return PermissionDecision(behavior="allow", ruled_by=JOB)
        if AFTER_UNTRUSTED in ruling.reason and await asyncio.to_thread(self._replaces_untrusted_file, proposal):
            return PermissionDecision(behavior="allow", ruled_by=JOB)
        return PermissionDecision(behavior="deny", reason=f"{in_english(ruling)} {NOBODY}".strip())

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        """Return EXPIRED, as no question is ever asked."""
        return Answer.EXPIRED

    async def withdraw(self, request_id: str) -> None:
        """Do nothing, as no question is ever asked."""

    def _is_approved(self, proposal: Proposal) -> bool:
        """Return True for scripts that the user agreed to.

        Skills in the chat's own folder never count, as their scripts can be replaced. Nor do tools of other origins.
        """
        skill = proposal.call.arguments.get("skill")
        is_ours = proposal.call.name == SCRIPT and isinstance(proposal.tool, FunctionTool)
        return is_ours and skill in self._scripts and self._library.find(str(skill)) is not None

    def _is_unwanted_page(self, proposal: Proposal) -> bool:
        """Return True for an address that no user gave: in an unattended run, no user sees which ones are chosen."""
        url = proposal.call.arguments.get("url")
        reads = proposal.call.name == FETCH and isinstance(proposal.tool, FunctionTool)
        return reads and not (isinstance(url, str) and is_one_of(url, self._given))

    def _replaces_untrusted_file(self, proposal: Proposal) -> bool:
        """Return True if it overwrites a file with known untrusted sources, as a report does with its last snapshot."""
        path = proposal.call.arguments.get("path")
        if proposal.call.name != WRITE or not isinstance(proposal.tool, FunctionTool) or not isinstance(path, str):
            return False
        origin = self._ledger.of(proposal.workspace).of([path])
        return origin.is_tainted and UNKNOWN not in origin.sources

    def _is_given(self, proposal: Proposal, ruling: Ruling) -> bool:
        """Return True if the model reads an address that a user wrote; even a tainted run leaks nothing by that."""
        url = proposal.call.arguments.get("url")
        reads = proposal.call.name == FETCH and isinstance(proposal.tool, FunctionTool)
        is_asked = AFTER_UNTRUSTED in ruling.reason or AFTER_FILES in ruling.reason
        return reads and is_asked and isinstance(url, str) and is_one_of(url, self._given)
