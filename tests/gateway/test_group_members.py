"""Who has left a group is what its platform says; what nobody knows keeps nobody out."""

import pytest

from channels.base import ChannelError, ChatKey, Sender
from channels.memory import MemoryChannel
from gateway.permissions.access import Access
from gateway.permissions.group_members import GroupMembers
from gateway.permissions.roles import People, Roles
from tests.clock import FakeClock

BOB = Sender(id="bob", name="Bob")


class Telling(MemoryChannel):
    """Also implements KnowsMembers."""

    def __init__(self, answer: bool | ChannelError) -> None:  # noqa: FBT001 - the answer of a platform
        super().__init__()
        self._answer = answer

    async def is_member(self, chat: ChatKey, person: str) -> bool:
        if isinstance(self._answer, ChannelError):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    ("answer", "person", "has_left"),
    [
        (True, "bob", False),
        (False, "bob", True),
        (False, "ann", False),  # an owner
        (ChannelError("no such chat", permanent=True), "bob", False),
    ],
)
async def test_who_has_left_is_what_the_platform_says(
    answer: bool | ChannelError,  # noqa: FBT001 - the answer of a platform
    person: str,
    *,
    has_left: bool,
) -> None:
    channel = Telling(answer)
    people = People(owners=frozenset({"memory:ann"}), allow=frozenset({"memory:bob"}))
    members = GroupMembers(Access(Roles(people), [channel], (), FakeClock()))

    assert await members.has_left(channel.chat(group="team"), Sender(id=person, name="")) is has_left
    assert not await members.has_left(channel.chat("bob"), BOB)
