"""The owner's own chat is looked after from their first answer on, and told so once."""

from channels.base import Limits
from channels.memory import MemoryChannel
from gateway.heartbeat.introduction import NAME
from tests.gateway.bot import NO_PACE
from tests.gateway.heartbeat.beating import HALF_AN_HOUR
from tests.gateway.heartbeat.conftest import StartBeating
from tests.gateway.heartbeat.test_heartbeat_command import buttons
from tests.gateway.jobs.kit import ANN


async def test_after_her_first_answer_the_owner_is_told_what_it_will_do(start_beating: StartBeating) -> None:
    bot = await start_beating("Hello.", "Fine.", introduces=True)
    await bot.hears("hello")

    [answer, introduction] = bot.screen
    assert answer == "Hello."
    for words in ("every 30 minutes", "at most 2 times a day", "21:00–08:00 (Europe/Paris)", "Mon 23 Nov 08:30"):
        assert words in introduction
    assert buttons(bot) == ["Off", "Quiet hours", "Show now"]
    assert (await bot.beats()).on

    await bot.hears("how are you?")
    assert bot.screen[-1] == "Fine."


async def test_once_for_the_whole_house(start_beating: StartBeating) -> None:
    bot = await start_beating("Hello.", "Hello again.", introduces=True)
    await bot.hears("hello")
    await bot.presses("Off")
    await bot.restart()
    await bot.hears("hello again")

    assert [text for text in bot.screen if "every 30 minutes" in text] == []
    assert not (await bot.beats()).on


async def test_somebody_else_and_a_group_are_told_nothing(start_beating: StartBeating) -> None:
    bot = await start_beating("Hello.", "Hello.", "Hello.", introduces=True)
    await bot.hears("hello", sender="bob")
    await bot.hears("hello", group="team")
    await bot.hears("/heartbeat on", sender="bob")
    await bot.presses("Without a list", sender="bob")
    assert [text for text in bot.screen if "every 30 minutes" in text] == []

    await bot.hears("hello")
    assert (await bot.beats()).on  # what others do with theirs is no matter of hers


async def test_an_owner_who_uses_it_elsewhere_is_told_nothing(start_beating: StartBeating) -> None:
    bot = await start_beating("Hello.", introduces=True)
    await bot.hears("/heartbeat on", group="team")
    await bot.presses("Without a list")
    await bot.hears("hello")

    assert bot.screen[-1] == "Hello."
    assert await bot.store.jobs.heartbeat(ANN) is None


async def test_who_switches_it_off_before_they_are_told_hears_no_more_of_it(start_beating: StartBeating) -> None:
    bot = await start_beating("Hello.", introduces=True)
    await bot.hears("/heartbeat off")
    await bot.hears("hello")

    assert bot.screen == ["The heartbeat is off already.", "Hello."]
    await bot.goes_by(24)
    assert bot.ticks == 0


async def test_by_night_it_says_that_it_looks_in_the_morning(start_beating: StartBeating) -> None:
    bot = await start_beating("Hello.", introduces=True, begins="2026-11-23 23:40")
    await bot.hears("hello")

    assert bot.screen[-1].endswith("My next look: Tue 24 Nov 08:10.")


async def test_on_this_machine_nobody_is_introduced_to_it(start_beating: StartBeating) -> None:
    channel = MemoryChannel(limits=Limits(max_text=4_000, is_local=True))
    bot = await start_beating("Hello.", introduces=True, channel=channel)
    await bot.hears("hello")

    assert bot.screen == ["Hello."]


async def test_where_it_is_set_to_off_nobody_is(start_beating: StartBeating) -> None:
    bot = await start_beating("Hello.")
    await bot.hears("hello")

    assert bot.screen == ["Hello."]
    assert await bot.store.jobs.heartbeats() == []


async def test_told_and_cut_off_it_begins_with_the_next_answer_and_the_message_stays_one(
    start_beating: StartBeating,
) -> None:
    channel = MemoryChannel(limits=NO_PACE, keeps_keys=False)
    bot = await start_beating("Hello.", "Hello again.", introduces=True, channel=channel)
    await bot.hears("hello")
    job = await bot.its_job()
    await bot.stop()
    bot.forgets_heartbeats()
    await bot.restart()
    bot.calendar.advance(HALF_AN_HOUR)
    await bot.hears("hello again")

    assert len([text for text in bot.screen if "every 30 minutes" in text]) == 1
    assert (await bot.beats()).on
    assert (await bot.its_job()).id != job.id
    assert await bot.store.find_post(f"heartbeat-{NAME}:proactive:0")


async def test_in_chinese(start_beating: StartBeating) -> None:
    bot = await start_beating("你好。", introduces=True)
    await bot.hears("你好", language="zh-hans")

    assert "每 30 分钟" in bot.screen[-1]
    assert buttons(bot) == ["关闭", "免打扰时段", "现在看看"]
