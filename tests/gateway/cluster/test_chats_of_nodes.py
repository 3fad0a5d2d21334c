"""A chat is worked on by one node, whichever node its messages come to."""

import asyncio

import pytest

from agent_core.messages import text_of
from agent_core.models.scripted import Waits
from agent_core.origin import CLEAN
from channels.base import Addressed, NotTakenIn, OutboundMessage
from gateway.delivery import progress_message
from gateway.store.rows import Post
from tests.gateway.approving import CHART, id_of, questions, recorder
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.postgres import rows
from tests.process import until
from tests.tunnel import Tunnel


def said_to(bot: Bot, number: int = -1) -> list[str]:
    return [text_of(each.content) for each in bot.llm.requests[number].messages if each.role == "user"]


async def test_messages_that_come_to_several_nodes_are_answered_once_and_in_order(nodes: Nodes) -> None:
    one = await nodes.start("First.", "Second.", "Third.")
    await one.channel.hears("a")
    await nodes.settled()
    other = await nodes.start()  # it takes what it finds when it starts

    for text, bot in (("b", other), ("c", one)):
        await bot.channel.hears(text)
        await nodes.settled()

    assert nodes.platform.screen == ["First.", "Second.", "Third."]
    assert nodes.owner(nodes.platform.chat()) == nodes.node_of(one)
    assert other.llm.requests == []
    assert said_to(one) == ["a", "b", "c"]


async def test_a_message_and_a_stop_reach_the_run_on_the_other_node(nodes: Nodes) -> None:
    never = asyncio.Event()
    one = await nodes.start(Waits(never, "Oslo."), Waits(never, "Bergen."))
    await one.channel.hears("plan a trip to Oslo")
    await until(lambda: len(one.llm.requests) == 1)
    other = await nodes.start()

    await other.channel.hears("no, Bergen")
    session = one.made.chats.sessions.of(nodes.platform.chat())
    await until(lambda: len(session.mail) == 1)
    await other.channel.hears("/stop")
    await nodes.settled()

    assert len(nodes.platform.screen) == 1
    assert "stopped" in nodes.platform.screen[0].lower()
    assert not session.current.is_open


async def test_a_press_on_another_node_answers_an_approval(nodes: Nodes) -> None:
    run, ran = recorder()
    one = await nodes.start(CHART, "Here is the chart.", tools=(run,))
    await one.channel.hears("draw it")
    await until(lambda: bool(questions(one)))
    other = await nodes.start(tools=(run,))

    await other.channel.presses(f"/approve {id_of(questions(one)[0])}")
    await nodes.settled()

    assert ran == [["python3", "chart.py"]]
    assert nodes.platform.screen[-1].endswith("Here is the chart.")


async def test_a_plain_yes_in_a_group_is_asked_about_as_others_may_have_spoken_to_another_node(nodes: Nodes) -> None:
    run, ran = recorder()
    one = await nodes.start(CHART, "Here.", tools=(run,))
    await one.channel.hears("draw it", sender="bob", group="team")
    await until(lambda: bool(questions(one)))
    other = await nodes.start(tools=(run,))
    await until(lambda: one.made.base.peers.sending.processes == 2)

    await other.channel.hears("Lunch?", sender="mallory", group="team", addressed=Addressed.AMBIENT)
    await one.channel.hears("yes", sender="bob", group="team")
    await until(lambda: any("Do you mean this?" in text for text in nodes.sent()))

    assert ran == []


async def test_a_node_that_is_cut_off_is_taken_over_and_its_run_goes_on(nodes: Nodes) -> None:
    async with Tunnel.to(nodes.url) as tunnel:
        late = asyncio.Event()
        one = await nodes.start(Waits(late, "Too late."), url=tunnel.url)
        chat = nodes.platform.chat()
        await one.channel.hears("hello")
        await until(lambda: len(one.llm.requests) == 1)
        other = await nodes.start("In time.")  # it takes what it finds when it starts
        assert nodes.owner(chat) == nodes.node_of(one)

        tunnel.cut()
        await until(lambda: nodes.platform.screen == ["In time."])
        assert nodes.owner(chat) == nodes.node_of(other)
        late.set()
        tunnel.mend()
        await asyncio.wait_for(one.made.base.peers.wait_fenced(), 30)

        assert nodes.platform.screen == ["In time."]
        assert rows(nodes.url, "SELECT count(*) FROM runs") == [(1,)]
        await one.stop()


async def test_a_node_that_leaves_leaves_its_chats_to_the_others(nodes: Nodes) -> None:
    never = asyncio.Event()
    one = await nodes.start(Waits(never, "Never."))
    await one.channel.hears("hello")
    await until(lambda: len(one.llm.requests) == 1)
    other = await nodes.start("Here I am.")

    await one.stop()
    await until(lambda: nodes.platform.screen == ["Here I am."])

    assert nodes.owner(nodes.platform.chat()) == nodes.node_of(other)


async def test_a_notice_from_another_node_is_sent_by_the_node_of_the_chat(nodes: Nodes) -> None:
    never = asyncio.Event()
    one = await nodes.start(Waits(never, "Hello."))
    chat = nodes.platform.chat()
    await one.channel.hears("hello")
    await until(lambda: len(one.llm.requests) == 1)
    other = await nodes.start()
    notice = Post("notice:1", "notice", chat, OutboundMessage(markdown="A notice."), origin=CLEAN)

    await other.made.base.store.outbox.add([notice])
    await other.made.base.delivery.deliver(chat, [notice])
    await until(lambda: "A notice." in nodes.platform.screen)
    never.set()
    await nodes.settled()

    assert nodes.sent().count("A notice.") == 1
    assert nodes.owner(chat) == nodes.node_of(one)


async def test_a_node_that_ends_hands_each_chat_over_as_soon_as_it_rests(nodes: Nodes) -> None:
    writing = asyncio.Event()
    one = await nodes.start(CHART, Waits(writing, "Bob gets his answer."), tools=(recorder()[0],))
    other = await nodes.start("Ann was asked again.", tools=(recorder()[0],))
    await one.channel.hears("draw it")
    await until(lambda: bool(questions(one)))
    await one.channel.hears("hello", sender="bob")
    await until(lambda: len(one.llm.requests) == 2)

    over = await one.drains()
    await until(lambda: nodes.owner(nodes.platform.chat()) == nodes.node_of(other))
    assert nodes.owner(nodes.platform.chat("bob")) == nodes.node_of(one)
    assert not over.done()
    await other.channel.hears("who are you?", sender="carl")
    await one.channel.presses(f"/approve {id_of(questions(one)[0])}")
    writing.set()
    await over
    await nodes.settled()

    assert nodes.owner(nodes.platform.chat("bob")) in (None, nodes.node_of(other))
    assert nodes.sent().count("Bob gets his answer.") == 1


async def test_a_node_that_takes_long_to_end_goes_on_handing_chats_over(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("app", "composition"):
        monkeypatch.setattr(f"gateway.app.{module}.LEAVE_WITHIN", 0.0, raising=False)
    never, writing = asyncio.Event(), asyncio.Event()
    one = await nodes.start(Waits(never, "Ann gets her answer."), Waits(writing, CHART), tools=(recorder()[0],))
    for number, sender in enumerate(("ann", "bob")):
        await one.channel.hears("hello", sender=sender)
        await until(lambda number=number: len(one.llm.requests) == number + 1)  # type: ignore[misc]
    other = await nodes.start(CHART, tools=(recorder()[0],))

    over = await one.drains()
    writing.set()
    await until(lambda: nodes.owner(nodes.platform.chat("bob")) == nodes.node_of(other))

    assert not over.done()
    assert nodes.owner(nodes.platform.chat()) == nodes.node_of(one)
    never.set()
    await over


async def test_no_node_is_lost_while_the_database_is_away_for_all(nodes: Nodes) -> None:
    async with Tunnel.to(nodes.url) as tunnel:
        writing = asyncio.Event()
        one = await nodes.start(Waits(writing, "Hello."), "Hello again.", url=tunnel.url)
        other = await nodes.start(url=tunnel.url)
        await one.channel.hears("hello")
        await until(lambda: len(one.llm.requests) == 1)

        tunnel.cut()
        with pytest.raises(NotTakenIn):
            await other.channel.hears("is anybody there?", sender="bob")
        writing.set()
        tunnel.mend()
        await until(lambda: nodes.platform.screen == ["Hello."])
        await other.channel.hears("and now?")
        await nodes.settled()

        assert nodes.platform.screen == ["Hello.", "Hello again."]
        assert rows(nodes.url, "SELECT count(*) FROM nodes WHERE NOT fenced") == [(2,)]
        for bot in (one, other):
            await bot.stop()


async def test_a_node_that_is_cut_off_for_good_while_it_shows_progress_ends(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_message, "SHOW_AFTER", 0.0)
    async with Tunnel.to(nodes.url) as tunnel:
        one = await nodes.start(Waits(asyncio.Event(), "Too late."), url=tunnel.url)
        await one.channel.hears("hello")
        await until(lambda: bool(nodes.platform.screen))
        await nodes.start("In time.")
        tunnel.cut()
        await until(lambda: "In time." in nodes.platform.screen)

        async with asyncio.timeout(30):
            await one.stop()
