"""Messages wait for a gap that another node reads, so that a chat is answered in the order in which it was written."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.background import Background
from agent_core.clock import SystemClock
from channels.base import Accepted, ChatKey, InboundEvent
from channels.connected import Connected
from channels.memory import MemoryChannel
from gateway.app.admission import Admission
from gateway.app.handler import ChannelMessageHandler
from gateway.app.languages import Languages
from gateway.app.local_dispatcher import LocalDispatcher
from gateway.app.remote_gaps import RemoteGaps
from gateway.chat.gaps import Gaps
from gateway.cluster import database_leases
from gateway.cluster.leases import LocalLeases
from gateway.cluster.ownership import INBOX
from gateway.cluster.signals import ALL, NodeSignals, payload_of
from gateway.store.read_marks import NotedGap
from gateway.store.rows import InboxItem
from gateway.store.topics import Topic
from gateway.store.writer import StoreUnavailable
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.cluster.nodes import READING, Nodes, Remembering
from tests.gateway.remembering import RememberingChannel
from tests.gateway.test_catch_up import heard
from tests.gateway.test_store import message
from tests.postgres import UrlOf, rows
from tests.process import until
from tests.tunnel import Tunnel


class Elsewhere(LocalDispatcher):
    """Works on no chat, and notes what it would tell the node that does."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.free = asyncio.Event()
        self.free.set()

    async def wait_routed(self, chat: ChatKey) -> None:
        await self.free.wait()

    def is_here(self, chat: ChatKey) -> bool:
        return False

    def dispatch(self, item: InboxItem, *, is_live: bool) -> None:
        self.told.append(item.event.event_id)


async def test_what_is_read_from_the_history_is_in_its_chat_before_the_next_is_read(tmp_path: Path) -> None:
    bot = Bot(tmp_path, (), BotOptions(channel=MemoryChannel()))
    await bot.start()
    elsewhere = Elsewhere()
    handler = ChannelMessageHandler(bot.made.events.admission, Languages(()), bot.made.people.zones, elsewhere)
    event = message(1).model_copy(update={"chat": bot.channel.chat("ann")})
    elsewhere.free.clear()

    taking = asyncio.create_task(handler.accept(event, is_live=False))
    await until(lambda: elsewhere.told == [event.event_id])
    assert not taking.done()
    elsewhere.free.set()
    await taking
    await bot.stop()


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Remembering]:
    found = Remembering(tmp_path, url_of(tmp_path))
    async with found.life:
        yield found


@pytest.mark.parametrize("owner", [0, 1])
async def test_a_message_waits_wherever_it_arrives_and_whoever_works_on_the_chat(
    nodes: Remembering, owner: int
) -> None:
    bots: list[Bot] = []
    for number in range(2):
        bots.append(await nodes.start(*["Yes."] * 4))
        if number == owner:  # before there is another node, which takes what it finds when it starts
            await bots[owner].channel.deliver(nodes.platform.writes("hello"))
            await nodes.settled()
    reader, other = bots
    await nodes.outage(reader)
    await nodes.heard_of_it(other)

    await other.channel.deliver(nodes.platform.writes("second"))
    await reader.channel.deliver(nodes.platform.writes("third"))
    await other.channel.deliver(nodes.platform.writes("fourth"))
    mail = bots[owner].made.chats.sessions.of(nodes.platform.chat()).mail
    await until(lambda: mail.has_above)
    assert nodes.platform.screen == ["Yes."]
    nodes.platform.open.set()
    await nodes.settled()

    assert heard(bots[owner]) == ["hello", "first", "second", "third", "fourth"]
    assert not bots[1 - owner].llm.requests


async def test_a_message_that_arrives_elsewhere_hides_none_that_was_missed_before(
    nodes: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.app.catch_up.OVERLAP", 0.0)
    reader, other = await nodes.start(*["Yes."] * 3), await nodes.start(*["Yes."] * 3)
    now = time.time()
    await reader.channel.deliver(nodes.platform.writes("hello", at=now))
    await nodes.settled()

    nodes.platform.writes("missed", at=now + 1)
    await other.channel.deliver(nodes.platform.writes("after a while", at=now + 2))
    await nodes.settled()
    nodes.platform.reconnect()
    await until(lambda: rows(nodes.url, "SELECT 1 FROM inbox WHERE payload::text LIKE '%missed%'"))


async def test_a_message_waits_for_the_next_reader_if_the_first_one_is_cut_off(nodes: Remembering) -> None:
    tunnel = await nodes.life.enter_async_context(Tunnel.to(nodes.url))
    reader, other = await nodes.start(url=tunnel.url), await nodes.start(*["Yes."] * 3)
    await other.channel.deliver(nodes.platform.writes("hello"))
    await nodes.settled()
    await nodes.outage(reader)
    await nodes.heard_of_it(other)
    await other.channel.deliver(nodes.platform.writes("second"))
    mail = other.made.chats.sessions.of(nodes.platform.chat()).mail
    await until(lambda: mail.has_above)

    tunnel.cut()
    await until(lambda: not reader.made.base.leases.holds(READING))
    nodes.platform.reconnect()  # of the connection of the other node, which has seen no reader
    await until(lambda: len(nodes.platform.read) == 2)
    assert nodes.platform.screen == ["Yes."]
    nodes.platform.open.set()
    await until(lambda: len(nodes.platform.screen) > 1)
    await other.app.settled()
    tunnel.mend()

    assert heard(other) == ["hello", "first", "second"]


class Crowded(RememberingChannel):
    """A platform that lets only some of its nodes connect."""

    is_connected = False


async def test_the_history_is_read_by_a_node_that_is_connected(
    tmp_path: Path, url_of: UrlOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_leases, "UNREADY_FOR", 0.3)
    nodes = Nodes(tmp_path, url_of(tmp_path))
    async with nodes.life:
        nodes.platform = Crowded()
        one = await nodes.start()
        nodes.platform.is_connected = True
        other = await nodes.start()

        await until(lambda: other.made.base.leases.holds(READING))
        assert not one.made.base.leases.holds(READING)

        vars(one.channel)["is_connected"], vars(other.channel)["is_connected"] = True, False
        await until(lambda: one.made.base.leases.holds(READING))
        assert not other.made.base.leases.holds(READING)


async def test_a_message_waits_no_more_once_the_gap_is_given_up_elsewhere(nodes: Remembering) -> None:
    reader, other = await nodes.start(), await nodes.start("Yes.", "Yes.")
    await other.channel.deliver(nodes.platform.writes("hello"))
    await nodes.settled()
    nodes.platform.refusals.append(ValueError("a mistake"))
    await nodes.outage(reader)
    await nodes.heard_of_it(other)
    await other.channel.deliver(nodes.platform.writes("second"))
    mail = other.made.chats.sessions.of(nodes.platform.chat()).mail
    await until(lambda: mail.has_above)

    nodes.platform.open.set()
    await until(lambda: len(nodes.platform.screen) > 1)

    assert heard(other) == ["hello", "second"]


async def test_a_node_that_does_not_read_the_history_lets_messages_wait_until_it_knows_the_gaps() -> None:
    gaps, left, chat = Gaps(SystemClock(), ()), list[str](), ChatKey.parse("memory:here:ann")
    gaps.on_left(left.append)
    gaps.reopen("memory")
    gaps.listed("memory", ())

    gaps.leave("memory")
    assert left == ["memory"]
    assert gaps.holds(chat)
    gaps.follow("memory", {})

    assert not gaps.holds(chat)


async def test_a_message_that_is_refused_while_the_chat_is_read_is_read_too(
    nodes: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, other = await nodes.start(*["Yes."] * 2), await nodes.start(*["Yes."] * 2)
    await other.channel.deliver(nodes.platform.writes("hello"))
    await nodes.settled()
    await nodes.outage(reader)
    await nodes.heard_of_it(other)
    take, refusals = Admission.take, [StoreUnavailable("the disk is full")]

    async def refusing(admission: Admission, event: InboundEvent) -> InboxItem | Accepted:
        if refusals:
            raise refusals.pop()
        return await take(admission, event)

    monkeypatch.setattr(Admission, "take", refusing)
    with pytest.raises(StoreUnavailable):
        await other.channel.deliver(nodes.platform.writes("refused"))
    await until(lambda: len(nodes.platform.read) == 2)
    nodes.platform.open.set()
    await until(lambda: rows(nodes.url, "SELECT max(gap) FROM read_marks") == [(0,)])
    await nodes.settled()

    assert heard(other) == ["hello", "first", "refused"]


@pytest.mark.parametrize("is_read", [False, True])
async def test_a_message_does_not_wait_for_lost_news_of_a_gap(
    nodes: Remembering, monkeypatch: pytest.MonkeyPatch, *, is_read: bool
) -> None:
    monkeypatch.setattr("gateway.chat.gaps.ASK_EVERY", 0.1)
    monkeypatch.setattr("gateway.chat.gaps.LONGEST_WAIT", 300.0)
    await nodes.start(*["Yes."] * 2)
    other = await nodes.start(*["Yes."] * 2)
    await other.channel.deliver(nodes.platform.writes("hello"))
    await nodes.settled()
    rows(nodes.url, "UPDATE read_marks SET gap = 1")  # and no news of it
    await other.made.serving.remote_gaps.changed("memory")

    nodes.platform.open.clear()
    await other.channel.deliver(nodes.platform.writes("are you there?"))
    await until(lambda: other.made.chats.sessions.of(nodes.platform.chat()).mail.has_above)
    if is_read:
        rows(nodes.url, "UPDATE read_marks SET gap = 0")
    else:
        nodes.platform.open.set()
    await until(lambda: len(nodes.platform.screen) == 2)


async def test_news_of_a_message_waits_for_news_of_the_gap_before_it(tmp_path: Path, url_of: UrlOf) -> None:
    url, known, heard = url_of(tmp_path), asyncio.Event(), list[str]()

    async def gap(key: str) -> None:
        if key:
            await known.wait()
            heard.append(key)

    async def came(key: str) -> None:
        if key:
            heard.append(key)

    async with NodeSignals.opened(url, "here") as signals:
        signals.subscribe(Topic.GAPS, gap)
        signals.subscribe(INBOX, came)
        await signals.listening.wait()
        for topic, key in ((Topic.GAPS, "of the chat"), (INBOX, "a message")):
            rows(url, f"SELECT pg_notify('{ALL}', '{payload_of('there', topic, key)}')")
        known.set()
        await until(lambda: len(heard) == 2)

    assert heard == ["of the chat", "a message"]


async def test_a_gap_that_is_noted_while_the_rows_are_read_stays_open() -> None:
    gaps, early, late = Gaps(SystemClock(), ()), ChatKey.parse("memory:here:ann"), ChatKey.parse("memory:here:bob")
    assert gaps.begin_noting(early)
    gaps.look()
    assert gaps.begin_noting(late)
    gaps.end_noting(late, is_noted=True)
    gaps.follow("memory", {})
    assert gaps.holds(early)
    assert gaps.holds(late)

    gaps.end_noting(early, is_noted=True)
    gaps.look()
    gaps.follow("memory", {early: NotedGap(1.0, 1)})

    assert gaps.holds(early)
    assert not gaps.holds(late)


class NobodyReads(LocalLeases):
    """Leases that nobody holds until `held` is set."""

    def __init__(self) -> None:
        self.held = False

    async def has_holder(self, name: str) -> bool:
        return self.held


async def test_messages_wait_where_no_node_was_connected_until_one_reads_the_history(tmp_path: Path) -> None:
    bot = Bot(tmp_path, (), BotOptions(channel=RememberingChannel()))
    await bot.start()
    gaps, leases, background = Gaps(SystemClock(), ()), NobodyReads(), Background("failed")
    rows_of, channels = bot.made.base.store.read_marks, Connected([RememberingChannel()])
    elsewhere = RemoteGaps(gaps, rows_of, Elsewhere(), channels, leases, background)
    chat = ChatKey.parse("memory:here:ann")

    gaps.leave("memory")
    await elsewhere.changed("memory")
    assert gaps.holds(chat)
    leases.held = True
    await until(lambda: not gaps.holds(chat))

    await background.stop()
    await bot.stop()
