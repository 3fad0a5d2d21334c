"""Polls, in a Parley in memory."""

import pytest
from parley_poll.plugin import PollPlugin

from parley.testing import Bot, StartBot, calls
from parley.testing.tables import TableTests

LUNCH = "/poll Lunch? | Pizza | Soup"


async def votes(bot: Bot, choice: str, person: str = "ann") -> None:
    await bot.channel.presses(choice, sender=person)
    await bot.app.settled()


async def test_everybody_has_one_vote_and_may_change_it(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    await bot.hears(LUNCH, group="team")

    for person, choice in (("ann", "Pizza"), ("bob", "Pizza"), ("bob", "Soup"), ("bob", "Soup")):
        await votes(bot, choice, person)

    assert bot.screen == ["**Lunch?**  \nPizza: 1  \nSoup: 1"]


async def test_a_stranger_has_no_vote(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    await bot.hears(LUNCH, group="team")

    await votes(bot, "Pizza", "mallory")

    assert bot.screen[0] == "**Lunch?**  \nPizza: 0  \nSoup: 0"


async def test_votes_survive_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    await bot.hears(LUNCH, group="team")
    await votes(bot, "Soup")

    await bot.restart()
    await votes(bot, "Soup", "bob")

    assert bot.screen == ["**Lunch?**  \nPizza: 0  \nSoup: 2"]


async def test_a_press_that_a_restart_cuts_off_is_counted_after_it(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    await bot.hears(LUNCH)

    await bot.channel.presses("Soup")
    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["**Lunch?**  \nPizza: 0  \nSoup: 1"]


@pytest.mark.parametrize(
    "arguments", ["Lunch?", "Lunch? | Pizza", "| Pizza | Soup", "Lunch? | Soup | Soup", "Lunch?|1|2|3|4|5|6|7|8|9"]
)
async def test_a_poll_without_a_choice_is_explained(start_bot: StartBot, arguments: str) -> None:
    bot = await start_bot(plugins=(PollPlugin,))

    await bot.hears(f"/poll {arguments}", language="zh")

    assert bot.screen == ["投票需要一个问题和 2 到 8 个选项：/poll 午饭？ | 披萨 | 汤"]


async def test_the_model_reads_the_results_as_the_words_of_others(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("poll_results", {})), "Nobody has voted yet.", plugins=(PollPlugin,))
    await bot.hears(LUNCH)

    await bot.hears("who won?")

    result = bot.llm.requests[-1].messages[-1]
    assert "Lunch? Pizza: 0, Soup: 0" in str(result)
    assert bot.screen[-1] == "Nobody has voted yet."


async def test_the_screen_lists_the_polls_of_all_chats_with_their_votes(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    assert "还没有投票。" in await bot.shows("polls", language="zh")
    await bot.hears(LUNCH, group="team")
    await votes(bot, "Soup", "bob")
    await bot.hears("/poll Tea? | <b>Yes</b> | No", sender="bob")

    page = await bot.shows("polls")

    assert "Lunch?" in page
    assert "Pizza: 0, Soup: 1" in page
    assert "&lt;b&gt;Yes&lt;/b&gt;: 0, No: 0" in page
    assert page.index("Tea?") < page.index("Lunch?")


async def test_an_admin_sees_no_polls_of_others(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    await bot.hears("/poll Tea? | Yes | No", sender="bob")
    await bot.hears("/role memory:bob admin")
    await bot.hears(LUNCH)

    page = await bot.shows("polls", sender="bob")

    assert "Tea?" in page
    assert "Lunch?" not in page


async def test_what_a_person_voted_and_asked_is_erased_with_them(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    await bot.hears("/poll Tea? | Yes | No", sender="bob", group="team")
    await bot.hears(LUNCH, group="team")
    await votes(bot, "Soup", "bob")
    await votes(bot, "Soup")

    await bot.hears("/forget me", sender="bob")
    await votes(bot, "Erase for good", "bob")
    await votes(bot, "Yes")

    assert bot.screen[-1] == "This poll was erased."
    page = await bot.shows("polls")
    assert "Pizza: 0, Soup: 1" in page
    assert "Tea?" not in page


class TestTables(TableTests):
    """Votes and polls stay as long as their plugin is installed, and go with their person."""

    plugin = PollPlugin

    async def use(self, bot: Bot) -> None:
        await bot.hears(LUNCH, sender="bob")
        await bot.channel.presses("Soup", sender="bob")
        await bot.app.settled()
