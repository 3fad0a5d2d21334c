"""Contains the failures of screens: each is logged, and the visitor is told of it with its code in the log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import structlog
from aiohttp import web

from gateway.admin.screen import NoSuchItem
from gateway.records.plugin_failures import PluginFailures

WAITS = 30.0
"""Longest time in seconds for a screen of a plugin."""

log = structlog.get_logger(__name__)


class ScreenFailed(Exception):
    """A screen failed, which was logged under the code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@asynccontextmanager
async def watched(screen: str, plugin: str | None, failures: PluginFailures) -> AsyncIterator[None]:
    """Watch over the work of a screen; `plugin` is the one that has added it. Raises ScreenFailed, and what it may."""
    try:
        async with asyncio.timeout(WAITS if plugin else None):
            yield
    except (NoSuchItem, web.HTTPException):
        raise
    except (Exception, SystemExit) as error:
        code = uuid4().hex[:8]
        log.error("a screen failed", screen=screen, plugin=plugin or "", code=code, exc_info=error)  # noqa: TRY400
        if plugin is not None:
            failures.keep(plugin, f"/admin/{screen}", error)
        raise ScreenFailed(code) from error
