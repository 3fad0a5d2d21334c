"""The routes for an operator's tools, beside a bot."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from gateway.app.chosen_plugins import own_plugins
from gateway.app.operation import Operation
from gateway.app.plugin_routes import paths_of
from gateway.plugin import Plugin
from gateway.web.address import Address
from gateway.web.operation import OperatorRoutes
from tests.entering import opened_store, page_server
from tests.gateway.bot import Bot
from tests.page_server import PLAYED


@asynccontextmanager
async def watched(
    bot: Bot | None,
    folder: Path,
    plugins: Iterable[type[Plugin]] | None = None,
    address: Address | None = None,
    **how: Any,
) -> AsyncIterator[ClientSession]:
    """Serve the routes beside a bot, or while it starts if there is none. `plugins` are ours if None.

    `address` says where others reach the page and the routes; None: only this machine does. `how` is for the server.
    """
    address = address or Address()
    operation = Operation()
    paths = paths_of(own_plugins() if plugins is None else plugins)
    async with opened_store(folder) as store:
        routes = OperatorRoutes(operation, paths, address).routes()
        server = page_server(store, [], public_routes=routes, about=lambda: PLAYED, address=address, **how)
        await server.start()
        try:
            async with ClientSession(f"http://127.0.0.1:{server.port}/") as client:
                if bot is None:
                    yield client
                    return
                with operation.of(bot.made.serving.readiness, bot.made.serving.routes):
                    yield client
        finally:
            await server.close()
