"""Recognises calls that run programs, and commands whose program is known.

A permission rule can be bound to those that run a program file of the workspace, or a read-only system tool. Files are
only examined, never run.
"""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from agent_core.late_pattern import LatePattern
from agent_core.loop.permissions import Proposal
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin, Skill
from agent_core.tools.tool import FunctionTool
from gateway.permissions.policy import ShutIn

COMMAND, SCRIPT = "run_command", "run_skill_script"
_INTERPRETER = LatePattern(r"sh|bash|dash|zsh|perl|ruby|node|python3?(?:\.\d{1,2})?")
_LOOKS = frozenset(
    {"cat", "cmp", "cut", "date", "df", "diff", "du", "echo", "file", "grep", "head", "ls", "md5sum", "nl", "pwd"}
    | {"sha256sum", "stat", "tail", "tr", "uniq", "wc"}
)
"""System tools that run no other program, whatever their arguments."""
_SCRIPT_HEAD = b"#!"


def is_command(proposal: Proposal) -> bool:
    """Return True for our own command tool, not for another tool of the same name."""
    return proposal.call.name == COMMAND and isinstance(proposal.tool, FunctionTool)


def is_script(proposal: Proposal) -> bool:
    return proposal.call.name == SCRIPT and isinstance(proposal.tool, FunctionTool)


def script_skill(proposal: Proposal, library: SkillLibrary) -> Skill | None:
    """Return the shared skill whose script the call runs; None for other calls and for the chat's own skills."""
    if not is_script(proposal):
        return None
    return library.find(str(proposal.call.arguments.get("skill", "")).strip())


def shut_in(library: SkillLibrary, *, network: bool) -> ShutIn | None:
    """Return a predicate for calls that can reach nothing but their chat's files, or None if programs have network.

    These are commands, and scripts of skills that are shipped with Parley or locked.
    """
    if network:
        return None

    def holds(proposal: Proposal) -> bool:
        skill = script_skill(proposal, library)
        if skill is None:
            return is_command(proposal)
        return skill.origin is Origin.SHIPPED or library.is_locked(skill)

    return holds


class Runs(StrEnum):
    """Kind of program that a command runs."""

    FILE = "file"
    """A program file of the workspace, with the files it imports or sources."""
    TOOL = "tool"
    """A system tool."""
    UNKNOWN = "unknown"


def what_runs(argv: Sequence[str], workspace: Path) -> Runs:
    """Classify a command: `python3 chart.py`, `./chart` and `ls -l` are known, `sh -c ...` and `make` are not."""
    program = argv[0] if argv else ""
    if program in _LOOKS:
        return Runs.TOOL
    if _INTERPRETER.fullmatch(program):
        return Runs.FILE if len(argv) > 1 and _is_own_file(workspace, argv[1]) else Runs.UNKNOWN
    is_script = "/" in program and _is_own_file(workspace, program) and _is_script(workspace / program)
    return Runs.FILE if is_script else Runs.UNKNOWN


def _is_own_file(workspace: Path, name: str) -> bool:
    path = workspace / name
    try:
        is_inside = path.resolve().is_relative_to(workspace.resolve())
        return not name.startswith("-") and is_inside and path.is_file() and not path.is_symlink()
    except (OSError, ValueError):
        return False


def _is_script(path: Path) -> bool:
    """Return True if the file begins with `#!`. A binary in the workspace could be a copy of any shell."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SCRIPT_HEAD)) == _SCRIPT_HEAD
    except OSError:
        return False
