"""The tool `run_command`: runs programs in the chat's workspace, sandboxed."""

import asyncio
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from agent_core.messages import JsonObject
from agent_core.sandbox.command import Command, Sandbox
from agent_core.sandbox.limits import CommandLimits
from agent_core.tool_result import ToolResult
from agent_core.tools.programs.outcome import outcome
from agent_core.tools.tool import FunctionTool, Tool, ToolContext, ToolFailed, Traits

MOST_SECONDS = 600

COMMAND = Traits(execution="sequential", retry="never", timeout_s=None, acts="exec")
"""No timeout here, because the sandbox limits the time."""


class CommandTool(FunctionTool):
    """A tool for commands. Its label shows the arguments in full, quoted and without invisible characters, because
    users are asked to approve it."""

    def describe(self, arguments: JsonObject) -> str:
        quoted = {key: _quoted(value) for key, value in {**self._defaults(), **arguments}.items()}
        try:
            return self.spec.label.format(**quoted).strip()
        except (KeyError, IndexError, ValueError):
            return self.name


def run_command_tool(sandbox: Sandbox, *, limits: CommandLimits | None = None, network: bool = False) -> Tool:
    """Return the tool `run_command`; `limits.seconds` is the default time limit of a call."""
    usual = limits or CommandLimits()
    default = round(usual.seconds)

    async def run_command(argv: list[str], context: ToolContext, seconds: int = default) -> ToolResult:
        allowed = min(max(1, seconds), MOST_SECONDS)
        workspace = await asyncio.to_thread(workspace_of, context)
        command = Command(
            argv=checked(argv),
            workspace=workspace,
            env={"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            network=network,
            limits=replace(usual, seconds=allowed),
        )
        return await outcome(sandbox, command, context, "run_command")

    reach = "" if network else " There is no network."
    run_command.__doc__ = f"""Run a program in the workspace. For a shell: ["sh", "-c", "..."].{reach}"""
    return CommandTool(run_command, replace(COMMAND, label="Running {argv}"))


def as_typed(words: Iterable[str]) -> str:
    """Return the shell command line of these words, in the shorter quotes for readability."""
    return " ".join(min(_ways_to_type(word), key=len) for word in words)


def _ways_to_type(word: str) -> Iterator[str]:
    yield shlex.quote(word)
    if "'" in word and "!" not in word:  # an interactive shell would expand "!" from its history
        yield '"' + re.sub(r'(["$`\\])', r"\\\1", word) + '"'


def checked(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments. Raises ToolFailed if no program could receive them."""
    if not argv or not argv[0]:
        raise ToolFailed("argv names no program", 'call it again, as in ["python3", "chart.py"]')
    try:
        whole = os.fsencode("".join(argv))
    except UnicodeEncodeError:
        whole = b"\0"
    if b"\0" in whole:
        raise ToolFailed("argv holds a character that no argument can have", "call it again without it")
    return tuple(argv)


def workspace_of(context: ToolContext) -> Path:
    """Return the workspace, created if missing and with links resolved, as commands need it."""
    context.workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    return context.workspace.resolve()


def _quoted(value: JsonValue | tuple[str, ...]) -> str:
    line = as_typed(map(str, value if isinstance(value, list | tuple) else [value]))
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
