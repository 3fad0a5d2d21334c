"""The page's channel and the server that it is on, put together. Imported by name, and only where there is a page."""

from agent_core.clock import Clock
from channels.base import ChatKey
from channels.web.adapter import WebChannel
from channels.web.shown import Shown
from gateway.about import About
from gateway.history import shown_on_the_page
from gateway.http import HttpServer
from gateway.settings import Settings
from gateway.store.store import Store


def open_page(settings: Settings, about: About, store: Store, clock: Clock) -> tuple[WebChannel, HttpServer]:
    """Neither listens yet."""

    async def history(chat: ChatKey) -> list[Shown]:
        return shown_on_the_page(await store.screen(chat))

    web = WebChannel(settings.web, history=history, uploads=settings.home / "uploads", now=clock.time)
    return web, HttpServer(web.routes(), about=lambda: about, home=settings.home, port=settings.web.port)
