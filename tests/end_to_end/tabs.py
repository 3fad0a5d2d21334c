"""A browser tab on the page, and common actions in it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, BrowserContext, Route, expect
from playwright.async_api import Page as Tab

from channels.base import (
    Accepted,
    Button,
    InboundEvent,
    MessageReceived,
    OutboundMessage,
)
from tests.entering import let_in
from tests.page_server import Page

STOP = ((Button(label="Stop", action="/stop"),),)


@asynccontextmanager
async def shown(
    page: Page, browser: Browser, *, language: str = "en-GB", width: int = 1100, zone: str = "UTC"
) -> AsyncIterator[tuple[Tab, BrowserContext]]:
    """Open a tab that is logged in by the link; fails if its console shows an error."""
    context = await browser.new_context(
        locale=language, viewport={"width": width, "height": 800}, has_touch=width < 500, timezone_id=zone
    )
    context.set_default_timeout(30_000)
    wrong: list[str] = []
    tab = await context.new_page()
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda line: wrong.append(line.text) if "Content Security" in line.text else None)
    await let_in(context, page.server.link)
    await tab.goto(page.server.url)
    await expect(tab.locator("#model")).not_to_be_empty()
    yield tab, context
    await context.close()
    assert wrong == []


def text(markdown: str) -> OutboundMessage:
    return OutboundMessage(markdown=markdown)


async def echo(page: Page, event: InboundEvent) -> Accepted:
    if isinstance(event, MessageReceived):
        await page.channel.send(event.chat, text(f"You said: {event.text}"), event.event_id)
    return Accepted.NEW


def echoing(page: Page) -> None:
    async def answer(event: InboundEvent) -> Accepted:
        return await echo(page, event)

    page.answer = answer


class Slow:
    """Keeps the answers to the requests of a tab until they are let go."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.go_on = asyncio.Event()

    async def __call__(self, route: Route) -> None:
        self.arrived.set()
        await self.go_on.wait()
        await route.continue_()


async def write(tab: Tab, words: str) -> None:
    await tab.get_by_label("Message").fill(words)
    await tab.keyboard.press("Enter")
