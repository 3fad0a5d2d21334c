"""Decides on tool calls by access rights, policy, and whether changes can be undone, before any question to people."""

from itertools import takewhile

from msgspec.structs import replace

from agent_core.loop.permissions import Proposal
from channels.base import ChatKey, Sender
from gateway.permissions.access import Access
from gateway.permissions.gates import Gates
from gateway.permissions.policy import Policy, Ruling
from gateway.permissions.rights import TALK, Place, Right
from gateway.permissions.roles import Role
from gateway.permissions.sources import named
from gateway.permissions.workspaces import Versions
from gateway.texts.say import say

CANNOT_UNDO = "cannot_undo"
"""Reason of a question that is asked because the files cannot be backed up as they are."""

NOT_YOUR_CHAT = "page_not_your_chat"
"""Key of the refusal of what is not for chats of others."""

_ONLY = {Role.OWNER: "only_owners", Role.ADMIN: "only_admins", Role.MEMBER: "only_members"}
"""Keys of sentences, by the least role that has a right."""


class Rules:
    """Applies the same rules to calls in chats and to unattended ones; users who may not speak here are denied."""

    def __init__(self, policy: Policy, access: Access, gates: Gates | None = None) -> None:
        """`gates` are asked about calls that are not refused; None: no plugin has any."""
        self._policy = policy
        self._gates = gates or Gates()
        self.access = access

    def of(self, proposal: Proposal, most: Role = Role.OWNER) -> Ruling:
        """Decide about a call, which has the rights of its person, and none that the role `most` has not."""
        if proposal.chat_id is None or proposal.user_id is None:
            return Ruling("deny", ("for_nobody",))
        chat, person = ChatKey.parse(proposal.chat_id), Sender(id=proposal.user_id, name="")
        role = self.access.role(chat, person)
        if role is None or not self._policy.permits(TALK, role, self.access.place(chat, person)):
            return Ruling("deny", ("may_not_speak",))
        role, limits = role.no_more_than(most), self.access.limits(chat)
        ruling = self._policy.decide(proposal, role, limits)
        return replace(ruling, setting=self._policy.setting(proposal, role, limits))

    async def guarded(self, proposal: Proposal, most: Role = Role.OWNER) -> Ruling:
        """Decide about a call as `of` does, or stricter if a plugin has something against it."""
        return await self._gates.stricter(self.of(proposal, most), proposal)

    def may(self, right: Right, chat: ChatKey, sender: Sender) -> bool:
        """Return True if somebody has a right in a chat."""
        role = self.access.role(chat, sender)
        return role is not None and self._policy.permits(right, role, self.access.place(chat, sender))

    def weakest_writer(self, chat: ChatKey, person: str) -> Role:
        """Return the least role of those who can have the files changed of a chat in which a person has a job."""
        match self.access.place(chat, Sender(id=person, name="")):
            case Place.DIRECT:
                return Role.OWNER  # the person's own role
            case Place.GROUP | Place.VISITED:
                return self._policy.weakest_writer(self.access.limits(chat))
            case Place.OTHERS | Place.OWNERS:
                whose = self.access.whose(chat)
                return (whose and self.access.role_of(whose)) or Role.GUEST

    def may_have(self, role: Role, right: Right) -> bool:
        """Return True if people of a role have a right in chats of their own or in groups."""
        return any(self._policy.permits(right, role, place) for place in (Place.DIRECT, Place.GROUP))

    def refusal(self, right: Right, chat: ChatKey, sender: Sender) -> str:
        """Return the key of the sentence that says who has a right instead of somebody; empty if that person has it."""
        role, place = self.access.role(chat, sender), self.access.place(chat, sender)
        if role is None or not role.is_at_least(right.away_from_home(place)):
            return NOT_YOUR_CHAT
        if self._policy.permits(right, role, place):
            return ""
        least = right.least(place)
        if least is None:
            other = right.group if right.direct is None else right.direct
            if other is not None and role.is_at_least(other):
                return right.elsewhere or ("groups_only" if right.direct is None else "only_in_direct_chat")
            return right.refusal or right.elsewhere
        if right.refusal and not role.is_at_least(least):
            return right.refusal
        *_, weakest = takewhile(lambda each: self._policy.permits(right, each, place), Role)
        return _ONLY[weakest]

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
