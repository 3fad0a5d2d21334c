"""The page's channel and the server that it is on, put together. Imported by name, and only where there is a page."""

from functools import partial

from agent_core.clock import Clock
from channels.web.adapter import WebChannel
from gateway.about import About
from gateway.history import page_history
from gateway.http import HttpServer
from gateway.settings import Settings
from gateway.store.store import Store


def open_page(settings: Settings, about: About, store: Store, clock: Clock) -> tuple[WebChannel, HttpServer]:
    """Neither listens yet."""
    history = partial(page_history, store)
    web = WebChannel(settings.web, history=history, uploads=settings.home / "uploads", now=clock.time)
    return web, HttpServer(web.routes(), about=lambda: about, home=settings.home, port=settings.web.port)
