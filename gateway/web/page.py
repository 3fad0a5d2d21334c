"""Builds the web page's channel and its server. Imported by name, and only if the page is enabled."""

from collections.abc import Callable
from functools import partial

from agent_core.clock import Clock
from channels.web.adapter import WebChannel
from gateway.settings.settings import Settings
from gateway.store.store import Store
from gateway.texts.about import About
from gateway.web.history import page_history
from gateway.web.server import HttpServer


def open_page(
    settings: Settings, about: About, store: Store, clock: Clock, link_changed: Callable[[str], None]
) -> tuple[WebChannel, HttpServer]:
    """Return the web channel and its HTTP server, neither of them listening yet.

    `link_changed` is called with a new sign-in link each time one has been used.
    """
    history = partial(page_history, store)
    web = WebChannel(settings.web, history=history, uploads=settings.home / "uploads", now=clock.time)
    server = HttpServer(
        web.routes(), about=lambda: about, home=settings.home, port=settings.web.port, link_changed=link_changed
    )
    return web, server
