"""The screen of costs: its sums, and budgets that are set and raised on it."""

import random
import re
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from channels.base import ChatKey
from channels.memory import user
from gateway.records.cost_report import CostReport, Days
from gateway.records.spending_report import Span, first_of, report_of
from gateway.settings.budgets import BudgetSettings
from gateway.store.budget import Account as BudgetAccount
from gateway.store.budget import Payer, Scope, Spent
from gateway.store.spending import By
from gateway.store.store import Store
from gateway.texts.amounts import Unit
from tests.clock import OffsetClock
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_overview import overview
from tests.gateway.admin.test_pages import act
from tests.gateway.spent import DEAR, spend

PARIS = ZoneInfo("Europe/Paris")
NOON = datetime(2026, 11, 2, 12, tzinfo=PARIS).timestamp()
"""A week after the clocks were put back."""
ATTACK = "<img src=x onerror=alert(1)>"


async def page(world: AdminWorld, query: str = "") -> str:
    async with world.client() as client, client.get(f"/admin/costs{query}") as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


@pytest.mark.parametrize("seed", range(12))
async def test_the_sums_of_each_property_are_those_of_usage(tmp_path: Path, seed: int) -> None:
    chance, ids = random.Random(seed), count()  # noqa: S311
    async with Store.open(tmp_path, OffsetClock.at(NOON), lambda: f"id-{next(ids)}") as store:
        for _ in range(chance.randrange(1, 60)):
            at = NOON - chance.random() * 35 * 86_400
            payer = Payer(
                ChatKey(platform="memory", account="here", chat=chance.choice("abcdefgh")),
                person=chance.choice(["", "memory:ann", "memory:bob"]),
                job=chance.choice(["", "j1", "j2"]),
            )
            spent = Spent(chance.randrange(5_000), chance.choice([0, chance.randrange(10**9)]))
            model, call = chance.choice(["", "small", "large"]), f"c{next(ids)}"
            await store.spending.reserve(call, at, payer, model, spent)
            if chance.random() < 0.8:
                await store.spending.settle(call, model, spent, chance.choice(["settled", "estimate"]))
        await store.spending.of_run("")  # all writes are done

        for span in Span:
            first = first_of(span, NOON, PARIS)
            days = Days(first, datetime.fromtimestamp(NOON, PARIS).date(), PARIS)
            usage = report_of(await store.spending.usage(days.since, Scope.ALL), span, NOON, PARIS)
            for by in By:
                report = CostReport(days, await store.spending.shares(days.since, days.until, by))
                assert report.total == usage.total
                assert list(report.bars.values()) == list(usage.bars.values())
                assert sum(each.spent.cost for each in report.subjects.values()) == usage.total.spent.cost
                if by is By.MODEL:
                    assert report.subjects == usage.models
                shown = sum(map(sum, report.series()))
                of_unit = usage.total.spent.of(report.unit) / (10**9 if report.unit is Unit.USD else 1)
                assert shown == pytest.approx(of_unit)


async def test_without_calls_and_budgets_it_says_what_will_be_here(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        text = await page(world)
        assert "No model was called in this time." in text
        assert "No budget is set." in text


async def test_a_day_is_shown_by_hours_and_its_rows_lead_to_the_runs_of_that_day(tmp_path: Path) -> None:
    async with admin_world(tmp_path, clock=OffsetClock.at(NOON)) as world:
        await spend(world.bot.made.base.store, NOON - 86_400, 2 * 10**9, chat="team")
        await spend(world.bot.made.base.store, NOON - 86_400 + 7_200, 10**9, chat="ann")
        await spend(world.bot.made.base.store, NOON, 5 * 10**9, chat="team")
        await world.bot.made.base.store.spending.of_run("")

        week = await page(world, "?by=chat")
        assert 'href="/admin/costs?day=2026-11-01&amp;by=chat"' in week
        day = await page(world, "?day=2026-11-01&by=chat")
        assert "<strong>3 USD</strong>" in day
        assert 'href="/admin/runs?chat=memory%3Ahere%3Ateam&amp;day=2026-11-01"' in day
        assert "12:00" in day
        assert "14:00" in day
        person = await page(world, "?day=2026-11-01&by=person")
        assert 'href="/admin/runs?person=memory%3Aann&amp;day=2026-11-01"' in person


@pytest.mark.parametrize("query", ["?by=secret", "?span=year", "?day=yesterday", "?day=2026-02-30"])
async def test_a_query_for_nothing_is_no_page(tmp_path: Path, query: str) -> None:
    async with admin_world(tmp_path) as world, world.client() as client, client.get(f"/admin/costs{query}") as answer:
        assert answer.status == 404


async def test_budgets_show_what_is_used_and_reserved_and_are_changed_by_commands(tmp_path: Path) -> None:
    settings = BudgetSettings(person="9 USD a month")
    async with admin_world(tmp_path, "Hello!", model=DEAR, budgets=settings) as world, world.client() as client:
        await world.bot.channel.hears("hi", sender=user("ann"))
        await world.bot.app.settled()
        budgets = world.bot.made.guards.budgets

        assert "5 USD a day" in await act(client, "/budget", "all", "5", "USD", "a day")
        chat = ChatKey(platform="memory", account="here", chat="ann")
        await budgets.reserve(Payer(chat, person="memory:ann"), "small", Spent(10, 2 * 10**9))
        text = await page(world)
        assert "Everything together" in text
        assert "of which 2 USD are reserved for calls under way" in text
        assert "9 USD a month <span" in text
        raises = re.search(r'value="(/budget raise all [^"]+)"', text)
        assert raises
        assert "10 USD a day" in await act(client, raises[1])
        removes = re.search(r'value="(/budget all off[^"]+)"', text)
        assert removes
        await act(client, removes[1])
        assert budgets.of(BudgetAccount(Scope.ALL)) == []


async def test_names_of_attackers_are_shown_as_they_are_written(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        store = world.bot.made.base.store
        await spend(store, world.bot.clock.time(), 10**9, chat=ATTACK, person=ATTACK, job=ATTACK, model=ATTACK)
        await store.spending.of_run("")
        for by in By:
            text = await page(world, f"?by={by}")
            assert "<img src=x" not in text
            assert "&lt;img src=x" in text


async def test_linked_accounts_are_one_person_in_costs_and_budgets(tmp_path: Path) -> None:
    async with admin_world(tmp_path, budgets=BudgetSettings(person="9 USD a month")) as world:
        bot = world.bot
        await bot.hears("/link")
        code = re.search(r"/link (\w{8})`", bot.screen[-1])
        assert code
        for each, cost in (("memory:ann", 10**9), ("memory:eve", 2 * 10**9)):
            await spend(bot.made.base.store, bot.clock.time(), cost, person=each)
        await bot.made.guards.budgets.load()
        await bot.hears(f"/link {code[1]}", sender="eve")

        text = await page(world, "?by=person")

        assert "person=memory%3Aann" in text
        assert "person=memory%3Aeve" not in text
        assert text.count("9 USD a month <span") == 1


async def test_the_cost_of_yesterday_is_told_and_leads_to_what_was_dear(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        assert "Yesterday" not in await overview(client)
        clock, zone = world.bot.made.base.clock, world.bot.made.base.current.zone
        yesterday = datetime.fromtimestamp(clock.time(), zone).date() - timedelta(days=1)
        noon = datetime.combine(yesterday, datetime.min.time(), zone) + timedelta(hours=12)
        await spend(world.bot.made.base.store, noon.timestamp(), 25 * 10**7)
        assert f'<a href="/admin/costs?day={yesterday}">Yesterday 0.25 USD</a>' in await overview(client)
