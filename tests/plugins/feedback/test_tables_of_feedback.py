"""The table of feedback passes the tests of every plugin."""

from gateway.plugins.feedback.plugin import FeedbackPlugin
from gateway.plugins.feedback.table import Feedback, Rating
from parley.testing import Bot
from tests.plugins.both_databases import OnBoth


class TestFeedback(OnBoth):
    plugin = FeedbackPlugin

    async def use(self, bot: Bot) -> None:
        await bot.hears("hello", sender="bob")
        await bot.hears("hello", sender="bob", group="birds")
        rows = bot.made.plugins[0].core.store.table(Feedback)
        await rows.keep(Rating("run-1", bot.channel.chat("bob"), "bob", is_good=True, at=1_000.0))
        await rows.keep(Rating("run-2", bot.channel.chat(group="birds"), "bob", is_good=False, at=1_000.0))

    async def test_what_others_have_said_stays(self, bot: Bot) -> None:
        rows = bot.made.plugins[0].core.store.table(Feedback)
        carls = Rating("run-2", bot.channel.chat(group="birds"), "carl", is_good=True, at=1_000.0)
        await rows.keep(carls)

        await bot.hears("/forget me", sender="bob")
        await bot.channel.presses("Erase for good", sender="bob")
        await bot.app.settled()

        assert await rows.since(0.0, None) == [carls]
