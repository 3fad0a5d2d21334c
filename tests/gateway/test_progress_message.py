"""The progress message: when it appears, how often it is edited, and how it ends."""

import asyncio
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from agent_core.events import (
    PermissionRequest,
)
from channels.base import ChannelError, EditsRefused, OutboundMessage
from channels.memory import LOST
from gateway.delivery import progress_message
from gateway.delivery.progress_message import LATER, ProgressMessage
from gateway.permissions.sources import origin_of_post
from gateway.security.masked_channel import MaskedChannel
from gateway.security.secrets import Secrets
from gateway.store.rows import Run
from tests.gateway.progressing import ANN, LIMITS, TEAM, shown


async def test_a_quick_answer_shows_no_progress(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        await scene.clock.advance(1.4)
        await scene.message.stop()

        assert scene.channel.at == []
        assert scene.message.posted is None


async def test_it_appears_after_a_second_and_a_half(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        await scene.clock.advance(1.6)
        await scene.channel.until(lambda: scene.channel.screen == ["Working… (2 s)"])

        assert scene.channel.at == [1.5]


async def test_it_replies_to_the_question_and_has_a_button_to_stop(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        await scene.clock.advance(1.6)
        await scene.channel.until(lambda: bool(scene.channel.posts))

        [(_, message)] = scene.channel.posts
        assert message.reply_to == "m1"
        assert [[button.action for button in row] for row in message.buttons] == [["/stop run-1"]]


async def test_a_tool_that_takes_longer_than_a_moment_is_shown_at_once(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        await scene.clock.advance(0.2)
        scene.starts("1")
        await scene.clock.advance(0.5)
        await scene.channel.until(lambda: scene.channel.screen == ["… Looking at 1"])

        assert scene.channel.at == [0.5]


async def test_a_quick_tool_is_not_shown(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.starts("1")
        await scene.clock.advance(0.2)
        scene.ends("1")
        await scene.clock.advance(1.2)

        assert scene.channel.at == []


async def test_in_a_private_chat_something_changes_every_two_seconds_and_never_faster_than_allowed(
    tmp_path: Path,
) -> None:
    async with shown(tmp_path) as scene:
        for number in range(5):
            scene.starts(str(number))
            await scene.clock.advance(1.1)
            scene.ends(str(number))
            await scene.clock.advance(0.9)
        at = scene.channel.at

        assert at[0] <= 1.5
        assert max(later - earlier for earlier, later in pairwise(at)) <= 2
        assert scene.clock.now - 1_000 - at[-1] <= 2
        assert all(at[index + 3] - at[index] >= 0.99 for index in range(len(at) - 3))
        assert len(at) <= 3 + 10


async def test_a_model_that_thinks_for_long_is_seen_to_be_at_work(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        await scene.clock.advance(10)
        at = scene.channel.at

        assert max(later - earlier for earlier, later in pairwise(at)) <= 2


async def test_where_edits_cost_nothing_words_are_shown_at_once(tmp_path: Path) -> None:
    async with shown(tmp_path, limits=LIMITS.model_copy(update={"words_after": timedelta(0)})) as scene:
        scene.says("It is ")
        await scene.clock.advance(1.6)
        assert scene.channel.at[0] == 0


async def test_words_are_shown_so_long_after_the_first_as_the_platform_says(tmp_path: Path) -> None:
    async with shown(tmp_path, limits=LIMITS.model_copy(update={"words_after": timedelta(seconds=0.25)})) as scene:
        await scene.clock.advance(0.5)
        scene.says("It is ")
        await scene.clock.advance(0.5)
        assert scene.channel.at == [0.75]


async def test_a_stream_of_words_is_edited_at_the_pace_of_the_platform(tmp_path: Path) -> None:
    async with shown(tmp_path, TEAM) as scene:
        for number in range(300):
            scene.says(f"{number} ")
            await scene.clock.advance(0.1)

        at = scene.channel.at
        assert len(at) <= 3 + 30 / 3
        assert all(later - earlier >= 2.99 for earlier, later in pairwise(at[2:]))


async def test_a_call_is_kept_free_for_the_answer(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        for number in range(100):
            scene.says(f"{number} ")
            await scene.clock.advance(0.1)
            assert scene.limiter.delay(ANN) == 0


async def test_beside_an_open_question_it_makes_no_noise(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.starts("1")
        scene.happens(PermissionRequest(request_id="q", tool_call_id="1", tool_name="look", args={}, reason=""))
        await scene.clock.advance(1.6)
        await scene.channel.until(lambda: bool(scene.channel.posts))

        [(_, message)] = scene.channel.posts
        assert message.silent


async def test_what_reads_the_same_is_not_sent_again(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.says("Hello")
        await scene.clock.advance(30)

        assert scene.channel.at == [1.5]


async def test_a_platform_that_says_wait_is_left_alone_for_so_long(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.starts("1")
        scene.channel.fails("edit", ChannelError("flood", retry_after=20))
        await scene.clock.advance(60)

        at = scene.channel.at
        refused = at[1]
        assert at[2] >= refused + 20
        assert scene.channel.screen == ["… Looking at 1 (59 s)"]


async def test_where_edits_wait_by_themselves_the_answer_is_a_new_message_that_waits_for_none(tmp_path: Path) -> None:
    async with shown(tmp_path, limits=LIMITS.model_copy(update={"edits_wait_alone": True})) as scene:
        scene.starts("1")
        scene.channel.fails("edit", ChannelError("flood", retry_after=20))
        await scene.clock.advance(3)
        await scene.message.stop()

        assert scene.limiter.delay(ANN) == 0
        assert not scene.message.may_become_answer
        assert scene.message.leaves_nothing


async def test_no_answer_waits_since_a_call_of_progress_has_failed(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.starts("1")
        scene.channel.fails("send", ChannelError("no route"))
        await scene.clock.advance(0.5)

        assert scene.channel.at == [0.3]
        assert scene.limiter.delay(ANN) == 0


async def test_a_network_that_fails_is_given_a_little_time(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.starts("1")
        scene.channel.fails("send", ChannelError("no route"))
        await scene.clock.advance(10)

        at = scene.channel.at
        assert at[:2] == [0.3, 0.3 + LATER]
        assert len(scene.channel.screen) == 1


async def test_where_it_is_no_use_it_is_not_tried_again(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.channel.fails("send", ChannelError("blocked", permanent=True))
        await scene.clock.advance(1.5)
        await scene.channel.until(lambda: scene.channel.at == [1.5])
        scene.starts("1")
        await scene.message.stop()

        assert scene.message.posted is None
        assert scene.channel.at == [1.5]


@pytest.mark.parametrize("keeps_keys", [True, False])
async def test_a_run_that_ends_after_a_lost_answer_leaves_nothing_behind(tmp_path: Path, *, keeps_keys: bool) -> None:
    async with shown(tmp_path, keeps_keys=keeps_keys) as scene:
        scene.channel.fails("send", LOST, lost=True)
        await scene.clock.advance(1.6)
        await scene.channel.until(lambda: len(scene.channel.screen) == 1)
        await scene.message.stop()

        assert len(scene.channel.screen) == 1
        # If it is unknown whether the message arrived, it is not sent again.
        assert (scene.message.posted is not None) is keeps_keys


@pytest.mark.parametrize("keeps_keys", [True, False])
async def test_a_message_that_somebody_deleted_is_made_anew(tmp_path: Path, *, keeps_keys: bool) -> None:
    async with shown(tmp_path, keeps_keys=keeps_keys) as scene:
        scene.starts("1")
        await scene.clock.advance(1)
        [(first, _)] = scene.channel.posts
        await scene.channel.delete(first)
        await scene.clock.advance(5)

        assert scene.channel.screen == ["… Looking at 1 (5 s)"]
        noted = await scene.store.outbox.find("run-1:progress:0")
        assert noted is not None
        assert noted.message_id == scene.channel.posts[0][0].message_id != first.message_id


async def test_it_may_show_the_calls_of_a_task_whose_report_brings_their_origin_only_later(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.starts("1")
        await scene.clock.advance(1)

        noted = await scene.store.outbox.find("run-1:progress:0")
        assert noted is not None
        assert (await origin_of_post(scene.store, noted)).sources == ("unknown",)


async def test_where_edits_are_refused_no_progress_is_left_and_none_is_shown_again(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.channel.fails("edit", EditsRefused("edit_window_closed"), times=100)
        scene.starts("1")
        await scene.clock.advance(1)
        await scene.channel.until(lambda: len(scene.channel.screen) == 1)
        somebody_else = asyncio.create_task(scene.clock.sleep(100))
        await scene.clock.advance(20)
        await scene.channel.until(lambda: scene.channel.screen == [])
        await scene.message.stop()
        somebody_else.cancel()

        assert [call.kind for call in scene.channel.calls] == ["send", "edit", "delete"]
        assert scene.channel.screen == []
        assert scene.message.posted is None


async def test_a_stop_waits_for_the_call_under_way(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.channel.answers.clear()
        await scene.clock.advance(1.5)
        await scene.channel.until(lambda: scene.channel.at == [1.5])
        stopping = asyncio.create_task(scene.message.stop())
        await asyncio.wait([stopping], timeout=0.05)
        assert not stopping.done()

        scene.channel.answers.set()
        await stopping

        assert scene.message.posted is not None
        assert scene.message.posted.message_id == scene.channel.posts[0][0].message_id


async def test_after_a_stop_nothing_changes(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        await scene.clock.advance(1.6)
        await scene.message.stop()
        scene.says("too late")
        scene.starts("1")
        calls = list(scene.channel.at)
        await asyncio.sleep(0)

        assert scene.channel.at == calls


async def test_it_is_young_for_ten_seconds(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        assert not scene.message.may_become_answer
        await scene.clock.advance(1.5)
        await scene.channel.until(lambda: scene.message.posted is not None)
        assert scene.message.may_become_answer
        await scene.clock.advance(9.9)
        assert scene.message.may_become_answer
        await scene.clock.advance(0.2)
        assert not scene.message.may_become_answer


async def test_in_a_crowd_an_old_one_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_message, "DELETABLE", 0.0)
    async with shown(tmp_path, limits=LIMITS.model_copy(update={"calls_per_second": 10})) as scene:
        await scene.clock.advance(12)
        await scene.channel.until(lambda: scene.message.posted is not None)
        assert not scene.message.leaves_nothing

        chats = [TEAM.model_copy(update={"chat": str(number)}) for number in range(40)]
        crowd = [asyncio.create_task(scene.limiter.wait(chat)) for chat in chats]
        await asyncio.wait([asyncio.create_task(asyncio.sleep(0))])

        assert scene.message.leaves_nothing
        for each in crowd:
            each.cancel()
        await asyncio.wait(crowd)
        assert not scene.message.leaves_nothing


async def test_where_edits_are_too_many_an_old_one_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_message, "DELETABLE", 0.0)
    async with shown(tmp_path, limits=LIMITS.model_copy(update={"edits_per_minute": 50})) as scene:
        await scene.clock.advance(12)
        await scene.channel.until(lambda: scene.message.posted is not None)
        assert not scene.message.leaves_nothing

        scene.limiter.hold(TEAM, 30, edit=True)

        assert scene.message.leaves_nothing
        assert not scene.message.may_become_answer


async def test_above_a_message_that_was_sent_since_it_does_not_become_the_answer(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        await scene.clock.advance(1.5)
        await scene.channel.until(lambda: scene.message.posted is not None)
        await scene.masked_channel.post(TEAM, OutboundMessage(markdown="Elsewhere."), "other:0")
        assert scene.message.may_become_answer

        await scene.masked_channel.post(ANN, OutboundMessage(markdown="A file."), "file:0")

        assert not scene.message.may_become_answer


async def test_one_of_an_earlier_life_is_edited_at_once_and_is_not_young(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        await scene.clock.advance(1.6)
        [(earlier, _)] = scene.channel.posts
        await scene.message.stop()
        again = ProgressMessage(
            masked_channel=MaskedChannel(scene.channel, Secrets()),
            run=Run("run-1", ANN, "session", "ann", 0.0),
            limiter=scene.limiter,
            store=scene.store,
            clock=scene.clock,
            language="zh",
            posted=earlier,
        )
        await scene.channel.until(lambda: scene.channel.screen == ["处理中…"])
        assert not again.may_become_answer
        await again.stop()


async def test_where_edits_are_scarce_no_word_of_the_answer_is_shown_before_its_time(tmp_path: Path) -> None:
    few = LIMITS.model_copy(update={"edits_per_minute": 50})
    async with shown(tmp_path, limits=few) as scene:
        for number in range(100):
            scene.limiter.answer(f"run {number}")
        scene.says("Hello")
        await scene.clock.advance(1.6)
        await scene.channel.until(lambda: scene.channel.screen == ["Working… (2 s)"])


async def test_a_call_that_hangs_does_not_hold_the_answer_up_and_the_message_does_not_become_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_message, "STOP_WITHIN", 0.05)
    async with shown(tmp_path) as scene:
        await scene.clock.advance(1.6)
        await scene.channel.until(lambda: bool(scene.channel.posts))
        assert scene.message.may_become_answer
        scene.channel.answers.clear()
        scene.says("It is ")
        await scene.channel.until(lambda: len(scene.channel.at) == 2)

        await asyncio.wait_for(scene.message.stop(), 10)

        assert not scene.message.may_become_answer
        assert scene.message.posted is not None
