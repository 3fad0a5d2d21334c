"""Running programs in the chat's workspace, shut in."""

import asyncio
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from agent_core.builtin.programs.outcome import outcome
from agent_core.messages import JsonObject
from agent_core.sandbox.command import Command, Limits, Sandbox
from agent_core.tool_result import ToolResult
from agent_core.tools import FunctionTool, Tool, ToolContext, ToolFailed, Traits

MOST_SECONDS = 600

COMMAND = Traits(execution="sequential", retry="never", timeout_s=None, acts="exec", untrusted=True)
"""The sandbox has limits of time of its own."""


class CommandTool(FunctionTool):
    """Its label shows the call's arguments whole and quoted, with nothing invisible in them, because people are asked
    whether it may be run."""

    def describe(self, arguments: JsonObject) -> str:
        quoted = {key: _quoted(value) for key, value in {**self._defaults(), **arguments}.items()}
        try:
            return self.spec.label.format(**quoted).strip()
        except (KeyError, IndexError, ValueError):
            return self.name


def run_command_tool(sandbox: Sandbox, *, limits: Limits | None = None, network: bool = False) -> Tool:
    """`run_command`; `limits.seconds` are those of a call that does not ask for others."""
    usual = limits or Limits()
    default = round(usual.seconds)

    async def run_command(argv: list[str], context: ToolContext, seconds: int = default) -> ToolResult:
        allowed = min(max(1, seconds), MOST_SECONDS)
        workspace = await asyncio.to_thread(workspace_of, context)
        command = Command(
            argv=checked(argv),
            workspace=workspace,
            env={"PYTHONUNBUFFERED": "1"},
            network=network,
            limits=replace(usual, seconds=allowed),
        )
        return await outcome(sandbox, command, context)

    reach = "" if network else " There is no network."
    run_command.__doc__ = f"""Run a program in the workspace. For a shell: ["sh", "-c", "..."].{reach}"""
    return CommandTool(run_command, replace(COMMAND, label="Running {argv}"))


def as_typed(words: Iterable[str]) -> str:
    """The line that makes a shell run these words, in the shorter quotes: people are to read it."""
    return " ".join(min(_ways_to_type(word), key=len) for word in words)


def _ways_to_type(word: str) -> Iterator[str]:
    yield shlex.quote(word)
    if "'" in word and "!" not in word:  # a shell that people type into would take that for an earlier command
        yield '"' + re.sub(r'(["$`\\])', r"\\\1", word) + '"'


def checked(argv: Sequence[str]) -> tuple[str, ...]:
    """Raises ToolFailed where no program could get these arguments."""
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
    """Made where it does not exist, and without links, as a command wants it."""
    context.workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    return context.workspace.resolve()


def _quoted(value: JsonValue | tuple[str, ...]) -> str:
    line = as_typed(map(str, value if isinstance(value, list | tuple) else [value]))
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
