"""How a command came out, in words for the model."""

import asyncio
import signal
from pathlib import Path

from agent_core.builtin.files.confined import shown
from agent_core.builtin.programs.outputs import ends
from agent_core.outputs import forget, next_output
from agent_core.sandbox.command import Command, Finished, Limits, Sandbox
from agent_core.sandbox.process import plain
from agent_core.tool_result import ToolResult
from agent_core.tools import ToolContext, ToolFailed

RESULT_CHARS = 8000
HEAD_CHARS = 3000
"""Of an output that is too long; most of the rest is its end, where failures are told."""

_STATUS_CHARS = 200
_SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a program."""


async def outcome(sandbox: Sandbox, command: Command, context: ToolContext) -> ToolResult:
    """Run it, and tell the model how it came out. Raises ToolFailed where it could not be started."""
    try:
        name = await asyncio.to_thread(next_output, command.workspace)
        is_needed = False
        try:
            finished = await sandbox.run(command, name, lambda line: context.on_update(ToolResult.of(line)))
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
    result = ToolResult.of(f"[{how}, {finished.seconds:.1f} s]\n{text}")
    if finished.code == 0 and not (finished.timed_out or finished.flooded):
        return result
    return result.model_copy(update={"is_error": True, "summary": how})


def _how_it_ended(finished: Finished, limits: Limits) -> str:
    number = -finished.code if finished.code < 0 else finished.code - _SIGNALLED
    if finished.timed_out:
        return f"killed at its time limit of {limits.seconds:g} s"
    if finished.flooded:
        return f"killed for saying more than {limits.output_bytes:,} bytes"
    if number in {*signal.Signals}:
        why = ", perhaps for want of memory or time" if number == signal.SIGKILL else ""
        return f"exit code {finished.code}: ended by {signal.Signals(number).name}{why}"
    return f"exit code {finished.code}"


def _said(finished: Finished, workspace: Path, name: str) -> tuple[str, bool]:
    """The output, or its head and its tail; and whether its file is needed for the rest."""
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
