"""Tests of plugins, with a Parley in memory: a platform whose user the test is, and a model that follows a script.

In pyproject.toml, `addopts = "-p parley.testing"` and `asyncio_mode = "auto"` below `[tool.pytest.ini_options]` give
tests the fixture `start_bot`. The extra `parley[testing]` installs what this needs.
"""

from agent_core.clock import SystemClock
from agent_core.models.scripted import Call, Calls, CutOff, Failure, ScriptedLlm, Thinks, Waits, calls
from channels.memory import MemoryChannel, user
from gateway.permissions.roles import People
from parley.testing.bot import PEOPLE, Bot, BotOptions
from parley.testing.clocks import HandClock, OffsetClock
from parley.testing.fixtures import StartBot, start_bot

__all__ = [
    "PEOPLE",
    "Bot",
    "BotOptions",
    "Call",
    "Calls",
    "CutOff",
    "Failure",
    "HandClock",
    "MemoryChannel",
    "OffsetClock",
    "People",
    "ScriptedLlm",
    "StartBot",
    "SystemClock",
    "Thinks",
    "Waits",
    "calls",
    "start_bot",
    "user",
]
