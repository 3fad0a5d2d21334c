"""Builds the agents' tools, as far as this machine and the settings allow."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from agent_core.clock import Clock
from agent_core.sandbox.command import Launcher
from agent_core.sandbox.process import ProcessSandbox
from agent_core.skills.installed import FOLDER as INSTALLED
from agent_core.skills.installed import InstalledSkills
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import FILE, Origin
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.shell import run_command_tool
from agent_core.tools.skills import run_skill_script_tool
from agent_core.tools.tool import Tool
from agent_core.tools.web.providers import make_searcher
from agent_core.tools.web.search import Searcher
from agent_core.tools.web.tools import web_tools
from gateway.errors import SettingsError
from gateway.security.packages import ROOT
from gateway.settings.current import CurrentSettings
from gateway.settings.settings import Settings

RESERVED = frozenset(
    [
        "find_tools",
        "forget",
        "jobs",
        "nothing_to_report",
        "own_usage",
        "read_history",
        "recall",
        "remember",
        "run_command",
        "run_skill_script",
        "schedule",
        "send_file",
        "task",
        "web_fetch",
        "web_search",
    ]
)
"""Names that no MCP server may use, even while the built-in tool is missing: permission rules refer to them."""


def tools_for(
    current: CurrentSettings, clock: Clock, launcher: Launcher | None, *, vision: Callable[[], bool]
) -> Iterator[Tool]:
    """Yield the tools that need no gateway. Without a launcher none of them runs programs. Raises SettingsError."""
    settings = current.now
    yield from builtin_tools(clock, lambda: current.zone, vision=vision)
    yield from web_tools(searcher=searcher_of(settings))
    if launcher is not None:
        sandbox = ProcessSandbox(launcher, clock)
        uv = shutil.which("uv")
        network, limits = settings.commands_network, current.limits_of_a_command
        yield run_command_tool(sandbox, limits=limits, network=network)
        yield run_skill_script_tool(sandbox, limits=limits, network=network, uv=Path(uv) if uv else None)


def digest_of(library: SkillLibrary) -> str:
    """Return a digest of the skills with their instructions. Blocks."""
    told = hashlib.sha256()
    for skill in sorted(library.skills, key=lambda each: each.name):
        told.update(skill.name.encode())
        with suppress(OSError):  # deleted just now
            told.update((skill.folder / FILE).read_bytes())
    return told.hexdigest()[:8]


def skill_library(settings: Settings) -> SkillLibrary:
    """Return the skills shared by all chats: the owner's, then those shipped with Parley, then installed ones."""
    roots = (settings.home / "skills", Origin.OWNER), (ROOT / "skills", Origin.SHIPPED)
    return SkillLibrary(roots, environ=settings.environ, installed=InstalledSkills(settings.home / INSTALLED))


def searcher_of(settings: Settings) -> Searcher | None:
    """Return the configured web search, or None. Raises SettingsError."""
    keys = settings.environ
    try:
        return make_searcher(
            settings.search or "", brave_key=keys.get("BRAVE_API_KEY", ""), tavily_key=keys.get("TAVILY_API_KEY", "")
        )
    except ValueError as error:
        raise SettingsError(f"PARLEY_SEARCH cannot be used: {error}.") from error
