"""A webhook whose chat takes no messages any more is paused, and its person told; one that fails once goes on."""

from agent_core.origin import NOT_KNOWN
from channels.base import ChannelError
from gateway.plugins.hooks.plugin import HooksPlugin
from gateway.plugins.hooks.work import LOST
from gateway.store.rows import Post
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform
from tests.gateway.tasking import rows
from tests.plugins.hooks.sending import sent, shown_in

GONE = ChannelError("channel_not_found", permanent=True)


async def test_a_webhook_whose_group_is_gone_is_paused_and_its_person_told_once(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,), channel=Platform())
    await bot.hears("/hook add builds", group="team")
    hook = shown_in(next(each for each in bot.screen if "/hooks/" in each))

    for number in range(LOST):
        bot.channel.fails("send", GONE)
        assert (await sent(bot, hook, {"number": number})).status == 200
    assert (await sent(bot, hook, {"number": LOST})).status == 200

    [told] = [each for each in bot.screen if "did not arrive in" in each]
    assert "team: I may not be there any more" in told
    assert "/hook resume 1" in told
    private = await bot.made.base.store.outbox.screen(bot.channel.chat("ann"), 10)
    [post] = [each for _, each in private if isinstance(each, Post) and each.message.markdown == told]
    assert post.origin == NOT_KNOWN, "anybody may have named the group"
    refused = await sent(bot, hook, {"number": LOST + 1})
    assert (refused.status, refused.body) == (403, b"the webhook is paused")
    assert not any("number" in each for each in bot.screen)
    await bot.hears("/hook resume 1")
    assert (await sent(bot, hook, {"number": LOST + 2})).status == 200
    assert [state for (state,) in rows(bot.home, "SELECT state FROM hooks_events ORDER BY id")][-1] == "posted"


async def test_a_webhook_goes_on_when_some_events_have_arrived(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    await bot.hears("/hook add builds")
    hook = shown_in(bot.screen[-1])

    for number in range(2 * LOST):
        if number % LOST:
            bot.channel.fails("send", GONE)
        await sent(bot, hook, {"number": number})
    await sent(bot, hook, {"number": 99})

    assert '"number": 99' in bot.screen[-1]
