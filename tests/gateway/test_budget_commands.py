"""The command /budget: shown, set and removed in both languages."""

import sqlite3
from contextlib import closing

import pytest

from gateway.permissions.budget_notices import target_of
from gateway.settings.budgets import BudgetSettings
from gateway.store.budget import Account, Scope
from gateway.store.opening import FILE
from tests.gateway.conftest import StartBot
from tests.gateway.test_budgets import DEAR
from tests.process import until


async def test_without_budgets_it_says_how_to_set_one(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/budget")

    assert bot.screen[-1].startswith("No budget is set here.")
    assert "`/budget here 5 USD a day`" in bot.screen[-1]


async def test_budgets_are_set_shown_and_removed(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", model=DEAR, budgets=BudgetSettings(chat="9 USD a month"))
    for command in ("/budget here 5 USD a day", "/budget me 100k tokens a month", "/budget all 50 USD a month"):
        await bot.hears(command)
    await bot.hears("hi")

    await bot.hears("/budget")
    shown = bot.screen[-1]
    assert "- This chat: 5 USD a day, of which " in shown
    assert "- This chat: 9 USD a month (from the settings), of which " in shown
    assert "memory:ann" in shown
    assert " in all chats: 100,000 tokens a month, of which " in shown
    assert "- Everything together: 50 USD a month, of which " in shown

    await bot.hears("/budget here off")
    assert bot.screen[-1].startswith("The budget is removed.")
    assert "5 USD a day" not in bot.screen[-1]
    assert "9 USD a month (from the settings)" in bot.screen[-1]
    await bot.hears("/budget here off")
    assert "No budget was set here with a command." in bot.screen[-1]


@pytest.mark.parametrize("who", ["telegram:7", "memory:a:b", "slack:T0:U1"])
async def test_a_budget_of_an_account_that_cannot_exist_is_refused(start_bot: StartBot, who: str) -> None:
    bot = await start_bot()

    await bot.hears(f"/budget {who} 5 USD a day")

    assert "is no id of a person here" in bot.screen[-1]
    assert not await bot.made.base.store.budgets.all()


async def test_budgets_survive_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/budget 5 USD a day")

    await bot.restart()
    await bot.hears("/budget here")

    assert "- This chat: 5 USD a day" in bot.screen[-1]


async def test_they_are_set_and_shown_in_chinese(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/budget 这里每天5美元", language="zh")
    assert "- 本聊天：每天 5 美元，已用 0 美元（0%）" in bot.screen[-1]
    await bot.hears("/budget 我 每月 10万词元", language="zh")
    assert "每月 100,000 词元" in bot.screen[-1]
    await bot.hears("/budget 这里 取消", language="zh")
    assert bot.screen[-1] == "预算已取消。"


@pytest.mark.parametrize(
    "amount", ["-1", "lots", "1e309", "0", "NaN", "5", "5 EUR a day", "-1 USD a day", "0 USD a day"]
)
async def test_a_bad_amount_gets_the_reason_and_an_example(start_bot: StartBot, amount: str) -> None:
    bot = await start_bot()

    await bot.hears(f"/budget here {amount}")

    assert "`/budget here 5 USD a day`" in bot.screen[-1]
    await bot.hears("/budget here")
    assert bot.screen[-1] == "No budget is set here."


async def test_members_see_what_concerns_them_and_change_nothing(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/budget all 50 USD a month")

    for command in ("/budget all 90 USD a month", "/budget me off", "/budget raise all $90/month"):
        await bot.hears(command, sender="bob")
        assert bot.screen[-1] == "Only owners and admins can change budgets."
    await bot.hears("/budget all", sender="bob")
    assert bot.screen[-1] == "Only owners and admins can see this budget."
    await bot.hears("/budget", sender="bob")
    assert "50 USD" not in bot.screen[-1].partition("Set one")[0]


async def test_a_job_that_is_not_there_has_no_budget(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/budget job zzzzzz 1 USD a day")

    assert bot.screen[-1] == "There is no job zzzzzz here. See /cron list."


async def test_a_thread_shares_the_budget_of_its_channel(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", model=DEAR)
    await bot.hears("/budget here 50k tokens a day", group="team")
    await bot.hears("hi", group="team", thread="t1")

    await bot.hears("/budget here", group="team")

    assert "of which 0 tokens" not in bot.screen[-1]


async def test_a_damaged_run_keeps_no_budget_from_being_raised_by_its_short_name(start_bot: StartBot) -> None:
    bot = await start_bot("Hello!", "Hello!", model=DEAR)
    await bot.hears("hi", sender="bob")
    with closing(sqlite3.connect(bot.home / FILE)) as connection, connection:
        connection.execute(
            "INSERT INTO runs (run, chat, session, person, started) VALUES ('broken', 'memory', 's', 'bob', 1.0)"
        )

    await bot.hears(f"/budget raise {target_of(Account(Scope.PERSON, 'memory:bob'))} $1/day")
    assert bot.screen[-1].startswith("The budget is set.")
    await bot.hears(f"/budget raise {target_of(Account(Scope.PERSON, 'memory:nobody'))} $1/day")
    assert bot.screen[-1] == "I no longer know whose budget this is."


async def test_a_budget_that_leaves_no_room_for_the_first_call_can_be_raised_by_its_short_name(
    start_bot: StartBot,
) -> None:
    bot = await start_bot("Hello!", model=DEAR, budgets=BudgetSettings(person="0.01 USD a day"))
    await bot.channel.hears("hi", sender="bob")
    bobs = Account(Scope.PERSON, "memory:bob")
    await until(lambda: bobs in bot.made.guards.budgets.accounts)

    await bot.channel.hears(f"/budget raise {target_of(bobs)} $1/day", sender="ann")
    await bot.app.settled()

    assert "Hello!" in bot.channel.screen_of(bot.channel.chat("bob"))[-1]
