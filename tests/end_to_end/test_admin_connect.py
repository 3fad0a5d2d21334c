"""An owner connects platforms and a model in the browser, also with wrong tokens and missing scopes."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from playwright.async_api import Browser, Route, expect
from playwright.async_api import Page as Tab

from parley.testing.emulators.slack import SlackEmulator
from tests import connecting
from tests.connecting import PLATFORMS
from tests.emulators.model_script import says
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.program import Program
from tests.entering import enter
from tests.process import SILENT, until

LINK = re.compile(r"http://127\.0\.0\.1:\d+/\S*\?token=\S+")
ASKED = {
    "TELEGRAM_BOT_TOKEN": "The token from @BotFather",
    "SLACK_BOT_TOKEN": "The Bot User OAuth Token",
    "SLACK_APP_TOKEN": "The app-level token",
    "DISCORD_BOT_TOKEN": "The bot's token",
}
"""Beginning of each field's label, by variable."""
OF_ANOTHER = {"telegram": ("xoxb-1234-5678", "Slack"), "slack": ("4242000001:AAcanary", "Telegram")}
"""A token of another platform, and its name; that of Slack is pasted on Discord."""
KEY = "sk-own-server-key-0123456789"

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]


@asynccontextmanager
async def guide(browser: Browser, program: Program, title: str) -> AsyncIterator[Tab]:
    """Start the program, sign in, and begin a guide."""
    program.forked = True
    await program.launch()
    context = await browser.new_context(locale="en-GB", timezone_id="UTC")
    context.set_default_timeout(30_000)
    try:
        tab = await context.new_page()
        await until(lambda: LINK.search(program.console))
        link = LINK.findall(program.console)[-1]
        await enter(tab, link)
        await tab.goto(f"{'/'.join(link.split('/', 3)[:3])}/admin/connect")
        await tab.get_by_role("link", name="Connect a model" if title == "Model" else f"Connect {title}").click()
        yield tab
    finally:
        await context.close()
        await program.kill()


async def gives(tab: Tab, label: str, value: str) -> None:
    await fills(tab, label, value)
    await tab.get_by_role("button", name="Go on").click()


async def fills(tab: Tab, label: str, value: str) -> None:
    field = tab.get_by_label(label)
    await expect(field).to_have_attribute("type", "password")
    await field.fill(value)


async def leaves(tab: Tab, label: str, value: str, trouble: str) -> None:
    """Fill in a field and leave it, after which it is told what is wrong with it."""
    await fills(tab, label, value)
    await tab.get_by_label(label).blur()
    await expect(tab.get_by_label(label)).to_have_attribute("aria-invalid", "true" if trouble else "false")
    alerts = tab.get_by_role("alert")
    await (expect(alerts).to_contain_text(trouble) if trouble else expect(alerts).to_have_count(0))


async def gives_all(tab: Tab, tokens: Mapping[str, str]) -> None:
    """Fill in the form of a platform."""
    for name, token in tokens.items():
        await fills(tab, ASKED[name], token)
    await tab.get_by_role("button", name="Go on").click()


@pytest.mark.in_turn("platform", [*PLATFORMS])
async def test_an_owner_connects_a_platform_in_the_browser(browser: Browser, tmp_path: Path, platform: str) -> None:
    async with PLATFORMS[platform]() as there, OpenAiEmulator(lambda _: says("It is 391.")) as model:
        ann = there.emulator.person("Ann <img src=x onerror=alert(1)>", language="en")
        chat = there.emulator.private(ann)
        answering = {"PARLEY_MODEL": "test-model", "OPENAI_BASE_URL": model.base_url}
        program = Program(tmp_path, {**answering, "PARLEY_WEB_PORT": "0", **there.environ})
        program.forked = True
        async with guide(browser, program, there.title) as tab:
            link = tab.get_by_role("link", name=f"Open {there.title}")
            await expect(link).to_have_attribute("href", re.compile(re.escape(there.link)))
            first, *_ = there.tokens
            pasted, owner = OF_ANOTHER.get(platform, OF_ANOTHER["telegram"])
            await leaves(tab, ASKED[first], pasted, f"looks like a token or key of {owner}")
            await accessible(tab)
            await leaves(tab, ASKED[first], there.tokens[first], "")
            await gives_all(tab, there.tokens)
            await expect(tab.get_by_text("I am waiting for it")).to_be_visible()
            await chat.says(ann, "hello")
            await expect(tab.get_by_text("Is that you?")).to_contain_text(there.principal(ann.id))
            assert await tab.locator("main img").count() == 0
            await tab.get_by_role("button", name="Yes").click()
            await expect(tab.get_by_text(f"is connected on {there.title}")).to_be_visible()
            content = await tab.content()
            assert [token for token in there.tokens.values() if token in content] == []

            await chat.until(lambda c: any("You are my owner now" in text for text in c.screen))
            await chat.says(ann, "what is 17 * 23?")
            await chat.until(lambda c: any("391" in text for text in c.screen))
            assert f"PARLEY_OWNERS={there.principal(ann.id)}\n" in (program.home / ".env").read_text()


async def test_tokens_that_are_wrong_expired_or_revoked_are_named_and_a_scope_is_left_for_later(
    browser: Browser, tmp_path: Path
) -> None:
    async with connecting.slack() as there:
        slack = cast("SlackEmulator", there.emulator)
        slack.scopes.discard("files:write")
        bot, app = there.tokens.values()
        program = Program(tmp_path, {**SILENT, "PARLEY_WEB_PORT": "0", **there.environ})
        program.forked = True
        async with guide(browser, program, there.title) as tab:
            await gives_all(tab, {"SLACK_BOT_TOKEN": "xoxb-1-2-wrong", "SLACK_APP_TOKEN": app})
            await refused(tab, "invalid_auth")
            for reason in ("token_expired", "token_revoked"):
                slack.refuse(reason)
                await gives(tab, ASKED["SLACK_BOT_TOKEN"], bot)
                await refused(tab, reason)
            slack.refuse("")
            await gives(tab, ASKED["SLACK_BOT_TOKEN"], bot)
            await expect(tab.get_by_text("lacks the scope files:write")).to_contain_text("OAuth & Permissions")
            await tab.get_by_role("button", name="Check again").click()
            await tab.get_by_role("button", name="Go on without").click()
            await expect(tab.get_by_text("I am waiting for it")).to_be_visible()
        assert not (program.home / ".env").exists()


SLOW_ANSWERS = """() => {
    const json = Response.prototype.json
    const wait = new Promise((resolve) => { window.goOn = resolve })
    Response.prototype.json = async function () { await wait; return json.call(this) }
}"""


async def test_the_check_of_a_field_says_nothing_on_the_step_that_follows(browser: Browser, tmp_path: Path) -> None:
    async with connecting.slack() as there:
        app = there.tokens["SLACK_APP_TOKEN"]
        program = Program(tmp_path, {**SILENT, "PARLEY_WEB_PORT": "0", **there.environ})
        async with guide(browser, program, there.title) as tab:
            await tab.evaluate(SLOW_ANSWERS)
            await gives_all(tab, {"SLACK_BOT_TOKEN": "xoxb-1-2-wrong", "SLACK_APP_TOKEN": app})
            await refused(tab, "invalid_auth")
            await tab.evaluate("async () => { window.goOn(); await new Promise(setTimeout) }")
            await refused(tab, "invalid_auth")


async def test_an_app_with_slacks_agent_view_is_chosen_by_a_button(browser: Browser, tmp_path: Path) -> None:
    async with connecting.slack() as there:
        program = Program(tmp_path, {**SILENT, "PARLEY_WEB_PORT": "0", **there.environ})
        async with guide(browser, program, there.title) as tab:
            await expect(tab.get_by_text("cannot go back")).to_be_visible()
            await tab.get_by_role("button", name="Agent view").click()
            link = tab.get_by_role("link", name=f"Open {there.title}")
            await expect(link).to_have_attribute("href", re.compile("agent_view"))
            await expect(tab.get_by_role("button", name="Agent view")).to_have_count(0)
            await gives_all(tab, there.tokens)
            await expect(tab.get_by_text("I am waiting for it")).to_be_visible()


async def test_a_press_while_a_step_is_checked_is_for_the_step_that_follows(browser: Browser, tmp_path: Path) -> None:
    asked, may_go = asyncio.Event(), asyncio.Event()

    async def held(route: Route) -> None:
        asked.set()
        await may_go.wait()
        await route.continue_()

    async with connecting.slack() as there:
        cast("SlackEmulator", there.emulator).scopes.discard("files:write")
        program = Program(tmp_path, {**SILENT, "PARLEY_WEB_PORT": "0", **there.environ})
        async with guide(browser, program, there.title) as tab:
            await gives_all(tab, there.tokens)
            await expect(tab.get_by_text("lacks the scope files:write")).to_be_visible()
            await tab.route("**/admin/form/connect/*", held)
            await tab.get_by_role("button", name="Check again").click()
            await asked.wait()
            press = asyncio.create_task(tab.get_by_role("button", name="Go on without").click())
            await expect(tab.locator("article[inert]")).to_be_visible()
            may_go.set()
            await press
            await expect(tab.get_by_text("I am waiting for it")).to_be_visible()


async def refused(tab: Tab, reason: str) -> None:
    alert = tab.get_by_role("alert")
    await expect(alert).to_contain_text(f"rejects the bot token ({reason})")
    await expect(alert).to_contain_text("copy the Bot User OAuth Token again from")


async def test_an_owner_connects_a_model_in_the_browser(browser: Browser, tmp_path: Path) -> None:
    async with OpenAiEmulator(lambda _: says("I am the new one."), api_key=KEY) as model:
        program = Program(tmp_path, {"PARLEY_WEB_PORT": "0"})
        program.forked = True
        async with guide(browser, program, "Model") as tab:
            await tab.get_by_label("Where is the model?").select_option("server")
            await tab.get_by_role("button", name="Go on").click()
            await tab.get_by_label("The address of the server").fill(model.base_url)
            await tab.get_by_label("The name of the model").fill("test-model")
            for key, outcome in (("sk-of-somebody-else-99", "refuses the key"), (KEY, "test-model answered within")):
                await gives(tab, "Its key", key)  # the other fields keep what was entered
                await expect(tab.locator("#content")).to_contain_text(outcome)
            await expect(tab.get_by_text("Use this model?")).to_be_visible()
            await tab.get_by_role("button", name="Yes").click()
            await expect(tab.locator("#content")).to_contain_text("The running Parley uses it")
            assert KEY not in await tab.content()
            await tab.goto(tab.url.partition("/admin")[0])
            await tab.get_by_label("Message").fill("who are you?")
            await tab.keyboard.press("Enter")
            await expect(tab.get_by_role("log")).to_contain_text("I am the new one.")
