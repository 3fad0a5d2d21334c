"""What the run of a job may call: what the rules allow, and never what somebody would have to say yes to first."""

from collections.abc import Collection

from agent_core.permissions import Answer, PermissionDecision, Proposal
from agent_core.skills.library import SkillLibrary
from agent_core.tools import FunctionTool
from gateway.addresses import FETCH, is_one_of
from gateway.policy import AFTER_STRANGERS, Ruling
from gateway.rules import Rules, in_english

SCRIPT = "run_skill_script"
NOBODY = "Nobody can be asked in a scheduled run: do without it, and say in the report what is missing."


class UnattendedPermissions:
    """Satisfies agent_core's Permissions."""

    def __init__(self, rules: Rules, library: SkillLibrary, scripts: Collection[str], given: Collection[str]) -> None:
        """`scripts`: the skills whose scripts the person has said yes to, when the job was set. `given`: the addresses
        in its words that people wrote."""
        self._rules = rules
        self._library = library
        self._scripts = scripts
        self._given = given

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        ruling = self._rules.of(proposal)
        if ruling.behavior != "ask":
            return PermissionDecision(behavior=ruling.behavior, reason=in_english(ruling.reason))
        if self._is_approved(proposal) or self._is_given(proposal, ruling):
            return PermissionDecision(behavior="allow")
        return PermissionDecision(behavior="deny", reason=f"{in_english(ruling.reason)} {NOBODY}".strip())

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        """There is no question."""
        return Answer.EXPIRED

    async def withdraw(self, request_id: str) -> None:
        """There is no question."""

    def _is_approved(self, proposal: Proposal) -> bool:
        """A skill of the chat's own folder never is: whoever writes there could write another script. Nor is somebody
        else's tool under the name of ours."""
        skill = proposal.call.arguments.get("skill")
        is_ours = proposal.call.name == SCRIPT and isinstance(proposal.tool, FunctionTool)
        return is_ours and skill in self._scripts and self._library.find(str(skill)) is not None

    def _is_given(self, proposal: Proposal, ruling: Ruling) -> bool:
        """In what a stranger had a word in, an address that a person wrote carries nothing out all the same."""
        url = proposal.call.arguments.get("url")
        reads = proposal.call.name == FETCH and isinstance(proposal.tool, FunctionTool)
        return reads and AFTER_STRANGERS in ruling.reason and isinstance(url, str) and is_one_of(url, self._given)
