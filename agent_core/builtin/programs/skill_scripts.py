"""Running the scripts that skills bring, shut in, in the chat's workspace."""

import asyncio
import errno
import os
import re
import stat
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel

from agent_core.builtin.files.confined import open_folder, shown
from agent_core.builtin.programs.outcome import outcome
from agent_core.builtin.programs.shell import COMMAND, CommandTool, checked, workspace_of
from agent_core.sandbox.command import Command, Limits, Sandbox
from agent_core.sandbox.visible import python_folder
from agent_core.skills.errors import SkillError
from agent_core.skills.skill import SCRIPTS, Skill
from agent_core.tool_result import ToolResult
from agent_core.tools import Tool, ToolContext, ToolFailed

_HEAD_BYTES = 64 * 1024
_METADATA = re.compile(r"(?m)^# /// script$\n(?P<toml>(?:^#(?: .*)?$\n)+?)^# ///$")
"""As PEP 723 has it."""


@dataclass(frozen=True)
class _Script:
    path: Path
    skill: Path
    needs: tuple[str, ...]
    """Packages, as the script declares them."""
    is_executable: bool


def run_skill_script_tool(
    sandbox: Sandbox, *, limits: Limits | None = None, network: bool = False, uv: Path | None = None
) -> Tool:
    """`run_skill_script` for the skills that are loaded in the chat. Scripts that declare packages need `uv`, and the
    network to get them."""

    async def run_skill_script(skill: str, script: str, context: ToolContext, args: tuple[str, ...] = ()) -> ToolResult:
        """Run a script of a loaded skill in the workspace."""
        of = _skill(skill, context)
        found = await asyncio.to_thread(_script, of, script.removeprefix(f"{SCRIPTS}/"))
        start, readable = _started(found, uv if network else None)
        if of.is_shared:  # the chat's own is in the workspace, where by now a link may stand in its place
            readable = (found.skill, *readable)
        command = Command(
            argv=checked([*start, *args]),
            workspace=await asyncio.to_thread(workspace_of, context),
            readable=readable,
            env={"UV_PYTHON": str(python()), "UV_PYTHON_DOWNLOADS": "never", "PYTHONDONTWRITEBYTECODE": "1"}
            if found.needs
            else {},
            network=network,
            limits=limits or Limits(),
        )
        return await outcome(sandbox, command, context)

    label = "Running {skill}/{script} {args}"
    return CommandTool(run_skill_script, replace(COMMAND, label=label, check=_is_loaded))


def python() -> Path:
    """The interpreter that ours was made from: it has the standard library, and none of our packages. Every command may
    read it."""
    return (python_folder() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}").resolve()


def _started(script: _Script, uv: Path | None) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """How the script is started, and what has to be readable for that."""
    path = str(script.path)
    if script.needs:
        if uv is None:
            raise ToolFailed(
                f"{shown(script.path.name)} needs packages ({shown(', '.join(script.needs))}), for which uv and the "
                "network are wanted here",
                "do it without this script, or tell the person",
            )
        return (str(uv.resolve()), "run", "--script", path), (uv.resolve(),)
    if script.path.suffix == ".py":
        # Without what the environment says of Python, but with the modules beside the script.
        # It leaves nothing behind in its folder: what a person approved would be another skill then.
        return (str(python()), "-E", "-s", "-u", "-B", path), ()
    if script.path.suffix == ".sh":
        return ("/bin/sh", path), ()
    if not script.is_executable:
        raise ToolFailed(f"{shown(script.path.name)} is neither .py nor .sh, and not executable", "tell the person")
    return (path,), ()


def _is_loaded(arguments: BaseModel, context: ToolContext) -> None:
    """So that nobody is asked for a script that cannot run."""
    _skill(str(arguments.model_dump()["skill"]), context)


def _skill(name: str, context: ToolContext) -> Skill:
    try:
        if context.skills is not None:
            return context.skills.opened(name.strip())
    except SkillError as error:
        raise ToolFailed(error.fact, error.advice) from error
    raise ToolFailed(f"there is no skill {shown(name)}", "do it without")


def _entries(root: Path, folder: str) -> list[str] | None:
    """The names in a folder; None where there is no such folder, or only a link to one."""
    try:
        handle = open_folder(root, folder)
    except ToolFailed:
        return None
    try:
        with os.scandir(handle) as entries:
            return sorted(entry.name for entry in entries)
    finally:
        os.close(handle)


def _script(skill: Skill, script: str) -> _Script:
    folder = skill.folder
    try:
        handle = _opened(folder, f"{SCRIPTS}/{script}")
    except (ToolFailed, OSError, ValueError) as error:
        known = ", ".join(_entries(folder, SCRIPTS) or ())
        raise ToolFailed(
            f"the skill {skill.name} has no script {shown(script)}", f"it has: {known or 'none'}"
        ) from error
    with os.fdopen(handle, "rb") as file:
        mode = os.fstat(handle).st_mode
        head = file.read(_HEAD_BYTES).decode("utf-8", "replace")
    path = folder.resolve() / SCRIPTS / script
    return _Script(path, folder.resolve(), _declared(head, path.name), is_executable=bool(mode & 0o111))


def _opened(root: Path, path: str) -> int:
    """A handle of the file, to which no link leads. It may have other names: installers link files to their caches."""
    folder, _, name = path.rpartition("/")
    outer = open_folder(root, folder)
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=outer)
    finally:
        os.close(outer)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "not a regular file", path)


def _declared(head: str, name: str) -> tuple[str, ...]:
    """The packages that a script says it needs."""
    found = _METADATA.search(head.replace("\r\n", "\n"))
    if found is None:
        return ()
    try:
        metadata = tomllib.loads("\n".join(line[2:] for line in found["toml"].split("\n")))
    except tomllib.TOMLDecodeError as error:
        raise ToolFailed(f"what {shown(name)} declares at its top is no TOML: {error}", "tell the person") from error
    needs = metadata.get("dependencies", [])
    return tuple(map(str, needs)) if isinstance(needs, list) else (str(needs),)
