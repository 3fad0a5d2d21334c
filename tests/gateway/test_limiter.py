"""Rate limits of a chat."""

import asyncio
from datetime import timedelta

import pytest

from channels.base import ChatKey
from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.delivery.limiter import EDIT_WITHIN, REMEMBERED, STEP_BACK, ChatLimiter, Priority
from gateway.delivery.sending import SendsAlways
from tests.clock import FakeClock

ANN = ChatKey(platform="memory", account="here", chat="ann")
BOB = ChatKey(platform="memory", account="here", chat="bob")
TEAM = ChatKey(platform="memory", account="here", chat="#team")


def limiter(clock: FakeClock, calls_per_second: float = 1_000.0) -> ChatLimiter:
    limits = Limits(max_text=100, edit_every_in_groups=timedelta(seconds=3), calls_per_second=calls_per_second)
    return ChatLimiter(MemoryChannel(limits=limits), clock)


async def times(clock: FakeClock, limits: ChatLimiter, chat: ChatKey, calls: int) -> list[float]:
    """Return the times at which so many calls may be made, in seconds from now."""
    start = clock.now
    made = []
    for _ in range(calls):
        await limits.wait(chat)
        made.append(round(clock.now - start, 3))
    return made


async def test_after_a_rest_three_calls_pass_at_once_and_then_one_a_second() -> None:
    clock = FakeClock()

    assert await times(clock, limiter(clock), ANN, 6) == [0, 0, 0, 1, 2, 3]


async def test_a_group_has_a_slower_pace() -> None:
    clock = FakeClock()

    assert await times(clock, limiter(clock), TEAM, 5) == [0, 0, 0, 3, 6]


async def test_a_rest_fills_the_burst_again_and_no_further() -> None:
    clock = FakeClock()
    limits = limiter(clock)
    await times(clock, limits, ANN, 4)

    clock.now += 3_600

    assert await times(clock, limits, ANN, 5) == [0, 0, 0, 1, 2]


async def test_one_chat_does_not_wait_for_another() -> None:
    clock = FakeClock()
    limits = limiter(clock)
    await times(clock, limits, ANN, 3)

    assert limits.delay(ANN) == 1
    assert limits.delay(BOB) == 0


async def test_a_call_can_be_kept_free() -> None:
    clock = FakeClock()
    limits = limiter(clock)
    limits.take(ANN)
    assert limits.delay(ANN, keep=1) == 0

    limits.take(ANN)

    assert limits.delay(ANN, keep=1) == 1
    assert limits.delay(ANN) == 0


async def test_a_chat_that_the_platform_closed_rests_alone() -> None:
    clock = FakeClock()
    limits = limiter(clock)

    limits.hold(ANN, 35)

    assert limits.is_held(ANN)
    assert not limits.is_held(BOB)
    assert (limits.delay(ANN), limits.delay(BOB)) == (35, 0)
    clock.now += 35
    assert not limits.is_held(ANN)
    assert limits.delay(ANN) == 0


async def test_a_shorter_word_of_the_platform_does_not_shorten_a_longer_one() -> None:
    clock = FakeClock()
    limits = limiter(clock)

    limits.hold(ANN, 35)
    limits.hold(ANN, 1)

    assert limits.delay(ANN) == 35


async def test_all_chats_together_keep_the_pace_of_the_platform() -> None:
    clock = FakeClock()
    limits = limiter(clock, calls_per_second=10)
    made = []
    for number in range(20):
        await limits.wait(ANN.model_copy(update={"chat": str(number)}))
        made.append(round(clock.now - 1_000, 1))

    assert made == [0.0] * 10 + [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


async def test_where_all_chats_are_too_many_they_come_in_the_order_in_which_they_asked() -> None:
    limits = limiter(clock := FakeClock(), calls_per_second=10)
    served: list[int] = []

    async def ask(number: int) -> None:
        await limits.wait(ANN.model_copy(update={"chat": str(number)}))
        served.append(number)

    await asyncio.gather(*map(ask, range(200)))

    assert served == list(range(200))
    assert len(clock.slept) == 190


async def test_what_matters_less_steps_back_while_others_stand_in_line() -> None:
    limits = limiter(FakeClock(), calls_per_second=1)
    limits.take(ANN)

    assert limits.delay(BOB) == 1
    assert limits.delay(BOB, keep=1) == STEP_BACK


async def test_chats_that_rested_are_forgotten_and_busy_ones_are_not() -> None:
    clock = FakeClock()
    limits = limiter(clock, calls_per_second=1e9)
    for number in range(REMEMBERED - 2):
        limits.take(ANN.model_copy(update={"chat": str(number)}))
    clock.now += 60
    limits.hold(ANN, 35)
    for _ in range(3):
        limits.take(BOB)

    for number in range(REMEMBERED):
        limits.take(TEAM.model_copy(update={"chat": f"new {number}"}))

    assert limits.delay(ANN) == 35
    assert limits.delay(BOB) == 1


async def test_the_threads_of_a_chat_are_counted_together_unless_the_platform_counts_them_apart() -> None:
    clock = FakeClock()
    travel, food = (TEAM.model_copy(update={"thread": name}) for name in ("travel", "food"))
    apart = ChatLimiter(MemoryChannel(limits=Limits(max_text=100, threads_share_pace=False)), clock)

    together = limiter(clock)
    await times(clock, together, travel, 3)
    await times(clock, apart, travel, 3)

    assert together.delay(food) > 0
    assert apart.delay(food) == 0


def counting_edits(clock: FakeClock) -> ChatLimiter:
    return ChatLimiter(MemoryChannel(limits=Limits(max_text=100, edits_per_minute=50)), clock)


async def test_no_minute_has_more_streams_that_begin_than_all_nodes_together_may_begin() -> None:
    for processes in (1, 2):
        clock, sending = FakeClock(), SendsAlways()
        sending.processes = processes
        limits = ChatLimiter(MemoryChannel(limits=Limits(max_text=100, streams_per_minute=20)), clock, sending)
        begun = []
        for _ in range(600):
            begun += [clock.now] if limits.begin_stream() else []
            await clock.sleep(0.5)
        assert max(sum(start <= at < start + 60 for at in begun) for start in begun) <= 20 / processes
        assert len(begun) >= 45 / processes


async def test_no_minute_has_more_edits_than_all_chats_together_may_make() -> None:
    clock = FakeClock()
    limits = counting_edits(clock)
    made = []
    for number in range(200):
        await limits.wait(ANN.model_copy(update={"chat": str(number)}), edit=True)
        made.append(clock.now)

    assert max(sum(start <= at < start + 60 for at in made) for start in made) <= 50
    assert made[-1] - made[0] < 300


async def test_an_edit_that_matters_less_leaves_half_of_the_burst_to_answers() -> None:
    clock = FakeClock()
    limits = counting_edits(clock)
    for number in range(6):
        await limits.wait(ANN.model_copy(update={"chat": str(number)}), edit=True)

    assert limits.delay(BOB, keep=1, edit=True) == STEP_BACK
    assert limits.delay(BOB, edit=True) == 0
    assert limits.delay(BOB, keep=1) == 0


async def test_told_to_wait_with_an_edit_all_edits_wait_and_no_message_does() -> None:
    clock = FakeClock()
    limits = counting_edits(clock)

    limits.hold(ANN, 30, edit=True)

    assert limits.delay(BOB, edit=True) == 30
    assert limits.delay(ANN) == 0
    assert limits.edit_queue(BOB) == 30


async def test_where_edits_wait_by_themselves_only_those_of_the_chat_that_was_told_to_wait_do() -> None:
    clock = FakeClock()
    limits = ChatLimiter(MemoryChannel(limits=Limits(max_text=4_000, edits_wait_alone=True)), clock)

    limits.hold(ANN, 30, edit=True)

    assert limits.delay(ANN, edit=True) == 30
    assert limits.edit_queue(ANN) == 30
    assert limits.delay(ANN) == 0
    assert limits.delay(BOB, edit=True) == 0
    await limits.wait(ANN)
    await limits.wait(ANN, edit=True)
    assert clock.now == 1_030


async def test_a_chat_that_is_told_to_wait_keeps_nobodys_edits_waiting() -> None:
    clock = FakeClock()
    limits = counting_edits(clock)
    limits.hold(ANN, 30)
    anns = asyncio.create_task(limits.wait(ANN, edit=True))

    await limits.wait(BOB, edit=True)

    assert not anns.done()
    anns.cancel()
    await asyncio.wait([anns])


async def test_edits_that_are_decided_on_at_once_know_of_each_other() -> None:
    clock = FakeClock()
    limits = counting_edits(clock)

    for number in range(20):
        limits.answer(f"run {number}")

    assert limits.edit_queue(ANN) > 10
    for number in range(15):
        limits.settled(f"run {number}")
    assert limits.edit_queue(ANN) == 0


async def test_in_a_crowd_progress_is_shown_only_where_its_last_edit_can_be_made_within_five_seconds() -> None:
    clock = FakeClock()
    limits = counting_edits(clock)

    shown = [run for run in map(str, range(1_000)) if limits.show(run)]
    await asyncio.gather(*(limits.wait(ANN.model_copy(update={"chat": run}), edit=True) for run in shown))

    assert 10 <= len(shown) <= 13
    assert clock.now - 1_000 <= EDIT_WITHIN
    assert limits.show(shown[0])
    limits.settled(shown[0])
    clock.now += 60
    assert limits.show("another")


async def test_told_to_wait_with_edits_no_new_progress_is_shown() -> None:
    limits = counting_edits(FakeClock())

    limits.hold(ANN, 30, edit=True)

    assert not limits.show("run")


async def test_whoever_matters_more_is_served_first_and_of_equals_who_came_first() -> None:
    limits = limiter(FakeClock(), calls_per_second=1)
    served: list[tuple[Priority, int]] = []

    async def calls(priority: Priority, number: int) -> None:
        await limits.wait(BOB.model_copy(update={"chat": f"{priority}{number}"}), priority=priority)
        served.append((priority, number))

    limits.take(ANN)
    asked = [(priority, number) for number in range(20) for priority in reversed(Priority)]
    await asyncio.gather(calls(Priority.ANSWER, -1), *(calls(*each) for each in asked))

    assert served == sorted(served)
    assert len(served) == 101


@pytest.mark.parametrize("cosmetic", [Priority.COSMETIC, Priority.PROGRESS, Priority.UNASKED])
async def test_nothing_cosmetic_delays_an_answer_by_more_than_the_platforms_own_pace(cosmetic: Priority) -> None:
    clock = FakeClock()
    limits = counting_edits(clock)
    pace = 60 / 40
    burst_is_over = asyncio.Event()
    folded: list[int] = []

    async def folds_up(number: int) -> None:
        await limits.wait(ANN.model_copy(update={"chat": str(number)}), edit=True, priority=cosmetic)
        folded.append(number)
        if len(folded) == 10:
            burst_is_over.set()

    folds = [asyncio.create_task(folds_up(number)) for number in range(300)]
    await burst_is_over.wait()
    began = clock.now

    await limits.wait(BOB, edit=True)

    assert clock.now - began <= pace + 0.05
    for fold in folds:
        fold.cancel()
    await asyncio.wait(folds)


async def test_who_waits_behind_something_of_the_same_chat_makes_it_hurry() -> None:
    limits = limiter(FakeClock(), calls_per_second=1)
    served: list[str] = []

    async def calls(chat: ChatKey, priority: Priority) -> None:
        await limits.wait(chat, priority=priority)
        served.append(chat.chat)

    limits.take(ANN)
    first = asyncio.create_task(calls(ANN, Priority.ANSWER))
    waiting = [asyncio.create_task(calls(chat, Priority.UNASKED)) for chat in (TEAM, BOB)]
    await asyncio.sleep(0)
    limits.hurry(BOB, Priority.ANSWER)
    await asyncio.gather(first, *waiting)

    assert served == ["ann", "bob", "#team"]


async def test_who_gives_up_waiting_keeps_nobody_in_line() -> None:
    limits = limiter(FakeClock(), calls_per_second=1)
    limits.take(ANN)
    waiting = [asyncio.create_task(limits.wait(BOB)) for _ in range(3)]
    await asyncio.sleep(0)
    for task in waiting[:2]:
        task.cancel()

    await asyncio.wait_for(waiting[2], 30)


async def test_a_call_that_may_be_dropped_leaves_one_for_an_answer_and_does_not_wait_longer_than_told() -> None:
    clock = FakeClock()
    limits = limiter(clock)

    assert [await limits.offer(ANN, within=0.0) for _ in range(3)] == [True, True, False]
    assert await times(clock, limits, ANN, 1) == [0]
    assert not await limits.offer(ANN, within=1.5)
    start = clock.now
    assert await limits.offer(ANN, within=2.0)
    assert round(clock.now - start, 3) == 2


def test_parts_of_streams_leave_all_edits_to_other_messages() -> None:
    clock = FakeClock()
    limits = ChatLimiter(MemoryChannel(limits=Limits(max_text=100, edits_per_minute=50, appends_per_minute=100)), clock)
    for number in range(20):
        limits.take(ANN.model_copy(update={"chat": str(number)}), append=True)

    assert limits.delay(BOB, append=True) > 0
    assert limits.delay(BOB, edit=True) == 0
    limits.hold(ANN, 30, edit=True, append=True)
    assert limits.delay(BOB, append=True) == 30
    assert limits.delay(BOB, edit=True) == 0
