"""Asks before a program runs if its changes could not be undone, whatever the rules allow."""

from agent_core.loop.permissions import Proposal
from gateway.permissions.policy import Ruling
from gateway.permissions.workspaces import Versions

CANNOT_UNDO = "cannot_undo"
"""Reason of a question that is asked because the files cannot be backed up as they are."""


async def undoable(ruling: Ruling, proposal: Proposal, versions: Versions) -> Ruling:
    """Return the ruling, or "ask" in place of "allow" if a program's changes could not be undone.

    If the program stays allowed, all files it could change have been backed up on return, so `/undo` can restore them.
    """
    if ruling.behavior == "deny" or not await versions.why_not_undoable(proposal):
        return ruling
    return Ruling("ask", (*ruling.reason, CANNOT_UNDO))
