"""An event is told although a webhook or an event was removed before it, and in its own chat."""

from gateway.plugins.hooks.plugin import HooksPlugin
from gateway.plugins.hooks.table import LISTED
from tests.clock import OffsetClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import ANN, Platform
from tests.plugins.hooks.sending import added, sent, shown_in


def told(bot: Bot, words: str) -> int:
    return sum(words in each for each in bot.screen)


async def test_an_event_of_a_webhook_that_follows_a_removed_one_is_told(
    start_bot: StartBot, database: str | None
) -> None:
    bot = await start_bot(plugins=(HooksPlugin,), database=database)
    await sent(bot, await added(bot), {"number": "the first"})
    await bot.hears("/hook rm builds")

    await sent(bot, await added(bot), {"number": "the second"})

    assert (told(bot, "the first"), told(bot, "the second")) == (1, 1)


async def test_an_event_after_thirty_quiet_days_is_told(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await start_bot(plugins=(HooksPlugin,), clock=clock)
    hook = await added(bot)
    await sent(bot, hook, {"number": "the first"})
    clock.ahead += LISTED + 1
    await next(each for each in bot.made.plugins if isinstance(each, HooksPlugin))._hooks.tidy(clock.time())  # noqa: SLF001

    await sent(bot, hook, {"number": "the second"})

    assert (told(bot, "the first"), told(bot, "the second")) == (1, 1)


async def test_an_agent_looks_at_an_event_of_a_webhook_that_follows_a_removed_one(start_bot: StartBot) -> None:
    bot = await start_bot("Answer one.", "Answer two.", plugins=(HooksPlugin,))
    for number in (1, 2):
        hook = await added(bot)
        await bot.hears("/hook ask builds Look at it.")
        await sent(bot, hook, {"number": number})
        await bot.hears("/hook rm builds")

    assert (told(bot, "Answer one."), told(bot, "Answer two.")) == (1, 1)


async def test_what_comes_for_one_chat_is_never_told_in_another(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,), channel=Platform())
    await bot.hears("/hook add builds", group="team")
    await sent(bot, next(shown_in(each) for each in bot.screen if "show only now" in each), {"number": "the first"})
    await bot.hears("/hook rm builds", group="team")

    await sent(bot, await added(bot), {"number": "for Ann alone"})

    team = bot.channel.screen_of(ANN.model_copy(update={"chat": "#team"}))
    assert any("the first" in each for each in team)
    assert not any("Ann alone" in each for each in team)
    assert any("Ann alone" in each for each in bot.channel.screen_of(ANN))
