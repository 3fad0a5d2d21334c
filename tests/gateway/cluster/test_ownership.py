"""Chats are claimed, released and passed on at random times: each event is handled once, and none waits."""

import asyncio
import gc
import sqlite3
import weakref
from collections import Counter
from random import Random

import pytest

from channels.base import ChatKey
from gateway.cluster import ownership
from gateway.cluster.node import Node, NodeInfo
from gateway.cluster.ownership import Phase
from gateway.store.rows import InboxItem
from tests.gateway.cluster.recorded_work import CHATS, Members
from tests.gateway.test_store import CHAT, message
from tests.postgres import rows
from tests.process import until


@pytest.mark.parametrize("seed", range(3))
async def test_each_event_is_handled_once_while_chats_go_to_and_fro(members: Members, seed: int) -> None:
    await members.meet()
    random = Random(seed)  # noqa: S311
    coming: list[asyncio.Task[object]] = []
    for number in range(200):
        if random.random() < 0.4:
            coming.append(asyncio.create_task(random.choice(members.dispatchers).release_idle()))
        await asyncio.sleep(random.random() / 200)
        if number % 50 == 49:  # on a busy machine no chat is idle by itself
            await until(lambda number=number: len(members.log) == number)  # type: ignore[misc]
            await asyncio.gather(*coming, *(work.close() for work in members.works))
            await asyncio.gather(*(each.release_idle() for each in members.dispatchers))
        coming.append(asyncio.create_task(members.accept(number, random.choice(CHATS), random.randrange(3))))
    await asyncio.gather(*coming)
    await until(lambda: len(members.log) == 200)
    await asyncio.gather(*(work.close() for work in members.works))
    await until(lambda: all(each.is_settled for each in members.dispatchers))

    assert sorted(seq for _, seq in members.log) == sorted({seq for _, seq in members.log})
    assert await members.stores[0].inbox.waiting() == []
    assert len({name for name, _ in members.log}) > 1
    owned = [chat for each in members.dispatchers for chat in each.ownership.owned]
    assert len(owned) == len(set(owned))
    [(claims,)] = rows(members.url, "SELECT CAST(sum(number) AS int) FROM chat_owners")
    assert isinstance(claims, int)
    assert claims > len(CHATS)


async def test_an_event_whose_news_was_lost_is_found(members: Members) -> None:
    await members.accept(1, CHATS[0], at=0)
    await until(lambda: len(members.log) == 1)
    await members.accept(2, CHATS[0], at=1)
    await until(lambda: len(members.log) == 2)
    await members.stored(3, CHATS[0], at=1)

    await members.dispatchers[0].route_missed()
    assert len(members.log) == 2  # it may still be on its way
    await members.dispatchers[0].route_missed()

    assert members.log == [("one", 1), ("one", 2), ("one", 3)]


async def test_a_chat_with_something_to_do_is_not_released(members: Members) -> None:
    await members.accept(1, CHATS[0], at=0)
    await until(lambda: members.dispatchers[0].ownership.owns(CHATS[0]))
    await members.works[0].close()
    await members.stores[1].inbox.accept(message(2).model_copy(update={"chat": CHATS[0]}))

    await members.dispatchers[0].release_idle()
    assert members.dispatchers[0].ownership.owns(CHATS[0])
    await members.stores[1].inbox.settle([2])
    await members.dispatchers[0].release_idle()

    assert not members.dispatchers[0].ownership.owns(CHATS[0])


async def test_what_has_been_dealt_with_is_forgotten(members: Members) -> None:
    await members.accept(1, CHATS[0], at=0)
    await until(lambda: len(members.log) == 1)
    await members.works[0].close()
    held = members.dispatchers[0].ownership.get(CHATS[0])
    assert held is not None
    assert held.in_flight == {1}

    await members.dispatchers[0].route_missed()

    assert held.in_flight == set()


async def test_of_chats_that_were_released_a_node_holds_nothing_in_memory(members: Members) -> None:
    chats = [CHAT.model_copy(update={"chat": f"chat {number}"}) for number in range(500)]
    sharing = members.dispatchers[0]
    assert all(await asyncio.gather(*map(sharing.claim, chats)))
    states = [weakref.ref(state) for state in sharing.ownership.all()]
    assert len(states) == 500

    await sharing.release_idle()
    await until(lambda: sharing.is_settled)

    gc.collect()
    assert sharing.ownership.all() == []
    assert not [state for state in states if state() is not None]
    assert rows(members.url, "SELECT count(*) FROM chat_owners WHERE node IS NOT NULL") == [(0,)]


async def test_a_node_with_many_chats_passes_further_ones_on(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "FEW", 4)
    await members.dispatchers[0].ownership.count_others()
    chats = [CHAT.model_copy(update={"chat": f"chat {number}"}) for number in range(30)]
    for number, chat in enumerate(chats):
        await members.accept(number, chat, at=0)
        await until(lambda: members.dispatchers[0].is_settled)
    await until(lambda: len(members.log) == 30)

    shares = Counter(name for name, _ in members.log)
    assert sorted(seq for _, seq in members.log) == list(range(1, 31))
    assert min(shares.values()) >= 8
    assert max(shares.values()) <= 13


async def test_what_comes_to_a_node_that_ends_goes_to_another_one_at_once(members: Members) -> None:
    await members.meet()
    ending = members.dispatchers[0].ownership
    ending.is_draining = True

    await members.accept(1, CHATS[0], at=0)  # members neither sweep nor have a queue

    await until(lambda: len(members.log) == 1)
    [(name, seq)] = members.log
    assert (name != "one", seq) == (True, 1)


async def test_a_thousand_events_that_wait_for_their_node_are_all_told(members: Members) -> None:
    await members.accept(0, CHATS[0], at=0)
    await until(lambda: len(members.log) == 1)
    waiting = [members.accept(number, CHATS[0], at=1) for number in range(1, 1_001)]

    await asyncio.gather(*waiting)
    await until(lambda: len(members.log) == 1_001)

    assert {name for name, _ in members.log} == {"one"}
    assert [seq for _, seq in members.log] == sorted(seq for _, seq in members.log)


async def test_a_chat_whose_claim_fails_is_claimed_with_the_next_event(members: Members) -> None:
    rows(members.url, "CREATE FUNCTION refuse() RETURNS trigger AS 'BEGIN RAISE ''no''; END' LANGUAGE plpgsql")
    rows(members.url, "CREATE TRIGGER refuse BEFORE INSERT ON chat_owners EXECUTE FUNCTION refuse()")
    first = await members.accept(1, CHATS[0], at=0)
    await until(lambda: members.dispatchers[0].ownership.get(CHATS[0]) is None)
    rows(members.url, "DROP TRIGGER refuse ON chat_owners")

    second = await members.accept(2, CHATS[0], at=0)
    await until(lambda: len(members.log) == 2)

    assert members.log == [("one", first), ("one", second)]


def _phase(members: Members) -> Phase | None:
    held = members.dispatchers[0].ownership.get(CHATS[0])
    return None if held is None else held.phase


async def test_a_release_that_nobody_waits_for_any_more_is_completed(members: Members) -> None:
    await members.accept(1, CHATS[0], at=0)
    await until(lambda: len(members.log) == 1)
    await members.works[0].close()
    releasing = asyncio.create_task(members.dispatchers[0].release_idle())
    await asyncio.sleep(0)
    assert _phase(members) is Phase.RELEASING
    releasing.cancel()

    await until(lambda: members.dispatchers[0].is_settled)
    await members.accept(2, CHATS[0], at=1)
    await until(lambda: len(members.log) == 2)

    assert members.log[1][0] == "two"


async def test_work_that_was_begun_in_a_chat_is_cut_off_if_the_rest_cannot_be_taken_over(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, cut_off = members.works[0], asyncio.Event()

    async def fail(chat: ChatKey) -> list[InboxItem]:
        raise sqlite3.OperationalError("a row cannot be read")

    async def note(chat: ChatKey) -> None:
        assert members.dispatchers[0].ownership.get(chat) is not None
        assert rows(members.url, "SELECT count(*) FROM chat_owners WHERE node IS NOT NULL") == [(1,)]
        cut_off.set()

    monkeypatch.setattr(work, "take_over", fail)
    monkeypatch.setattr(work, "cancel", note)
    await members.stores[0].inbox.accept(message(1).model_copy(update={"chat": CHATS[0]}))
    await members.accept(2, CHATS[0], at=0)
    await until(lambda: members.dispatchers[0].ownership.get(CHATS[0]) is None)

    assert cut_off.is_set()
    await members.accept(3, CHATS[0], at=1)
    await until(lambda: len(members.log) == 3)
    assert members.log == [("two", 1), ("two", 2), ("two", 3)]


async def test_an_event_that_comes_while_a_chat_is_cut_off_goes_to_its_next_node(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    await members.accept(1, CHATS[0], at=0)
    await until(lambda: len(members.log) == 1)
    await members.works[0].close()
    cutting, cut = asyncio.Event(), asyncio.Event()

    async def cut_off(chat: ChatKey) -> None:
        cutting.set()
        await cut.wait()

    monkeypatch.setattr(members.works[0], "cancel", cut_off)
    members.dispatchers[0].ownership.is_draining = True
    over = asyncio.create_task(members.dispatchers[0].hand_over())
    await cutting.wait()
    seq = await members.accept(2, CHATS[0], at=0)
    cut.set()
    await over
    await until(lambda: members.dispatchers[0].is_settled)

    assert members.log == [("one", 1)]
    assert await members.dispatchers[1].claim(CHATS[0])
    assert members.log == [("one", 1), ("two", seq)]


async def test_a_node_that_does_not_beat_is_passed_no_chats(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "FEW", 1)
    frozen = "'frozen', 'frozen', 'there', 1, '0', 1, clock_timestamp() - interval '30.1 s'"
    rows(members.url, f"INSERT INTO nodes (id, name, host, pid, version, started, beat) VALUES ({frozen})")  # noqa: S608
    rows(members.url, "UPDATE nodes SET draining = TRUE WHERE name IN ('two', 'three')")
    await members.dispatchers[0].ownership.count_others()

    for number, chat in enumerate(CHATS):
        await members.accept(number, chat, at=0)
        await until(lambda: members.dispatchers[0].is_settled)

    await until(lambda: len(members.log) == 3)
    assert {name for name, _ in members.log} == {"one"}


async def test_a_node_with_nothing_but_a_terminal_is_passed_no_chats(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "FEW", 1)
    facts = NodeInfo(name="terminal", host="here", pid=1, version="0", started=1.0, takes_chats=False)
    async with Node.joined(members.url, facts):
        rows(members.url, "UPDATE nodes SET draining = TRUE WHERE name IN ('two', 'three')")
        await members.dispatchers[0].ownership.count_others()
        for number, chat in enumerate(CHATS):
            await members.accept(number, chat, at=0)
        await until(lambda: len(members.log) == 3)

        assert {name for name, _ in members.log} == {"one"}
        assert members.dispatchers[0].ownership.is_alone
