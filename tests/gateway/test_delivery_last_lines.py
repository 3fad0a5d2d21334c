"""The line that old progress is folded to delays no answer, and is dropped when many messages wait."""

import asyncio
from pathlib import Path

from structlog.testing import capture_logs

from agent_core.origin import CLEAN
from channels.base import ChannelError, OutboundMessage
from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.delivery.delivery import FOLD_WITHIN, Delivery
from gateway.store.rows import Post, PostState
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import HandClock
from tests.gateway.delivering import ANN, BOB, answer, scene


async def test_nobody_waits_for_the_line_that_a_run_leaves_behind(tmp_path: Path) -> None:
    clock, channel = HandClock(), MemoryChannel(limits=Limits(max_text=4_000, edits_per_minute=50))
    async with Store.open(tmp_path, clock, numbered()) as store:
        delivery = Delivery([channel], store, clock)
        shown = await channel.send(ANN, OutboundMessage(markdown="Working…"), "p")
        fold = Post("r-ann:progress:0", "r", ANN, OutboundMessage(markdown="1 tool, 12 s"), CLEAN, shown.message_id)
        delivery.limiter(ANN).hold(ANN, FOLD_WITHIN / 2, edit=True)

        await store.outbox.add([answer(), fold])
        await delivery.deliver(ANN, [answer(), fold])
        assert channel.screen == ["Working…", "answer 0"]

        await clock.advance(FOLD_WITHIN / 2)
        await delivery.settled()
        assert channel.screen == ["1 tool, 12 s", "answer 0"]


async def test_that_a_message_is_gone_which_was_to_be_folded_is_no_failure(tmp_path: Path) -> None:
    clock, channel = HandClock(), MemoryChannel(limits=Limits(max_text=4_000, edits_per_minute=50))
    async with Store.open(tmp_path, clock, numbered()) as store:
        delivery = Delivery([channel], store, clock)
        fold = Post("r-ann:progress:0", "r", ANN, OutboundMessage(markdown="1 tool, 12 s"), CLEAN, "gone")
        await store.outbox.add([fold])

        with capture_logs() as logs:
            await delivery.deliver(ANN, [fold])
            await delivery.settled()

        assert [each for each in logs if each["log_level"] != "debug"] == []
        assert delivery.tally.deliveries == {}
        assert await store.outbox.unsent() == []


async def test_a_last_line_that_a_crowd_overtakes_is_dropped_and_its_message_taken_away(tmp_path: Path) -> None:
    clock, channel = HandClock(), MemoryChannel(limits=Limits(max_text=4_000, calls_per_second=1))
    async with Store.open(tmp_path, clock, numbered()) as store:
        delivery = Delivery([channel], store, clock)
        shown = await channel.send(ANN, OutboundMessage(markdown="Working…"), "p")
        fold = Post("r-ann:progress:0", "r", ANN, OutboundMessage(markdown="Took 12 s"), CLEAN, shown.message_id)
        others = [BOB.model_copy(update={"chat": str(number)}) for number in range(40)]
        posts = [answer(chat=chat) for chat in others]
        await store.outbox.add([answer(), fold, *posts])

        await delivery.deliver(ANN, [answer(), fold])
        crowd = [asyncio.create_task(delivery.deliver(post.chat, [post])) for post in posts]
        await clock.advance(FOLD_WITHIN)
        await asyncio.wait_for(delivery.settled(), 30)

        assert [message.markdown for posted, message in channel.posts if posted.chat == ANN] == ["answer 0"]
        assert not all(each.done() for each in crowd)
        dropped = await store.outbox.find(fold.key)
        assert dropped is not None
        assert dropped.state is PostState.FAILED
        for each in crowd:
            each.cancel()
        await asyncio.wait(crowd)


async def test_a_message_is_taken_away_though_all_edits_have_to_wait(tmp_path: Path) -> None:
    async with scene(tmp_path) as now:
        channel = MemoryChannel(limits=Limits(max_text=4_000, edits_per_minute=50))
        delivery = Delivery([channel], now.store, now.clock)
        shown = await channel.send(ANN, OutboundMessage(markdown="Working…"), "p")
        gone = Post("r-ann:progress:gone", "r", ANN, OutboundMessage(markdown="Took 12 s"), CLEAN, shown.message_id)
        delivery.limiter(ANN).hold(ANN, 60, edit=True)
        began = now.clock.now

        await now.store.outbox.add([answer(), gone])
        await delivery.deliver(ANN, [answer(), gone])
        await delivery.settled()

        assert channel.screen == ["answer 0"]
        assert now.clock.now - began < 5


async def test_a_chat_does_not_rest_because_a_message_could_not_be_taken_away(tmp_path: Path) -> None:
    clock, channel = HandClock(), MemoryChannel()
    async with Store.open(tmp_path, clock, numbered()) as store:
        delivery = Delivery([channel], store, clock)
        shown = await channel.send(ANN, OutboundMessage(markdown="Working…"), "p")
        gone = Post("r-ann:progress:gone", "r", ANN, OutboundMessage(markdown="Took 12 s"), CLEAN, shown.message_id)
        channel.fails("delete", ChannelError("too many", retry_after=60))
        await store.outbox.add([gone, answer()])
        await delivery.deliver(ANN, [gone])
        await channel.until(lambda: channel.calls[-1].kind == "delete")

        await asyncio.wait_for(delivery.deliver(ANN, [answer()]), 30)
        assert channel.screen == ["Working…", "answer 0"]

        await clock.advance(60)
        await delivery.settled()
        assert channel.screen == ["answer 0"]
