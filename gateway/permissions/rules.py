"""Decides on tool calls by access rights, policy, and whether changes can be undone, before any question to people."""

from dataclasses import replace

from agent_core.loop.permissions import Proposal
from channels.base import ChatKey, Sender
from gateway.permissions.access import Access
from gateway.permissions.policy import Policy, Ruling
from gateway.permissions.sources import named
from gateway.permissions.workspaces import Versions
from gateway.texts.say import say

CANNOT_UNDO = "cannot_undo"
"""Reason of a question that is asked because the files cannot be backed up as they are."""


class Rules:
    """Applies the same rules to calls in chats and to unattended ones; users who may not speak here are denied."""

    def __init__(self, policy: Policy, access: Access) -> None:
        self._policy = policy
        self._access = access

    def of(self, proposal: Proposal) -> Ruling:
        if proposal.chat_id is None or proposal.user_id is None:
            return Ruling("deny", ("for_nobody",))
        chat, person = ChatKey.parse(proposal.chat_id), Sender(id=proposal.user_id, name="")
        role = self._access.role(chat, person)
        if role is None:
            return Ruling("deny", ("may_not_speak",))
        limits = self._access.limits(chat)
        ruling = self._policy.decide(proposal, role, limits)
        return replace(ruling, setting=self._policy.setting(proposal, role, limits))

    def is_tainted(self, proposal: Proposal) -> bool:
        return self._policy.is_tainted(proposal)


def in_english(ruling: Ruling) -> str:
    """Return the ruling's reasons in English, for the model."""
    return " ".join(say(key, "en", sources=named(ruling.sources, "en")) for key in ruling.reason)


async def undoable(ruling: Ruling, proposal: Proposal, versions: Versions) -> Ruling:
    """Return the ruling, or "ask" in place of "allow" if a program's changes could not be undone.

    If the program stays allowed, all files it could change have been backed up on return, so `/undo` can restore them.
    """
    if ruling.behavior == "deny" or not await versions.why_not_undoable(proposal):
        return ruling
    return Ruling("ask", (*ruling.reason, CANNOT_UNDO))
