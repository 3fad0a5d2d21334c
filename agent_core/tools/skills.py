"""The tools of skills: a model loads and unloads them, which changes only its prompt, and runs their scripts."""

import asyncio
import errno
import os
import re
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel

from agent_core.origin import CLEAN
from agent_core.sandbox.command import Command, Sandbox
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.machine_view import python_folder
from agent_core.skills import layout
from agent_core.skills.chat_skills import ChatSkills
from agent_core.skills.skill import SCRIPTS, Skill, SkillError
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import open_folder, shown
from agent_core.tools.shell import COMMAND, CommandTool, checked, outcome, workspace_of
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool

NO_SKILLS = "Error: there are no skills here. Next: go on without them"
_HEAD_BYTES = 64 * 1024
_METADATA = re.compile(r"(?m)^# /// script$\n(?P<toml>(?:^#(?: .*)?$\n)+?)^# ///$")
"""Inline metadata of PEP 723."""


@tool(idempotent=True, label="Reading the skill {name}", labels={"zh": "加载技能 {name}"})
async def load_skill(name: str, context: ToolContext) -> ToolResult:
    """Load a skill's instructions."""
    return _answer(context, lambda chat_skills: chat_skills.load(name.strip(), budget=context.token_budget()).text)


@tool(idempotent=True, label="Putting the skill {name} away", labels={"zh": "卸载技能 {name}"})
async def unload_skill(name: str, context: ToolContext) -> ToolResult:
    """Remove a skill and its references from the system prompt."""
    return _answer(context, lambda chat_skills: chat_skills.unload(name.strip()))


@tool(
    idempotent=True,
    label="Reading {reference} of the skill {skill}",
    labels={"zh": "读取技能 {skill} 的 {reference}"},
)
async def load_skill_reference(skill: str, reference: str, context: ToolContext) -> ToolResult:
    """Load a reference of a loaded skill into the system prompt."""
    return _answer(
        context,
        lambda chat_skills: chat_skills.load_reference(skill.strip(), reference.strip(), context.token_budget()).text,
    )


@tool(idempotent=True, label="Looking at the skills", labels={"zh": "查看技能"})
async def list_skills(context: ToolContext, search: str = "") -> ToolResult:
    """List skills, or those that match words or a tag."""

    def listed(chat_skills: ChatSkills) -> str:
        found = chat_skills.offered(search)
        return "\n".join(layout.index_line(skill, is_loaded=loaded) for skill, loaded in found) or "(no skill fits)"

    return _answer(context, listed)


LOADING: tuple[Tool, ...] = (list_skills, load_skill, load_skill_reference, unload_skill)
"""The tools with which a model finds and loads skills."""


def _answer(context: ToolContext, ask: Callable[[ChatSkills], str]) -> ToolResult:
    """Return the answer or the error, not shortened to one line, because it may list all skills."""
    if context.skills is None:
        return ToolResult.of(NO_SKILLS, CLEAN, is_error=True)
    try:
        return ToolResult.of(ask(context.skills), CLEAN)
    except SkillError as error:
        return ToolResult.of(f"Error: {error.fact}. Next: {error.advice}", CLEAN, is_error=True)


class _Script(Struct, frozen=True):
    path: Path
    skill: Path
    needs: tuple[str, ...]
    """Packages that the script declares."""
    is_executable: bool


def run_skill_script_tool(
    sandbox: Sandbox,
    *,
    limits: Callable[[], CommandLimits] = CommandLimits,
    network: bool = False,
    uv: Path | None = None,
) -> Tool:
    """Return the tool for scripts of the chat's loaded skills. Scripts with packages need `uv` and network access."""

    async def run_skill_script(skill: str, script: str, context: ToolContext, args: tuple[str, ...] = ()) -> ToolResult:
        """Run a script of a loaded skill in the workspace."""
        of = _skill(skill, context)
        found = await asyncio.to_thread(_script, of, script.removeprefix(f"{SCRIPTS}/"))
        start, readable = _started(found, uv if network else None)
        if of.is_shared:  # a chat's own skill is in the workspace, where a link may have replaced it
            readable = (found.skill, *readable)
        command = Command(
            argv=checked([*start, *args]),
            workspace=await asyncio.to_thread(workspace_of, context),
            readable=readable,
            env={"UV_PYTHON": str(python()), "UV_PYTHON_DOWNLOADS": "never", "PYTHONDONTWRITEBYTECODE": "1"}
            if found.needs
            else {},
            network=network,
            limits=limits(),
        )
        return await outcome(sandbox, command, context, "run_skill_script")

    label, labels = "Running {skill}/{script} {args}", {"zh": "运行 {skill}/{script} {args}"}
    return CommandTool(run_skill_script, replace(COMMAND, label=label, labels=labels, check=_is_loaded))


def python() -> Path:
    """Return the base interpreter: it has the standard library and none of Parley's packages. Every command may read
    it."""
    return (python_folder() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}").resolve()


def _started(script: _Script, uv: Path | None) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return the command that starts the script, and the paths it must be able to read."""
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
        # Ignores Python's environment variables, but finds modules beside the script. Writes no bytecode, which would
        # change the skill that a user approved.
        return (str(python()), "-E", "-s", "-u", "-B", path), ()
    if script.path.suffix == ".sh":
        return ("/bin/sh", path), ()
    if not script.is_executable:
        raise ToolFailed(f"{shown(script.path.name)} is neither .py nor .sh, and not executable", "tell the person")
    return (path,), ()


def _is_loaded(arguments: BaseModel, context: ToolContext) -> None:
    """Refuse a script that cannot run before a user is asked to approve it."""
    _skill(str(arguments.model_dump()["skill"]), context)


def _skill(name: str, context: ToolContext) -> Skill:
    try:
        if context.skills is not None:
            return context.skills.opened(name.strip())
    except SkillError as error:
        raise ToolFailed(error.fact, error.advice) from error
    raise ToolFailed(f"there is no skill {shown(name)}", "do it without")


def _entries(root: Path, folder: str) -> list[str] | None:
    """Return the names in a folder; None if it does not exist or is a link."""
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
    """Open the file without following links. It may be a hard link: installers link files to their caches."""
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
    """Return the packages that a script declares."""
    found = _METADATA.search(head.replace("\r\n", "\n"))
    if found is None:
        return ()
    try:
        metadata = tomllib.loads("\n".join(line[2:] for line in found["toml"].split("\n")))
    except tomllib.TOMLDecodeError as error:
        raise ToolFailed(f"what {shown(name)} declares at its top is no TOML: {error}", "tell the person") from error
    needs = metadata.get("dependencies", [])
    return tuple(map(str, needs)) if isinstance(needs, list) else (str(needs),)
