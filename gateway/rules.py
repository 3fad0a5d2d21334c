"""What holds for a call before anybody is asked: who it is for, and what the policy says of it."""

from agent_core.permissions import Proposal
from channels.base import ChatKey, Sender
from gateway.access import Access
from gateway.policy import Policy, Role, Ruling
from gateway.texts import say


class Rules:
    """The same for calls in a chat and for those that nobody sits beside. Nothing is allowed to whoever may not speak
    here, any more or at all."""

    def __init__(self, policy: Policy, access: Access) -> None:
        self._policy = policy
        self._access = access

    def of(self, proposal: Proposal) -> Ruling:
        if proposal.chat_id is None or proposal.user_id is None:
            return Ruling("deny", ("for_nobody",))
        chat, person = ChatKey.parse(proposal.chat_id), Sender(id=proposal.user_id, name="")
        if not self._access.may_speak(chat, person):
            return Ruling("deny", ("may_not_speak",))
        role = Role.OWNER if self._access.is_owner(chat, person) else Role.USER
        return self._policy.decide(proposal, role)


def in_english(keys: tuple[str, ...]) -> str:
    """Why, for the model."""
    return " ".join(say(key, "en") for key in keys)
