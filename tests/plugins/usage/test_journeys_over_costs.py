"""What people come to the page for, from the first look to the end, in a real browser."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from playwright.async_api import Browser, expect

from channels.memory import user
from gateway.settings.budgets import BudgetSettings
from tests.clock import OffsetClock
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.spent import DEAR, spend
from tests.process import until

pytestmark = NEEDS_BROWSER

FREE = DEAR.model_copy(update={"input_price": 0.0, "output_price": 0.0})
"""The costs of this story are those that it says."""
DAY = 86_400
USD = 10**9
NOON = datetime(2026, 11, 18, 12, tzinfo=ZoneInfo("Europe/Paris")).timestamp()


async def had(world: AdminWorld, sender: str, text: str, dollars: int, group: str | None = None) -> None:
    """Let somebody have an answer that has cost so much."""
    made, chat = world.bot.made, world.bot.channel.chat(sender, group=group)
    await world.bot.channel.hears(text, sender=user(sender), group=group)
    await world.bot.app.settled()
    record = await made.base.store.run_records.last(chat)
    assert record is not None
    payer = {"chat": chat.chat, "person": f"memory:{sender}", "run": record.run}
    await spend(made.base.store, made.base.clock.time(), dollars * USD, **payer)


async def test_an_owner_finds_out_what_cost_so_much_yesterday_and_sets_a_limit(
    browser: Browser, tmp_path: Path
) -> None:
    clock = OffsetClock.at(NOON - DAY)
    async with admin_world(tmp_path, *["Done."] * 4, clock=clock, model=FREE) as world:
        # Yesterday Bob had the whole archive summarised in the team's channel. Others asked for little.
        await had(world, "ann", "what time is it?", 1)
        await had(world, "bob", "summarise the whole archive", 40, group="team")
        clock.ahead += DAY
        await had(world, "ann", "and now?", 2)

        # Today Ann looks at the costs, and sees that one day stands out.
        async with world.tab(browser, "costs") as tab:
            await expect(tab.locator(".total strong")).to_have_text("43 USD")
            yesterday = tab.get_by_role("row").filter(has=tab.get_by_role("link", name="17 Nov 2026"))
            await expect(yesterday).to_contain_text("41 USD")

            # She opens that day, and its runs, of which the first has cost most.
            await tab.get_by_role("link", name="Yesterday").click()
            await expect(tab.locator(".total strong")).to_have_text("41 USD")
            await tab.get_by_role("link", name="The dearest runs of this day").click()

            # It was Bob's, and it says what was done.
            await expect(tab.get_by_role("row").nth(1)).to_contain_text("40 USD")
            await expect(tab.get_by_role("row").nth(1)).to_contain_text("bob")
            await tab.get_by_role("link", name="summarise the whole archive").click()
            await expect(tab.get_by_role("heading", level=1)).to_be_visible()
            await accessible(tab)

            # She gives the channel a budget, so that this does not happen again.
            await tab.get_by_role("link", name="Costs").click()
            await tab.get_by_label("For").select_option(label="team (memory)")
            await tab.get_by_label("Amount").fill("5")
            await tab.get_by_role("button", name="Set").click()
            await expect(tab.get_by_role("row").filter(has_text="5 USD a day")).to_contain_text("team")
            await accessible(tab)


async def test_a_member_whose_budget_is_used_up_gets_an_answer_once_an_owner_raises_it(
    browser: Browser, tmp_path: Path
) -> None:
    budgets = BudgetSettings(person="0.01 USD a day")
    async with admin_world(tmp_path, "Here is the plan.", model=DEAR, budgets=budgets) as world:
        bot = world.bot
        bobs = bot.channel.chat("bob")

        # Bob, a member, looks for the page. It is not for him, and he is told so in his chat.
        await bot.hears("/page", sender="bob")
        assert "Only owners and admins can open the page." in bot.channel.screen_of(bobs)[-1]

        # He asks for something, and learns that his budget has no room for it.
        await bot.channel.hears("make a plan for the week", sender=user("bob"))
        await until(lambda: "has no room for the next step" in "".join(bot.channel.screen_of(bobs)))

        # Ann sees his budget on the page and raises it there. Bob gets his answer without asking again.
        async with world.tab(browser, "costs") as tab:
            row = tab.get_by_role("row").filter(has_text="memory:bob")
            await expect(row).to_contain_text("0.01 USD a day")
            await row.get_by_role("button", name="Raise").click()
            await expect(tab.get_by_role("status")).to_contain_text("The budget is set.")
            await expect(row).not_to_contain_text("0.01 USD a day")  # the page is up to date, with fresh forms
            await tab.get_by_label("For").select_option(label="Bob (memory:bob)")
            await tab.get_by_label("Amount").fill("3")
            await tab.get_by_role("button", name="Set").click()
            await expect(row).to_contain_text("3 USD a day")
        await until(lambda: "Here is the plan." in bot.channel.screen_of(bobs)[-1])
        await bot.app.settled()
