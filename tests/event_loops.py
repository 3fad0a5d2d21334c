"""The event loops that Parley runs on: that of asyncio, and uvloop where it is installed.

Tests marked `both_loops` run on each of them; the others on that of asyncio.
"""

import asyncio
import importlib
from collections.abc import Callable, Mapping
from importlib.util import find_spec

import pytest

MakeLoop = Callable[[], asyncio.AbstractEventLoop]

USUAL: dict[str, MakeLoop] = {"asyncio": asyncio.new_event_loop}
ALL = USUAL | ({"uvloop": importlib.import_module("gateway.app.uv_loop").UvLoop} if find_spec("uvloop") else {})


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, MakeLoop]:
    return ALL if item.get_closest_marker("both_loops") else USUAL
