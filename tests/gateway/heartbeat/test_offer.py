"""The owner is offered a heartbeat once, after the fifth answer in private; it starts only when switched on."""

from channels.limits import Limits
from channels.memory import NO_PACE, MemoryChannel
from gateway.schedule.heartbeat.settings import ANSWERS, KEY
from tests.gateway.heartbeat.beating import Beating
from tests.gateway.heartbeat.conftest import StartBeating
from tests.gateway.heartbeat.test_heartbeat_command import buttons
from tests.gateway.jobs.kit import ANN, Calendar

HELLOS = ["Hello."] * ANSWERS


async def hears_hello(bot: Beating, text: str = "hello", **how: str) -> None:
    """Say it as often as it takes to be offered the heartbeat."""
    for _ in range(ANSWERS):
        await bot.hears(text, **how)


async def test_after_her_fifth_answer_the_owner_is_offered_it_and_nothing_is_on(start_beating: StartBeating) -> None:
    bot = await start_beating(*HELLOS, "Fine.", offers=True)
    await hears_hello(bot)

    [*answers, offer] = bot.screen
    assert answers == HELLOS
    for words in ("If you like", "every 30 minutes", "at most 2 times a day", "never at night"):
        assert words in offer
    assert buttons(bot) == ["Switch it on", "No, thanks"]
    await bot.goes_by(24)
    assert await bot.store.heartbeats.all() == []
    assert await bot.store.jobs.planned(ANN) == []
    assert (bot.ticks, bot.asked) == (0, ANSWERS)

    await bot.hears("how are you?")
    assert bot.screen[-1] == "Fine."


async def test_answers_to_others_and_elsewhere_do_not_bring_it_sooner(start_beating: StartBeating) -> None:
    bot = await start_beating(*HELLOS, *HELLOS, offers=True)
    for _ in range(ANSWERS):
        await bot.hears("hello", group="team")
    for _ in range(ANSWERS - 1):
        await bot.hears("hello")

    assert "If you like" not in "".join(bot.screen)


async def test_who_takes_the_offer_has_it_on(start_beating: StartBeating) -> None:
    bot = await start_beating(*HELLOS, offers=True)
    await hears_hello(bot)
    await bot.presses("Switch it on")
    await bot.presses("Use this list")

    assert (await bot.beats()).on
    assert "The heartbeat is on. Next check: Mon 23 Nov 08:30." in bot.screen[-1]


async def test_who_declines_hears_no_more_of_it(start_beating: StartBeating) -> None:
    bot = await start_beating(*HELLOS, "Hello again.", offers=True)
    await hears_hello(bot)
    await bot.presses("No, thanks")
    assert bot.screen == [*HELLOS, "Then it stays as it is."]
    await bot.restart()
    await bot.hears("hello again")

    assert bot.screen[-1] == "Hello again."
    assert await bot.store.heartbeats.all() == []


async def test_an_offer_that_is_not_answered_is_not_repeated_after_a_restart(start_beating: StartBeating) -> None:
    clock = Calendar()
    channel = MemoryChannel(limits=NO_PACE, keeps_keys=False, now=clock.time)
    bot = await start_beating(*HELLOS, "Hello again.", offers=True, clock=clock, channel=channel)
    await hears_hello(bot)
    await bot.restart()
    await bot.hears("hello again")

    assert len([text for text in bot.screen if "every 30 minutes" in text]) == 1
    assert await bot.store.outbox.find(KEY)


async def test_nobody_else_is_offered_it_and_no_group(start_beating: StartBeating) -> None:
    bot = await start_beating(*HELLOS, *HELLOS, *HELLOS, offers=True)
    await hears_hello(bot, sender="bob")
    await hears_hello(bot, group="team")
    await bot.hears("/heartbeat on", sender="bob")
    await bot.presses("Without a list", sender="bob")
    assert [text for text in bot.screen if "If you like" in text] == []

    await hears_hello(bot)
    assert "If you like" in bot.screen[-1]  # other users' heartbeats do not count


async def test_an_owner_who_uses_it_elsewhere_is_not_offered_it(start_beating: StartBeating) -> None:
    bot = await start_beating(*HELLOS, offers=True)
    await bot.hears("/heartbeat on", group="team")
    await bot.presses("Without a list")
    await hears_hello(bot)

    assert bot.screen[-1] == "Hello."
    assert await bot.store.heartbeats.find(ANN) is None


async def test_who_has_switched_it_off_before_is_not_offered_it(start_beating: StartBeating) -> None:
    bot = await start_beating(*HELLOS, offers=True)
    await bot.hears("/heartbeat off")
    await hears_hello(bot)

    assert bot.screen == ["The heartbeat is off already.", *HELLOS]
    await bot.goes_by(24)
    assert bot.ticks == 0


async def test_on_this_machine_nobody_is_offered_it(start_beating: StartBeating) -> None:
    clock = Calendar()
    channel = MemoryChannel(limits=Limits(max_text=4_000, is_local=True), now=clock.time)
    bot = await start_beating(*HELLOS, offers=True, clock=clock, channel=channel)
    await hears_hello(bot)

    assert bot.screen == HELLOS


async def test_where_it_is_set_to_off_nobody_is_offered_it(start_beating: StartBeating) -> None:
    bot = await start_beating(*HELLOS)
    await hears_hello(bot)

    assert bot.screen == HELLOS
    assert await bot.store.heartbeats.all() == []


async def test_in_chinese(start_beating: StartBeating) -> None:
    bot = await start_beating(*["你好。"] * ANSWERS, offers=True)
    await hears_hello(bot, "你好", language="zh-hans")

    assert "每 30 分钟" in bot.screen[-1]
    assert buttons(bot) == ["开启", "不用了"]
