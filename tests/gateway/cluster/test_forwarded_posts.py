"""Messages for a chat of another node are sent by that node, once, also if it does not hear of them at first."""

from collections.abc import AsyncIterator

import pytest

from agent_core.origin import CLEAN
from channels.base import OutboundMessage, Posted
from gateway.cluster import sweep
from gateway.cluster.sweep import Sweep
from gateway.store.rows import Post
from tests.gateway.cluster.recorded_work import CHATS, Members
from tests.process import until

NOTICE = Post("notice:1", "notice", CHATS[0], OutboundMessage(markdown="A notice."), origin=CLEAN)


@pytest.fixture
async def owned(members: Members) -> Members:
    """Nodes of which the first works on the chat, and the second has a post for it."""
    await members.accept(1, CHATS[0], at=0)
    await until(lambda: members.dispatchers[0].is_settled)
    await members.stores[1].outbox.add([NOTICE])
    return members


@pytest.fixture
async def looking(members: Members, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sweep]:
    """The sweep of the second node."""
    monkeypatch.setattr(sweep, "SWEEP_EVERY", 0.05)
    other = Sweep(members.nodes[1], members.signals[1], members.dispatchers[1], None)
    yield other
    await other.close()


async def test_a_post_of_which_the_news_was_lost_is_delivered_anew(
    owned: Members, looking: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as losing:
        losing.setattr(owned.signals[1], "notify", lambda *_: None)
        await owned.dispatchers[1].ownership.forward(CHATS[0], [NOTICE.key])
    await looking.start()

    await until(lambda: owned.works[1].delivered == [NOTICE.key])
    assert owned.works[0].delivered == []


async def test_a_post_that_was_passed_on_just_now_or_was_sent_is_left_alone(owned: Members) -> None:
    other = owned.dispatchers[1]
    await other.ownership.forward(CHATS[0], [NOTICE.key])
    await other.deliver_unsent()
    await until(lambda: owned.works[0].delivered == [NOTICE.key])
    await owned.stores[0].outbox.sent(NOTICE, Posted(chat=NOTICE.chat, message_id="m1"))
    await other.deliver_unsent()

    assert owned.works[1].delivered == []
    assert other.ownership.forwarded == {}


async def test_a_post_that_is_in_hand_is_not_begun_again(owned: Members) -> None:
    second = Post("notice:2", "notice", CHATS[0], OutboundMessage(markdown="Another one."), origin=CLEAN)
    await owned.stores[1].outbox.add([second])
    await owned.dispatchers[1].ownership.forward(CHATS[0], [NOTICE.key])
    await owned.dispatchers[1].ownership.forward(CHATS[0], [NOTICE.key, second.key])
    await until(lambda: len(owned.works[0].delivered) > 1)

    assert owned.works[0].delivered == [NOTICE.key, second.key]
