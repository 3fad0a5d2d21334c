"""A real headless Chromium for tests of the page."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright, expect

CHROMIUM = Path(os.environ.get("PARLEY_CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Starting a process costs a quarter of a second of CPU: without these each tab has three of its own.
    "--in-process-gpu",
    "--disable-site-isolation-trials",
    "--renderer-process-limit=1",
]

expect.set_options(timeout=30_000)  # as every other wait: a limit for hangs, not a measurement

NEEDS_BROWSER = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(
        not CHROMIUM.exists() and os.environ.get("PARLEY_REQUIRE_BROWSER") != "1",
        reason=f"there is no browser at {CHROMIUM}; install chromium or set PARLEY_CHROMIUM",
    ),
]
"""Marks for modules that need a browser. With PARLEY_REQUIRE_BROWSER=1 its absence is a failure, not a skip."""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        await started.close()
