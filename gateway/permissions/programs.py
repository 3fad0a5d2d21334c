"""Recognises calls that run programs: commands, and scripts of skills."""

from agent_core.loop.permissions import Proposal
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin, Skill
from agent_core.tools.tool import FunctionTool
from gateway.permissions.policy import ShutIn

COMMAND, SCRIPT = "run_command", "run_skill_script"


def is_command(proposal: Proposal) -> bool:
    """Return True for our own command tool, not for another tool of the same name."""
    return proposal.call.name == COMMAND and isinstance(proposal.tool, FunctionTool)


def is_script(proposal: Proposal) -> bool:
    return proposal.call.name == SCRIPT and isinstance(proposal.tool, FunctionTool)


def script_skill(proposal: Proposal, library: SkillLibrary) -> Skill | None:
    """Return the shared skill whose script the call runs; None for other calls and for the chat's own skills."""
    if not is_script(proposal):
        return None
    return library.find(str(proposal.call.arguments.get("skill", "")).strip())


def shut_in(library: SkillLibrary, *, network: bool) -> ShutIn | None:
    """Return a predicate for calls that can reach nothing but their chat's files, or None if programs have network.

    These are commands, and scripts of skills shipped with Parley.
    """
    if network:
        return None

    def holds(proposal: Proposal) -> bool:
        skill = script_skill(proposal, library)
        return is_command(proposal) or (skill is not None and skill.origin is Origin.SHIPPED)

    return holds
