"""Days of being looked after: what is looked at when, what is said of it, and when nothing is."""

from datetime import datetime
from zoneinfo import ZoneInfo

from agent_core.messages import text_of
from channels.base import ChannelError
from gateway.store.job import DeliveryState, FiringState
from tests.gateway.heartbeat.beating import NOTHING, Beating
from tests.gateway.heartbeat.conftest import StartBeating
from tests.gateway.jobs.kit import PARIS

DRY = "The plants are dry."
GONE = ChannelError("the platform says no", permanent=True)


def told(bot: Beating, number: int = -1) -> str:
    """What the model was told in its newest run."""
    return text_of(bot.llm.requests[number].messages[-1].content)


# No model for nothing


async def test_a_whole_day_without_a_list_asks_no_model(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on")
    await bot.presses("Without a list")
    bot.writes("# To look after\n<!-- nothing yet -->\n- [x] done\n- [ ]\n")
    await bot.hears("/heartbeat quiet off")
    await bot.hears("/heartbeat")  # a word of hers, so that nobody has been idle for long

    await bot.goes_by(3.5)

    assert (bot.asked, bot.ticks) == (0, 0)
    assert await bot.outcome() == "heartbeat_nothing"


async def test_in_two_days_of_nothing_only_greetings_ask_a_model(start_beating: StartBeating) -> None:
    bot = await start_beating(*["Good day!", "Hello!", "Good evening!", "How do you do?"])
    await bot.hears("/heartbeat on")
    await bot.presses("Without a list")

    await bot.goes_by(48)

    assert bot.asked == bot.ticks <= 4


# A list


async def test_what_needs_her_is_said_and_explained_once(start_looking: StartBeating) -> None:
    bot = await start_looking(DRY, "The plants are very dry.")
    await bot.goes_by(0.5)

    assert bot.asked == 1
    assert "Water the plants" in told(bot)
    assert bot.screen[-1].startswith(f"{DRY}\n\n*(I write unasked only when")
    assert await bot.outcome() == "heartbeat_spoke"

    await bot.goes_by(0.5)
    assert bot.screen[-1] == "The plants are very dry."


async def test_nothing_to_report_says_nothing(start_looking: StartBeating) -> None:
    bot = await start_looking(NOTHING)
    shown = list(bot.screen)
    await bot.goes_by(0.5)

    assert bot.asked == 1
    assert bot.screen == shown
    assert await bot.outcome() == "heartbeat_all_well"
    [look] = await bot.looks()
    assert (look.state, look.delivery) == (FiringState.NOTHING, DeliveryState.NONE)


async def test_the_same_words_are_not_said_twice_in_a_day(start_looking: StartBeating) -> None:
    bot = await start_looking(DRY, "the PLANTS are dry")
    await bot.goes_by(1)

    assert bot.asked == 2
    assert "Do not repeat it" in told(bot)
    assert DRY in told(bot)
    assert [look.state for look in await bot.looks()] == [FiringState.DONE, FiringState.NOTHING]


async def test_at_most_two_messages_a_day_and_a_restart_keeps_count(start_looking: StartBeating) -> None:  # S2-46
    bot = await start_looking("One.", "Two.", "Three.")
    await bot.goes_by(0.5)
    await bot.restart()
    await bot.goes_by(0.5)
    await bot.restart()
    await bot.goes_by(8)

    assert bot.asked == 2
    assert await bot.outcome() == "heartbeat_said_enough"

    await bot.until("2026-11-24 08:00")
    assert bot.asked == 3


async def test_what_could_not_be_delivered_is_not_counted(start_looking: StartBeating) -> None:  # S2-46
    bot = await start_looking("One.", "Two.", "Three.")
    bot.channel.fails("send", GONE)
    await bot.goes_by(0.5)
    [look] = await bot.looks()

    assert look.delivery is DeliveryState.FAILED
    await bot.hears("/heartbeat")
    assert "0 of at most 2" in bot.screen[-1]


async def test_what_cannot_be_read_is_left_alone(start_looking: StartBeating) -> None:
    bot = await start_looking()
    bot.writes("x" * 20_000)
    await bot.goes_by(0.5)

    assert (bot.asked, bot.ticks) == (0, 0)
    assert await bot.outcome() == "heartbeat_unreadable"


# When not


async def test_quiet_hours_are_those_of_her_clock(start_looking: StartBeating) -> None:  # S2-46
    bot = await start_looking(*[NOTHING] * 100)
    await bot.until("2026-11-24 12:00")

    clocks = [moment_in(PARIS, look.due) for look in await bot.looks()]
    assert clocks[0] == "08:30"
    assert "20:30" in clocks
    assert not [clock for clock in clocks if clock >= "21:00" or clock < "08:00"]
    assert clocks.count("08:30") == 2


def moment_in(zone: ZoneInfo, at: float) -> str:
    return f"{datetime.fromtimestamp(at, zone):%H:%M}"
