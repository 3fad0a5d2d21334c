"""The tool `run_command`: runs programs in the chat's workspace, sandboxed."""

import asyncio
import os
import re
import shlex
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from pydantic import JsonValue

from agent_core.background import finished
from agent_core.messages import JsonObject
from agent_core.origin import CLEAN, DATA, named
from agent_core.sandbox.command import Command, Finished, Sandbox
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.process import plain
from agent_core.sources import NETWORK
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import open_file, shown
from agent_core.tools.tool import FunctionTool, Tool, ToolContext, ToolFailed, Traits
from agent_core.untrusted import origin_of
from agent_core.workspace.keeper import CannotKeep
from agent_core.workspace.outputs import forget, next_output

RESULT_CHARS = 8000
HEAD_CHARS = 3000
"""Characters of the head of a long output; most of the rest is its tail, where errors are reported."""

_STATUS_CHARS = 200
_SIGNALLED = 128
"""Added by a shell to the number of the signal that ended a program."""
MOST_SECONDS = 600

_SMALLER = "\n[Do less in one command, or give it more `seconds`, at most {most}.]"
"""For the model, after a command that took too long."""
COMMAND = Traits(execution="sequential", retry="never", timeout_s=None, acts="exec")
"""No timeout here, because the sandbox limits the time."""


async def outcome(sandbox: Sandbox, command: Command, context: ToolContext, tool: str) -> ToolResult:
    """Run the command with undo, and return its outcome. Raises ToolFailed if it could not be started."""
    try:
        async with context.keeper.everything(context.author(tool)) as room:
            if room.is_used_up:
                raise ToolFailed(
                    "it was not started: there is no room left for files in this chat",
                    "tell the person that an owner can delete files of the chat, or raise its quota",
                )
            limits = command.limits.within(room.bytes, room.files)
            return await _traced(sandbox, replace(command, limits=limits, pools=room.pools), context)
    except CannotKeep as error:
        raise ToolFailed(f"it was not run, because it could not be undone: {error}", "call it again") from error


async def _traced(sandbox: Sandbox, command: Command, context: ToolContext) -> ToolResult:
    """Run the command and give its output and changes the origin of all files it could read and of its call."""
    said = origin_of(context.messages) | (named(NETWORK) if command.network else CLEAN)
    before = await asyncio.to_thread(context.files.begin, said, command.limits.seconds)
    try:
        result = await _outcome(sandbox, command, context)
    finally:
        read = await finished(partial(context.files.end, before))
    return result.from_(read)


async def _outcome(sandbox: Sandbox, command: Command, context: ToolContext) -> ToolResult:
    try:
        name = await asyncio.to_thread(next_output, command.workspace)
        is_needed = False
        try:
            finished = await sandbox.run(command, name, lambda line: context.on_update(ToolResult.of(line, DATA)))
            text, is_needed = await asyncio.to_thread(_said, finished, command.workspace, name)
        finally:
            if not is_needed:
                forget(command.workspace, name)
    except FileNotFoundError as error:
        program = shown(command.argv[0])
        raise ToolFailed(f"there is no program {program} in the sandbox", "use another one, such as python3") from error
    except OSError as error:
        raise ToolFailed(
            f"the command could not be started: {error.strerror}", "change it, or tell the person"
        ) from error
    how = _how_it_ended(finished, command.limits)
    advice = _SMALLER.format(most=MOST_SECONDS) if finished.timed_out else ""
    result = ToolResult.of(f"[{how}, {finished.seconds:.1f} s]\n{text}{advice}", DATA)
    if finished.code == 0 and not (finished.timed_out or finished.flooded or finished.excess):
        return result
    return result.model_copy(update={"is_error": True, "summary": how})


def _how_it_ended(finished: Finished, limits: CommandLimits) -> str:
    number = -finished.code if finished.code < 0 else finished.code - _SIGNALLED
    if finished.timed_out:
        return f"killed at its time limit of {limits.seconds:g} s"
    if finished.excess:
        return f"killed for using {finished.excess}"
    if finished.flooded:
        return f"killed for saying more than {limits.output_bytes:,} bytes"
    if number in {*signal.Signals}:
        return f"exit code {finished.code}: ended by {signal.Signals(number).name}{_why(number, limits)}"
    return f"exit code {finished.code}"


def _why(number: int, limits: CommandLimits) -> str:
    if number == signal.SIGXFSZ:
        return f", for a file of more than {limits.file_bytes / 1e6:,.1f} MB"
    return ", perhaps for want of memory or time" if number == signal.SIGKILL else ""


def _said(finished: Finished, workspace: Path, name: str) -> tuple[str, bool]:
    """Return the output, or its head and tail; and True if its file is needed for the rest."""
    try:
        found = ends(workspace, name)
    except ToolFailed:
        return "[the command took away or replaced the file of its output]", False
    if b"\0" in found.head or b"\0" in found.tail:
        return f"[{finished.size:,} bytes of binary output, kept in {name}]", True
    head, tail = _text(found.head), _text(found.tail)
    if not found.tail and len(head) <= RESULT_CHARS - _STATUS_CHARS:
        return head or "[no output]", False
    cut = f"\n[... cut; the whole, {finished.size:,} bytes, is in {name} ...]\n"
    room = RESULT_CHARS - _STATUS_CHARS - HEAD_CHARS - len(cut)
    return f"{head[:HEAD_CHARS]}{cut}{(tail or head)[-room:]}", True


def _text(output: bytes) -> str:
    return plain(output.decode("utf-8", "replace")).strip("\n")


BLOCK = 64 * 1024


class Ends(Struct, frozen=True):
    """Head and tail of an output."""

    head: bytes
    tail: bytes
    """Empty if `head` is all of it."""


def ends(workspace: Path, name: str) -> Ends:
    """Read both ends. Raises ToolFailed if it is not a regular file any more."""
    with os.fdopen(open_file(workspace, name), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= 2 * BLOCK:
            return Ends(file.read(2 * BLOCK), b"")
        head = file.read(BLOCK)
        file.seek(-BLOCK, os.SEEK_END)
        return Ends(head, file.read(BLOCK))


class CommandTool(FunctionTool):
    """A tool for commands. Its label shows the arguments in full, quoted and without invisible characters, because
    users are asked to approve it."""

    def _shown(self, arguments: JsonObject) -> dict[str, str]:
        return {key: _quoted(value) for key, value in {**self._defaults(), **arguments}.items()}


def run_command_tool(
    sandbox: Sandbox, *, limits: Callable[[], CommandLimits] = CommandLimits, network: bool = False
) -> Tool:
    """Return the tool `run_command`; `limits` returns those of each call, `seconds` being the default time limit."""
    default = round(limits().seconds)

    async def run_command(argv: list[str], context: ToolContext, seconds: int = default) -> ToolResult:
        allowed = min(max(1, seconds), MOST_SECONDS)
        workspace = await asyncio.to_thread(workspace_of, context)
        command = Command(
            argv=checked(argv),
            workspace=workspace,
            env={"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            network=network,
            limits=replace(limits(), seconds=allowed),
        )
        return await outcome(sandbox, command, context, "run_command")

    reach = "" if network else " No network."
    run_command.__doc__ = f"""Run a program in the workspace. For a shell: ["sh", "-c", "..."].{reach}"""
    return CommandTool(run_command, replace(COMMAND, label="Running {argv}", labels={"zh": "运行 {argv}"}))


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
