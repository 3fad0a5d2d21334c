"""A running Parley with the admin pages: a browser's tab and an HTTP client, let in as the person at the machine."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import ClientSession
from msgspec.structs import replace
from playwright.async_api import Browser
from playwright.async_api import Page as Tab

from channels.base import ChatKey, Sender
from channels.web.adapter import WebChannel
from channels.web.config import Config
from channels.web.conversation import Past
from channels.web.routes import routes_of
from channels.web.visitor import Visitor
from gateway.admin.desk import Desk
from gateway.admin.pages import AdminPages
from gateway.admin.screen import Screen, Visit
from gateway.app.operation import Operation
from gateway.app.plugin_routes import paths_of, scripts_of
from gateway.app.screens import desk_of
from gateway.permissions.membership import By
from gateway.permissions.roles import Role
from gateway.store.person import Account
from gateway.texts.about import About
from gateway.web.operation import OperatorRoutes
from gateway.web.page import page_history
from gateway.web.server import HttpServer
from tests.entering import let_in, page_server, signed_in
from tests.gateway.bot import Bot, BotOptions
from tests.page_server import MemoryListing, no_detail

ABOUT = About(model="scripted", why="a test", is_ai=True, version="0")

LOADED = (
    "new Promise(done => document.readyState === 'complete' ? done(null)"
    " : addEventListener('load', () => done(null), {once: true}))"
)
"""Waits in a tab until everything of its page is there."""


@dataclass
class AdminWorld:
    """A bot that Ann owns on the in-memory platform, and its page."""

    bot: Bot
    server: HttpServer
    desk: Desk
    pages: AdminPages

    @contextmanager
    def with_screen(self, screen: Screen) -> Iterator[None]:
        """Show one more screen while the context is open."""
        with self.pages.open(lambda: replace(self.desk, screens=(*self.desk.screens, screen))):
            yield

    @asynccontextmanager
    async def tab(
        self,
        browser: Browser,
        path: str,
        *,
        language: str = "en-GB",
        width: int = 1100,
        dark: bool = False,
        expected: str = "\n",
    ) -> AsyncIterator[Tab]:
        """Open a screen in a tab; fails if its console shows an error other than those with the expected words."""
        context = await browser.new_context(
            locale=language,
            viewport={"width": width, "height": 800},
            timezone_id="UTC",
            color_scheme="dark" if dark else "light",
        )
        context.set_default_timeout(30_000)
        wrong: list[str] = []
        tab = await context.new_page()
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on(
            "console",
            lambda line: wrong.append(line.text) if line.type == "error" and expected not in line.text else None,
        )
        await let_in(context, self.server.link)
        await self.opens(tab, path)
        yield tab
        await context.close()
        assert wrong == []

    async def opens(self, tab: Tab, path: str) -> None:
        """Go to a screen in a tab. The page comes empty and asks for itself: until that has come with its styles and
        scripts, it is not there."""
        await tab.goto(f"{self.server.url}admin/{path}")
        await tab.locator("#content").wait_for()
        await tab.evaluate(LOADED)

    async def seen_by_admin(self, path: str, principal: str = "memory:carl", **query: str) -> str:
        """Make somebody an admin, and return a screen as they see it. `path` is the name, or `name/item`."""
        owner = By(ChatKey(platform="web", account="local", chat="main"), Sender(id="local", name="You"))
        await self.bot.made.people.membership.give(owner, Account(principal), Role.ADMIN)
        name, _, item = path.partition("/")
        visitor = Visitor(principal, principal.rpartition(":")[2].title())
        visit = Visit(visitor, visitor.sender("You"), Role.ADMIN, "en", item, query, f"/admin/{path}")
        screen = self.desk.screen(name)
        assert screen is not None
        return self.desk.templates.page(visit, await screen.view(visit), screen=name)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[ClientSession]:
        """Yield a client that is signed in."""
        async with signed_in(self.server) as client:
            yield client


@asynccontextmanager
async def admin_world(home: Path, *turns: object, **how: object) -> AsyncIterator[AdminWorld]:
    """Start a bot that answers these turns, with its page."""

    async def history(chat: ChatKey, before: str) -> Past:
        return await page_history(bot.made.base.store, chat, before)

    web = WebChannel(Config(), history=history, listing=MemoryListing(), detail=no_detail, uploads=home / "uploads")
    bot = Bot(home, turns, BotOptions(beside=(web,), **how))  # type: ignore[arg-type]
    pages = AdminPages()
    await bot.start()
    web.listing = bot.made.base.store.conversations
    kinds, operation = bot.made.base.system.plugins.kinds, Operation()
    operator = OperatorRoutes(operation, paths_of(kinds), scripts=scripts_of(kinds))
    routes = [*routes_of(web), *pages.routes(), *operator.guarded_routes()]
    server = page_server(bot.made.base.store, routes, about=lambda: ABOUT, scripts=operator.scripts)
    await server.start()
    try:
        desk = desk_of(bot.made, "You")
        serving = bot.made.serving
        with pages.open(lambda: desk), operation.of(serving.readiness, serving.routes):
            yield AdminWorld(bot, server, desk, pages)
    finally:
        await web.close()
        await server.close()
        await bot.stop()
