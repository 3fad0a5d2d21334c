"""S2-42, D-18: ten messages at once, then ten a minute, for each person."""

from channels.base import Accepted
from channels.memory import MemoryChannel
from gateway.rate import BURST, REMEMBERED, RateLimit
from tests.clock import FakeClock
from tests.gateway.bot import NO_PACE
from tests.gateway.conftest import StartBot


def spent(clock: FakeClock) -> RateLimit:
    rate = RateLimit(clock)
    for _ in range(BURST):
        assert rate.take("ann") == 0
    return rate


def test_ten_pass_and_the_eleventh_is_told_when_it_may() -> None:  # S2-42, D-18
    assert BURST == 10
    assert spent(FakeClock()).take("ann") in (6, 7)


def test_after_the_seconds_that_were_told_the_next_passes() -> None:
    clock = FakeClock()
    rate = spent(clock)

    clock.now += rate.take("ann")

    assert rate.take("ann") == 0
    assert rate.take("ann") > 0


def test_ten_a_minute_are_kept_up() -> None:
    clock = FakeClock()
    rate = spent(clock)
    passed = 0
    for _ in range(600):
        clock.now += 1
        passed += rate.take("ann") == 0

    assert passed in (99, 100)


def test_people_do_not_share_a_bucket() -> None:
    assert spent(FakeClock()).take("bob") == 0


def test_a_person_is_told_once_until_a_message_passes_again() -> None:
    clock = FakeClock()
    rate = spent(clock)
    told = []
    for _ in range(3):
        rate.take("ann")
        told.append(rate.tell("ann"))
    clock.now += 60
    assert rate.take("ann") == 0
    for _ in range(BURST):
        rate.take("ann")

    assert told == [True, False, False]
    assert rate.tell("ann")


def test_a_message_that_was_not_taken_in_is_given_back() -> None:
    rate = spent(FakeClock())

    rate.give_back("ann")

    assert rate.take("ann") == 0
    assert rate.take("ann") > 0


def test_giving_back_makes_nobody_richer() -> None:
    rate = RateLimit(FakeClock())
    rate.take("ann")
    for _ in range(50):
        rate.give_back("ann")

    assert [rate.take("ann") == 0 for _ in range(BURST + 1)] == [True] * BURST + [False]


def test_only_so_many_people_are_remembered() -> None:
    rate = spent(FakeClock())
    for number in range(REMEMBERED):
        rate.take(f"person {number}")

    assert rate.take("ann") == 0


async def test_a_flood_is_answered_ten_times_and_told_once_in_the_person_s_language(start_bot: StartBot) -> None:
    bot = await start_bot(*(f"answer {number}" for number in range(10)), channel=MemoryChannel(limits=NO_PACE))

    outcomes = [await bot.hears(f"{number}", sender="bob", language="zh-hans") for number in range(14)]

    assert [outcome.value for outcome in outcomes] == ["new"] * 10 + ["refused"] * 4
    assert len(bot.screen) == 11
    assert "秒后再发一次" in bot.screen[-1]


async def test_a_button_that_says_words_counts_as_a_message_and_one_that_commands_does_not(start_bot: StartBot) -> None:
    bot = await start_bot(*(f"answer {number}" for number in range(10)), channel=MemoryChannel(limits=NO_PACE))
    await bot.hears("/start", sender="bob")
    await bot.hears("/language", sender="bob")

    pressed = [await bot.channel.presses("What is 17 * 23?", sender="bob") for _ in range(11)]
    await bot.house.handler.settled()
    command = await bot.channel.presses("English", sender="bob")
    await bot.house.handler.settled()

    assert [outcome.value for outcome in pressed] == ["new"] * 10 + ["refused"]
    assert command is Accepted.NEW
    assert "That was a lot at once" in "".join(bot.screen)


async def test_a_command_passes_however_many_messages_there_were(start_bot: StartBot) -> None:
    bot = await start_bot(*(f"answer {number}" for number in range(10)), channel=MemoryChannel(limits=NO_PACE))
    for number in range(11):
        await bot.hears(f"{number}", sender="bob")

    await bot.hears("/status", sender="bob")

    assert "scripted" in bot.screen[-1]


async def test_an_event_that_comes_again_is_not_counted_again(start_bot: StartBot) -> None:
    bot = await start_bot("one", "two")
    await bot.hears("hello", sender="bob")
    for _ in range(30):
        await bot.channel.deliver(bot.channel.heard[0])

    await bot.hears("again", sender="bob")

    assert bot.screen == ["one", "two"]
