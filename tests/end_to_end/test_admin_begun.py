"""Begun forms stay as they are while the page renews itself, and no form chooses by itself what could do harm."""

from pathlib import Path

import pytest
from playwright.async_api import Browser

from agent_core.origin import CLEAN
from channels.memory import user
from gateway.web.page import Entrance
from tests.agent_core.skills.making import library_of
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.entering import signed_in
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_models import menu
from tests.gateway.admin.test_pages import act
from tests.gateway.admin.test_schedules import BOB, NINE
from tests.gateway.facts import memory_of
from tests.gateway.spent import DEAR
from tests.page_server import Page
from tests.process import REPOSITORY

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]

SCREENS = (
    "schedules",
    "schedules/abc123",
    "runs",
    f"memory/{BOB}",
    "skills",
    "skills/chart",
    "people",
    "models",
    "settings",
    "log",
    "browsers",
)
"""Those with forms, as far as no plugin of them is deleted."""
BEGIN = """() => {
  let number = 0;
  for (const each of document.querySelectorAll("#content details")) each.open = true;
  const fields = "#content :is(input, textarea, select):not([type=hidden], [type=file])";
  for (const field of document.querySelectorAll(fields)) {
    if (field.tagName === "SELECT") field.selectedIndex = field.options.length - 1;
    else if (field.type === "checkbox") field.checked = true;
    else field.value = field.type === "date" ? "2026-01-02" : `begun ${number++}`;
  }
  [...document.querySelectorAll("#content button")].find((each) => each.checkVisibility())?.focus();
}"""
"""Unfolds everything, fills in all forms, and chooses the last entry of each list."""
STATE = """() => {
  const { activeElement: focus, scrollingElement: { scrollTop } } = document;
  const all = (selector) => [...document.querySelectorAll(`#content ${selector}`)];
  const fields = all(":is(input, textarea, select)").map((field) => [field.name, field.value, field.checked]);
  const open = all("details").map((details) => details.open);
  return JSON.stringify([fields, open, focus.tagName, focus.textContent, focus.closest("form")?.innerText, scrollTop]);
}"""
RENEW = """() => new Promise((done) => {
  document.body.addEventListener("htmx:afterSettle", done, { once: true });
  window.htmx.trigger(document.body, "changed");
}).then(() => null)"""
ANSWERED = """() => new Promise((done) =>
  document.body.addEventListener("htmx:afterOnLoad", () => setTimeout(done, 50), { once: true }))"""
"""Waits until the next request is answered, and what comes of that has settled."""
CHOOSES = """() => [...document.querySelectorAll("#content form.act select")]
  .filter((list) => list.options[0].value && ![...list.options].some((each) => each.defaultSelected))
  .map((list) => list.options[0].value)"""
"""The values that forms of actions choose although nobody has chosen them, and although they are not in force."""
HARMLESS = {"here", "member", "/cron add"}


async def a_busy_place(world: AdminWorld) -> None:
    """Let people write, plan, remember and limit so much that each screen has all its forms."""
    for name in ("ann", "bob"):
        await world.bot.channel.hears("hello", sender=user(name))
    await world.bot.channel.hears("hello", sender=user("ann"), group="team")
    await world.bot.app.settled()
    await world.bot.made.base.store.jobs.add(NINE)
    await memory_of(world.bot, BOB).remember("likes tea", "Bob", CLEAN)
    async with world.client() as client:
        await act(client, "/budget memory:bob", "5", "USD", "a day")


async def test_what_is_begun_stays_on_every_screen_and_nothing_harmful_is_chosen_by_itself(
    browser: Browser, tmp_path: Path
) -> None:
    page = Page(tmp_path / "page")
    async with (
        page.open(),
        signed_in(page.server),
        admin_world(
            tmp_path / "bot",
            *("Hi", "Hi", "Hi"),
            model=DEAR,
            models=menu("ready"),
            skills=library_of(REPOSITORY / "skills"),
            entrance=Entrance(page.server, page.guests),
        ) as world,
        world.tab(browser, "inbox") as tab,
    ):
        await a_busy_place(world)
        chosen: set[str] = set()
        there = {each.name for each in world.desk.screens}
        for screen in (each for each in SCREENS if each.partition("/")[0] in there):
            await world.opens(tab, screen)
            chosen |= set(await tab.evaluate(CHOOSES))
            await tab.evaluate(BEGIN)
            begun = await tab.evaluate(STATE)
            await tab.evaluate(RENEW)
            assert await tab.evaluate(STATE) == begun, screen
        assert chosen == HARMLESS
