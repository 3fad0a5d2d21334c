"""The switch on the page: pressed, the device is told while the page is closed; pressed again, it is not."""

import json
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.test_page_phone import NOTIFIED
from tests.entering import let_in
from tests.plugins.push.push_server import Phone
from tests.plugins.push.telling import Told, told_world
from tests.plugins.push.test_what_is_told import nothing_more, reports
from tests.process import until

pytestmark = NEEDS_BROWSER

DEVICE = """
const device = (endpoint) =>
  endpoint && { endpoint, toJSON: () => PHONE, unsubscribe: async () => (localStorage.removeItem("device"), true) };
PushManager.prototype.getSubscription = async () => device(localStorage.getItem("device"));
PushManager.prototype.subscribe = async (how) => {
  window.wanted = how;
  localStorage.setItem("device", PHONE.endpoint);
  return device(PHONE.endpoint);
};
"""
"""A browser whose push service is the one of the test: a real one needs the internet."""


async def opened(told: Told, context: BrowserContext, phone: Phone) -> Page:
    """Open the page on that device."""
    context.set_default_timeout(30_000)
    await context.add_init_script(f"const PHONE = {json.dumps(phone.subscription)};{DEVICE}")
    await let_in(context, told.world.server.link)
    tab = await context.new_page()
    await tab.goto(told.world.server.url)
    await told.is_known_to_look(looked=True)
    return tab


async def leaves(told: Told, tab: Page) -> None:
    """Go away from the page."""
    await tab.goto("about:blank")
    await told.is_known_to_look(looked=False)


async def delivered(tab: Page, shown: dict[str, str]) -> None:
    """Hand the page's worker what the push service has brought."""
    wire = await tab.context.new_cdp_session(tab)
    found: list[str] = []
    wire.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda told: found.extend(each["registrationId"] for each in told["registrations"]),
    )
    await wire.send("ServiceWorker.enable")
    await tab.wait_for_function("navigator.serviceWorker.controller || navigator.serviceWorker.ready")
    await until(lambda: found)
    origin = await tab.evaluate("location.origin")
    message = {"origin": origin, "registrationId": found[0], "data": json.dumps(shown)}
    await wire.send("ServiceWorker.deliverPushMessage", message)


async def test_a_press_lets_the_device_be_told_and_another_one_ends_it(browser: Browser, tmp_path: Path) -> None:
    async with told_world(tmp_path) as told:
        async with told.client.get("/push") as answer:
            phone = told.service.phone((await answer.json())["key"])
        context = await browser.new_context(locale="en-GB")
        await context.grant_permissions(["notifications"])
        tab = await opened(told, context, phone)
        switch = tab.get_by_role("switch", name="Tell me on this device")
        await expect(switch).to_have_attribute("aria-checked", "false")
        assert await tab.evaluate("window.wanted") is None  # nothing is asked for without a press
        await switch.click()
        await expect(switch).to_have_attribute("aria-checked", "true")
        assert (await tab.evaluate("window.wanted"))["userVisibleOnly"] is True
        await accessible(tab)

        await reports(told, "while it is looked at", 1)
        await nothing_more(told)
        assert told.service.asked == 0
        await leaves(told, tab)
        await reports(told, "Your **report**", 2)
        await told.service.until(1, phone)

        await tab.goto(told.world.server.url)
        await delivered(tab, phone.got[0])
        assert await tab.evaluate(NOTIFIED, 1) == [["Your report", "main"]]

        async with tab.expect_response(lambda answer: answer.request.method == "DELETE"):
            await switch.click()
        await expect(switch).to_have_attribute("aria-checked", "false")
        await leaves(told, tab)
        await reports(told, "not any more", 3)
        await nothing_more(told)
        assert len(phone.got) == 1
        await context.close()


async def test_a_device_on_which_somebody_else_signs_in_is_not_told_what_was_for_the_one_before(
    browser: Browser, tmp_path: Path
) -> None:
    async with told_world(tmp_path) as told:
        context = await browser.new_context(locale="en-GB")
        await context.add_init_script(
            "localStorage.getItem('device') ?? localStorage.setItem('device', 'https://push')"
        )
        tab = await opened(told, context, Phone("", ""))
        switch = tab.get_by_role("switch", name="Tell me on this device")
        await expect(switch).to_have_attribute("aria-checked", "false")
        assert await tab.evaluate("localStorage.getItem('device')") is None
        await context.close()


async def test_a_browser_without_a_push_service_says_what_that_means(browser: Browser, tmp_path: Path) -> None:
    async with told_world(tmp_path) as told:
        for language, name, says in (
            ("en-GB", "Tell me on this device", "You are told while a tab is open."),
            ("zh-CN", "在此设备上通知我", "只要有标签页打开"),
        ):
            context = await browser.new_context(locale=language)
            await context.grant_permissions(["notifications"])
            tab = await opened(told, context, Phone("", ""))
            await tab.evaluate("() => { PushManager.prototype.subscribe = () => Promise.reject(new Error('none')); }")
            switch = tab.get_by_role("switch", name=name)
            await switch.click()
            await expect(tab.get_by_text(says)).to_be_visible()
            await expect(switch).to_have_attribute("aria-checked", "false")
            await context.close()
