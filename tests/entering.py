"""The page's server with a real store, and clients and tabs that sign in at it by a link."""

import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

from aiohttp import ClientSession, CookieJar, web
from playwright.async_api import BrowserContext
from playwright.async_api import Page as Tab

from agent_core.clock import SystemClock, new_id
from channels.web.visitor import Visitor
from gateway.store.store import Store
from gateway.web.access import TOKEN, PageAccess
from gateway.web.address import Address
from gateway.web.links import Links
from gateway.web.server import HttpServer
from gateway.web.sessions import BrowserSessions

FOLDER = "browsers"
"""Folder of the store, beside what a test looks at."""
LINK = re.compile(r"https?://[\w.:]+/\?token=\S+")


@dataclass
class Guests:
    """The rights of a gateway that knows these people. Empty: everybody may enter."""

    welcome: set[str] | None = None
    records: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    """Links for the console after the first."""
    are_known: bool = True

    def may_enter(self, visitor: Visitor) -> bool:
        return self.welcome is None or visitor.principal in self.welcome

    def record(self, principal: str, what: str, **facts: str) -> None:
        self.records.append((principal, what, facts))

    def link_used(self, link: str) -> None:
        self.links.append(link)


def page_server(
    store: Store,
    routes: Iterable[web.RouteDef],
    *,
    guests: Guests | None = None,
    address: Address | None = None,
    now: Callable[[], float] = time,
    **how: Any,
) -> HttpServer:
    """Return a server that does not listen yet; `how` is for the server itself."""
    rights = guests or Guests()
    access = PageAccess(
        BrowserSessions(store.browsers, now),
        Links(now, store.page_links),
        rights,
        address=address or Address(),
        now=now,
        link_used=lambda: rights.link_used(server.link),
    )
    server = HttpServer(routes, access=access, **{"port": 0, **how})
    return server


@asynccontextmanager
async def opened_store(home: Path) -> AsyncIterator[Store]:
    folder = home / FOLDER
    folder.mkdir(exist_ok=True, parents=True)
    async with Store.open(folder, SystemClock(), new_id) as store:
        yield store


async def sign_in(client: ClientSession, link: str) -> None:
    """Press the button that a link shows; from then on the client brings the token of its browser."""
    base, _, token = link.partition("?token=")
    async with client.get(link) as shown:
        assert shown.status == 200, await shown.text()
    async with client.post(f"{base}sign-in", data={"token": token}, allow_redirects=False) as answer:
        assert answer.status == 200, await answer.text()
        client.headers[TOKEN] = kept(await answer.text(), "token")


def kept(page: str, key: str) -> str:
    """Return one of the keys that a browser keeps when it signs in."""
    found = re.search(rf'data-{key}="([^"]+)"', page)
    assert found, page
    return found[1]


@asynccontextmanager
async def signed_in(server: HttpServer, link: str = "") -> AsyncIterator[ClientSession]:
    """Yield a client that is signed in by the console's link, or by another one."""
    link = link or server.link
    async with ClientSession(link.partition("?")[0], cookie_jar=CookieJar(unsafe=True)) as client:
        await sign_in(client, link)
        yield client


async def let_in(browser: BrowserContext, link: str) -> None:
    """Sign a browser in by a link without opening a tab, which takes half as long as `enter`."""
    base, _, token = link.partition("?token=")
    answer = await browser.request.post(f"{base}sign-in", form={"token": token})
    page = await answer.text()
    assert answer.ok, page
    keeps = "".join(f"localStorage.setItem('parley.{key}', '{kept(page, key)}');" for key in ("token", "ticket"))
    await browser.add_init_script(f"if (`${{location.origin}}/` === '{base}') {{ {keeps} }}")


async def enter(tab: Tab, link: str) -> None:
    """Open a link in a tab and press its button."""
    await tab.goto(link)
    await tab.get_by_role("button").click()
    await tab.wait_for_url(lambda url: "token=" not in url and "sign-in" not in url)
