"""Polls, in a Parley in memory."""

import pytest
from parley_poll.plugin import PollPlugin

from parley.testing import StartBot, calls

LUNCH = "/poll Lunch? | Pizza | Soup"


async def test_everybody_has_one_vote_and_may_change_it(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    await bot.hears(LUNCH, group="team")

    for person, answer in (("ann", "Pizza"), ("bob", "Pizza"), ("bob", "Soup"), ("bob", "Soup")):
        await bot.channel.presses(answer, sender=person)
        await bot.app.settled()

    assert bot.screen == ["**Lunch?**  \nPizza: 1  \nSoup: 1"]


async def test_votes_survive_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    await bot.hears(LUNCH)
    await bot.channel.presses("Soup")
    await bot.app.settled()

    await bot.restart()
    await bot.channel.presses("Soup")
    await bot.app.settled()

    assert bot.screen == ["**Lunch?**  \nPizza: 0  \nSoup: 1"]


async def test_a_poll_is_of_its_chat_alone(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(PollPlugin,))
    await bot.hears(LUNCH, group="team")

    await bot.hears("/poll vote 1 0", sender="bob")
    await bot.hears("/poll vote 1 7", group="team")

    gone = "There is no such poll in this chat."
    assert bot.screen == ["**Lunch?**  \nPizza: 0  \nSoup: 0", gone, gone]


@pytest.mark.parametrize(
    "arguments", ["Lunch?", "Lunch? | Pizza", "| Pizza | Soup", "Lunch? | Soup | Soup", "a" + "| b c" * 1]
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
