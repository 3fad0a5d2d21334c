"""Each message is delivered once as far as the platform allows, in order, without blocking other chats."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_core.origin import CLEAN
from channels.base import AccountRefused, ChannelError, ChatKey, OutboundMessage, Posted
from channels.limits import Limits
from channels.memory import LOST, MemoryChannel
from gateway.delivery.delivery import GIVE_UP_AFTER, Delivery
from gateway.store.rows import Post, PostState
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock, HandClock
from tests.gateway.delivering import ANN, BOB, answer, scene

ONCE = [True, False]
"""Platforms that recognise a repeated key, and those that do not."""


async def test_posts_arrive_in_order_under_their_keys(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        posts = [answer(part) for part in range(12)]
        await now.delivers(*posts)

        assert now.channel.screen == [f"answer {part}" for part in range(12)]
        assert now.keys == [post.key for post in posts]
        assert set(await now.states(*posts)) == {PostState.SENT}
        assert await now.store.outbox.unsent() == []


@pytest.mark.parametrize("keeps_keys", ONCE)
async def test_a_send_that_failed_is_made_again_with_the_same_key(tmp_path: Path, *, keeps_keys: bool) -> None:
    async with scene(tmp_path, keeps_keys=keeps_keys) as now:
        now.channel.fails("send", ChannelError("bad gateway"), times=5)
        await now.delivers(answer())

        assert now.channel.screen == ["answer 0"]
        assert now.keys == ["r-ann:answer:0"] * 6
        assert now.clock.slept == [0.5, 1, 2, 4, 8]


async def test_a_lost_answer_is_asked_for_once_more(tmp_path: Path) -> None:
    async with scene(tmp_path, keeps_keys=True) as now:
        now.channel.fails("send", LOST, lost=True)
        await now.delivers(answer())

        assert now.channel.screen == ["answer 0"]
        assert len(now.keys) == 2


async def test_where_keys_are_unknown_a_lost_answer_costs_at_most_one_double(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        now.channel.fails("send", LOST, lost=True, times=9)
        await now.delivers(answer(), answer(1))

        assert now.channel.screen == ["answer 0", "answer 0", "answer 1", "answer 1"]
        assert await now.states(answer(), answer(1)) == [PostState.FAILED, PostState.FAILED]


async def test_an_edit_whose_answer_is_lost_may_be_made_as_often_as_it_takes(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        posted = await now.channel.send(ANN, OutboundMessage(markdown="Working…"), "p")
        now.channel.fails("edit", LOST, lost=True, times=7)
        await now.delivers(answer(edits=posted.message_id))

        assert now.channel.screen == ["answer 0"]
        assert await now.states(answer()) == [PostState.SENT]


async def test_where_the_message_to_edit_is_gone_the_answer_is_a_new_one(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        await now.delivers(answer(edits="deleted"), answer(1))

        assert now.channel.screen == ["answer 0", "answer 1"]
        found = await now.store.outbox.find(answer().key)
        assert found is not None
        assert found.message_id == now.channel.posts[0][0].message_id


async def test_where_the_message_may_not_be_edited_the_answer_is_a_new_one(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        posted = await now.channel.send(ANN, OutboundMessage(markdown="Working…"), "p")
        now.channel.fails("edit", ChannelError("no edits here", permanent=True))
        await now.delivers(answer(edits=posted.message_id))

        assert now.channel.screen == ["Working…", "answer 0"]


@pytest.mark.parametrize("refusals", [0, 1])
async def test_progress_is_taken_away_or_folds_where_that_is_refused(tmp_path: Path, refusals: int) -> None:
    async with scene(tmp_path) as now:
        posted = await now.channel.send(ANN, OutboundMessage(markdown="Working…"), "p")
        now.channel.fails("delete", ChannelError("not here", permanent=True), times=refusals)
        gone = Post("r:progress:gone", "r", ANN, OutboundMessage(markdown="1 tool, 2 s"), CLEAN, posted.message_id)
        await now.delivers(answer(), gone)
        await now.delivery.settled()

        assert now.channel.screen == ["1 tool, 2 s"] * refusals + ["answer 0"]
        assert await now.store.outbox.unsent() == []


async def test_a_fold_whose_message_is_gone_is_never_a_new_message(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        fold = answer(edits="deleted", slot="progress")
        await now.delivers(answer(), fold)
        await now.delivery.settled()

        assert now.channel.screen == ["answer 0"]
        assert await now.store.outbox.unsent() == []


async def test_what_is_refused_for_good_is_given_up_and_blocks_nothing(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        now.channel.fails("send", ChannelError("too long", permanent=True))
        await now.delivers(answer(), answer(1))

        assert now.channel.screen == ["answer 1"]
        assert await now.states(answer(), answer(1)) == [PostState.FAILED, PostState.SENT]
        assert now.clock.slept == []


async def test_a_platform_that_says_wait_is_left_alone_in_that_chat_only(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        now.channel.fails("send", ChannelError("flood", retry_after=35))
        began = now.clock.now
        await now.delivers(answer())
        assert now.clock.now - began == 35

        now.delivery.limiter(ANN).hold(ANN, 100)
        began = now.clock.now
        await now.delivers(answer(chat=BOB))

        assert now.clock.now == began
        assert now.channel.screen_of(BOB) == ["answer 0"]


async def test_after_a_day_a_message_is_no_news_any_more(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        now.channel.fails("send", ChannelError("down"), times=100_000)
        began = now.clock.now
        await now.delivers(answer())

        assert GIVE_UP_AFTER <= now.clock.now - began <= GIVE_UP_AFTER + 60
        assert max(now.clock.slept) == 30
        assert await now.states(answer()) == [PostState.FAILED]


async def test_a_chat_s_pace_is_kept_from_one_answer_to_the_next(tmp_path: Path) -> None:
    async with scene(tmp_path, burst=3) as now:
        began = now.clock.now
        for part in range(10):
            await now.delivers(answer(part))

        assert now.clock.now - began == pytest.approx(7)


class Slow(MemoryChannel):
    """Answers only after `let` is set."""

    def __init__(self) -> None:
        super().__init__(limits=Limits(max_text=4_000, burst=1_000))
        self.let = asyncio.Event()

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        await self.let.wait()
        await asyncio.sleep(0)
        return await super().send(chat, message, key)


async def test_answers_of_one_chat_never_mix(tmp_path: Path) -> None:
    clock, channel = FakeClock(), Slow()
    async with Store.open(tmp_path, clock, numbered()) as store:
        delivery = Delivery([channel], store, clock)

        async def deliver(number: int) -> None:
            texts = [f"{number}{part}" for part in "abc"]
            await delivery.deliver(
                ANN, [Post(f"{t}:x:0", "", ANN, OutboundMessage(markdown=t), origin=CLEAN) for t in texts]
            )

        waiting = [asyncio.create_task(deliver(number)) for number in range(5)]
        await asyncio.sleep(0)
        channel.let.set()
        await waiting[0]
        await asyncio.gather(*waiting, deliver(5))

    assert channel.screen == [f"{number}{part}" for number in range(6) for part in "abc"]


async def test_a_chat_that_waits_for_its_platform_blocks_no_other(tmp_path: Path) -> None:
    clock, channel = FakeClock(), Slow()
    async with Store.open(tmp_path, clock, numbered()) as store:
        delivery = Delivery([channel, MemoryChannel(name="other")], store, clock)
        stuck = asyncio.create_task(delivery.deliver(ANN, [answer()]))
        elsewhere = ANN.model_copy(update={"platform": "other"})
        await delivery.deliver(elsewhere, [answer(chat=elsewhere)])

        assert not stuck.done()
        channel.let.set()
        await stuck


async def test_what_a_stop_of_the_program_cut_off_stays_noted(tmp_path: Path) -> None:
    clock, channel = FakeClock(), Slow()
    posts: Sequence[Post] = [answer(), answer(1)]
    async with Store.open(tmp_path, clock, numbered()) as store:
        await store.outbox.add(posts)
        cut = asyncio.create_task(Delivery([channel], store, clock).deliver(ANN, posts))
        await asyncio.sleep(0)
        cut.cancel()
        await asyncio.wait([cut])

        assert [post.key for post in await store.outbox.unsent()] == [post.key for post in posts]


async def test_it_knows_which_platforms_are_connected(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        assert now.delivery.knows(ANN)
        assert not now.delivery.knows(ANN.model_copy(update={"platform": "gone"}))


@pytest.mark.parametrize(("error", "seconds"), [(ChannelError("busy"), 0), (ChannelError("slower", retry_after=9), 9)])
async def test_where_edits_are_counted_together_only_the_platforms_word_lets_all_of_them_rest(
    tmp_path: Path, error: ChannelError, seconds: float
) -> None:
    clock, channel = HandClock(), MemoryChannel(limits=Limits(max_text=4_000, edits_per_minute=50))
    shown = await channel.send(ANN, OutboundMessage(markdown="..."), "k")
    channel.fails("edit", error)
    posts = [answer(edits=shown.message_id)]
    async with Store.open(tmp_path, clock, numbered()) as store:
        delivery = Delivery([channel], store, clock)
        await store.outbox.add(posts)
        delivering = asyncio.create_task(delivery.deliver(ANN, posts))
        await channel.until(lambda: len(channel.calls) == 2)
        await clock.advance(0.1)
        queue = delivery.limiter(BOB).edit_queue(BOB)
        delivering.cancel()
        await asyncio.wait([delivering])

    assert queue == pytest.approx(seconds and seconds - 0.1)


async def test_what_a_platform_refuses_with_the_whole_account_is_kept_for_later(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        now.channel.fails("send", AccountRefused("the token was revoked"), times=2)
        await now.delivers(answer(), answer(1))

        assert now.channel.screen == []
        assert [post.key for post in await now.store.outbox.unsent()] == [answer().key, answer(1).key]


class Deadly(MemoryChannel):
    """Accepts a message, and the program is killed before it gets the answer."""

    def __init__(self, *, keeps_keys: bool = False) -> None:
        super().__init__(limits=Limits(max_text=4_000, burst=1_000), keeps_keys=keeps_keys)
        self.took = asyncio.Event()

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        await super().send(chat, message, key)
        self.took.set()
        await asyncio.Event().wait()
        raise AssertionError


async def killed_while_sending(home: Path, channel: Deadly, lives: int) -> None:
    clock = FakeClock()
    for life in range(lives):
        async with Store.open(home, clock, numbered()) as store:
            posts = await store.outbox.unsent() if life else [answer()]
            if not life:
                await store.outbox.add(posts)
            channel.took.clear()
            delivering = asyncio.create_task(Delivery([channel], store, clock).deliver(ANN, posts))
            took = asyncio.create_task(channel.took.wait())
            await asyncio.wait([delivering, took], return_when=asyncio.FIRST_COMPLETED)
            for task in (delivering, took):
                task.cancel()
            await asyncio.wait([delivering, took])


async def test_four_kills_after_the_platform_took_a_message_leave_two_copies_and_it_is_offered(tmp_path: Path) -> None:
    channel = Deadly()
    await killed_while_sending(tmp_path, channel, lives=5)

    assert channel.screen == ["answer 0", "answer 0"]
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        assert await store.outbox.unsent() == []
        assert await store.outbox.to_offer() == [ANN]
        assert [post.key for post in await store.outbox.last_unconfirmed(ANN)] == [answer().key]


async def test_a_platform_that_knows_a_key_again_may_be_told_as_often_as_it_takes(tmp_path: Path) -> None:
    channel = Deadly(keeps_keys=True)
    await killed_while_sending(tmp_path, channel, lives=5)

    assert channel.screen == ["answer 0"]
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        assert await store.outbox.to_offer() == []


async def test_a_send_that_failed_before_it_was_made_is_not_counted(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        now.channel.fails("send", ChannelError("connection refused"), times=7)
        now.channel.fails("send", LOST, lost=True)
        now.channel.fails("send", ChannelError("connection refused"), times=7)
        await now.delivers(answer())

        assert now.channel.screen == ["answer 0", "answer 0"]
        assert await now.states(answer()) == [PostState.SENT]
