"""A chat with another id is moved by the node that works on it, while no other node works on the new one."""

import pytest

from channels.base import ChatKey
from channels.moved import chat_moved
from gateway.app import moves
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.ruling import EXEC, limits, rule
from tests.postgres import rows
from tests.process import until

OLD = ChatKey(platform="memory", account="here", chat="#team")
NEW = ChatKey(platform="memory", account="here", chat="#crew")
MOVED = chat_moved(OLD, NEW.chat, 0)


async def test_a_chat_is_moved_although_other_nodes_work_on_it_and_on_the_new_one(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AGAIN_AFTER", "LONGEST_WAIT"):  # on a busy machine, it may take several tries
        monkeypatch.setattr(moves, name, 0.1)
    first = await nodes.start("Hello.", "Now here.")
    second = await nodes.start("Here, too.", "As before.")
    await first.hears("my name is Ann", group="team")
    await rule(first, EXEC, "deny")
    await second.hears("the sky is green", group="crew")
    assert (nodes.owner(OLD), nodes.owner(NEW)) == (nodes.node_of(first), nodes.node_of(second))

    await second.channel.deliver(MOVED)
    await until(lambda: rows(nodes.url, "SELECT count(*) FROM inbox WHERE state = 'new'") == [(0,)])
    await nodes.settled()

    for bot in (first, second):
        await until(lambda bot=bot: limits(bot, "crew").get("exec") == "deny")  # type: ignore[misc]
    await second.hears("who am I?", group="crew")
    await nodes.settled()
    asked = [str(bot.llm.requests[-1].messages) for bot in (first, second) if bot.llm.requests]
    assert any("my name is Ann" in known and "the sky is green" in known for known in asked)
