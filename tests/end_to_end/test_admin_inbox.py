"""An admin answers what waits in other chats, on the phone, while the page keeps up by itself."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from agent_core.models.scripted import calls
from channels.memory import user
from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import Chat
from parley.testing.emulators.telegram_state import Person
from tests.emulators.model_script import ToolUse, Turn
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.program import Program, forked
from tests.end_to_end.script import Script
from tests.entering import enter
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.approving import CHART, asked, asked_by_model, questions, recorder
from tests.gateway.test_page_address import certificate
from tests.process import until

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]

PHONE = 390


async def fits(tab: Page) -> None:
    """Assert that nothing is wider than the screen."""
    assert await tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


async def ask_for_a_drink(world: AdminWorld) -> None:
    await world.bot.channel.hears("A drink, please", sender=user("bob"))
    await asked_by_model(world.bot, "bob")


async def test_an_admin_approves_on_the_phone_and_the_run_goes_on(browser: Browser, tmp_path: Path) -> None:
    tool, ran = recorder()
    async with (
        admin_world(tmp_path, CHART, "Here is your chart.", tools=(tool,)) as world,
        world.tab(browser, "inbox", width=PHONE) as tab,
    ):
        await expect(tab.get_by_text("Nothing waits for you")).to_be_visible()
        await tab.evaluate("window.sameDocument = true")
        await asked(world.bot, sender=user("bob"))

        card = tab.get_by_role("article")
        await expect(card).to_contain_text("python3 chart.py")
        await expect(card).to_contain_text("It runs a program.")
        await expect(card).to_contain_text("user.exec")
        await expect(card).to_contain_text("memory:bob")
        await expect(tab.get_by_text("Nothing waits for you")).to_have_count(0)
        await fits(tab)
        await accessible(tab)
        await tab.get_by_role("button", name="Menu").click()
        await expect(tab.get_by_role("link", name="Inbox 1 waiting")).to_be_visible()
        await tab.get_by_role("button", name="Menu").click()

        await card.get_by_role("button", name="Allow once").click()
        await expect(card).to_have_count(0)
        await expect(tab.locator("#answer")).to_contain_text("Done: Allow once: python3 chart.py")
        await world.bot.channel.until(lambda: any(text.endswith("Here is your chart.") for text in world.bot.screen))
        assert ran == [["python3", "chart.py"]]
        await world.bot.channel.until(lambda: any("✓ Approved by You" in text for text in world.bot.screen))
        await expect(tab.get_by_text("Nothing waits for you")).to_be_visible()
        assert await tab.evaluate("window.sameDocument")


async def test_words_and_focus_stay_while_other_cards_come_and_go(browser: Browser, tmp_path: Path) -> None:
    tool, ran = recorder()
    asks = calls(("ask_user", {"question": "Tea or coffee?", "choices": ["Tea", "Coffee"]}))
    async with (
        admin_world(tmp_path, asks, CHART, "No chart, then.", "Cocoa it is.", tools=(tool,)) as world,
        world.tab(browser, "inbox") as tab,
    ):
        await ask_for_a_drink(world)
        field = tab.get_by_label("Your answer")
        await field.press_sequentially("Co")
        await world.bot.channel.hears("draw it", sender=user("ann"))
        await world.bot.channel.until(lambda: bool(questions(world.bot)))
        await expect(tab.get_by_role("article")).to_have_count(2)
        await expect(field).to_be_focused()
        await tab.keyboard.type("co")
        await tab.get_by_role("button", name="Deny").click()
        await expect(tab.get_by_role("article")).to_have_count(1)
        await expect(field).to_have_value("Coco")
        await world.bot.channel.until(lambda: any(text.endswith("No chart, then.") for text in world.bot.screen))

        await field.fill("Cocoa")
        await tab.get_by_role("button", name="Answer").click()
        await world.bot.channel.until(lambda: any(text.endswith("Cocoa it is.") for text in world.bot.screen))
        await expect(tab.get_by_text("Nothing waits for you")).to_be_visible()
        assert ran == []
        await accessible(tab)


async def test_a_choice_is_pressed_in_chinese(browser: Browser, tmp_path: Path) -> None:
    asks = calls(("ask_user", {"question": "Tea or coffee?", "choices": ["Tea", "Coffee"]}))
    async with (
        admin_world(tmp_path, asks, "Coffee it is.") as world,
        world.tab(browser, "inbox", language="zh-CN") as tab,
    ):
        await ask_for_a_drink(world)
        await tab.get_by_role("button", name="Coffee").click()
        await world.bot.channel.until(lambda: any(text.endswith("Coffee it is.") for text in world.bot.screen))
        await expect(tab.get_by_text("没有待处理的事项")).to_be_visible()


@asynccontextmanager
async def phone(browser: Browser, link: str) -> AsyncIterator[Page]:
    """Open the inbox on a phone that a link signs in."""
    context = await browser.new_context(
        viewport={"width": PHONE, "height": 800}, has_touch=True, locale="en-GB", ignore_https_errors=True
    )
    context.set_default_timeout(30_000)
    page = await context.new_page()
    await enter(page, link)
    await page.goto(f"{link.partition('?')[0]}admin/inbox")
    yield page
    await context.close()


@asynccontextmanager
async def reachable(
    folder: Path, port: int, telegram: TelegramEmulator, model: str, **people: str
) -> AsyncIterator[Program]:
    """Run Parley with a page that has a certificate; `people` are the variables that name them."""
    (folder / "home").mkdir()
    certificate_file, key_file = certificate(folder)
    environ = {
        "OPENAI_BASE_URL": model,
        "OPENAI_API_KEY": "sk-test",
        "TELEGRAM_BOT_TOKEN": telegram.token,
        "TELEGRAM_BASE_URL": telegram.url,
        "PARLEY_WEB_PORT": str(port),
        "PARLEY_WEB_URL": f"https://127.0.0.1:{port}",
        "PARLEY_WEB_CERTIFICATE_FILE": certificate_file,
        "PARLEY_WEB_KEY_FILE": key_file,
    }
    async with forked(folder, {**environ, **people}) as program:
        yield program


async def link_from_page(chat: Chat, person: Person) -> str:
    """Ask for a link in a direct chat."""
    link = re.compile(r"https://127\.0\.0\.1:\d+/\?token=\S+")
    await chat.says(person, "/page")
    await chat.until(lambda c: any(map(link.search, c.screen)))
    return next(found[0] for found in map(link.search, chat.screen) if found)


async def test_an_admin_let_in_by_page_approves_on_the_phone_what_a_chat_on_telegram_waits_for(
    browser: Browser, tmp_path: Path, unused_tcp_port: int
) -> None:
    script = Script()
    script.then(
        Turn(tools=(ToolUse("run_command", {"argv": ["sh", "-c", "echo it ran"]}),)), Turn("The program has run.")
    )
    async with TelegramEmulator() as telegram, OpenAiEmulator(script, models=("test-model",)) as model:
        ann, bob, carl = (telegram.person(name, language="en") for name in ("Ann", "Bob", "Carl"))
        people = {"PARLEY_OWNERS": f"telegram:{ann.id}", "PARLEY_ALLOW": f"telegram:{bob.id}"}
        async with reachable(tmp_path, unused_tcp_port, telegram, model.base_url, **people) as program:
            await telegram.private(ann).says(ann, f"/role telegram:{carl.id} admin")
            await telegram.private(ann).until(lambda c: any("Admin, from now on" in text for text in c.screen))
            async with phone(browser, await link_from_page(telegram.private(carl), carl)) as page:
                chat = telegram.private(bob)
                await chat.says(bob, "run it")
                await model.wait_for(lambda: bool(model.requests), 30)
                if "run_command" not in model.requests[0].tools:
                    pytest.skip("no sandbox here")
                card = page.get_by_role("article")
                await expect(card).to_contain_text("sh -c 'echo it ran'")
                await expect(card).to_contain_text(f"telegram:{bob.id}")
                await fits(page)
                await card.get_by_role("button", name="Allow once").click()
                await chat.until(lambda c: any(text.endswith("The program has run.") for text in c.screen))
                await chat.until(lambda c: any("✓ Approved by Carl" in text for text in c.screen))
                assert "it ran" in model.requests[-1].texts("tool")[-1]
                await expect(card).to_have_count(0)
            await until(lambda: any("approv" in line for line in audited(program.home, f"telegram:{carl.id}")))


def audited(home: Path, principal: str) -> list[str]:
    """Return the lines of the audit that name a person; they are written soon after the action."""
    lines = "".join(file.read_text() for file in (home / "audit").iterdir()).splitlines()
    return [line for line in lines if principal in line]
