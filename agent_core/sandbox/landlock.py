"""The fallback launcher, for machines without user namespaces: Landlock restricts files, seccomp restricts system
calls."""

import marshal
import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import InspectLoader
from pathlib import Path
from types import CodeType

from agent_core.sandbox import supervisor
from agent_core.sandbox.cgroup import ControlGroups, Group
from agent_core.sandbox.command import Command, Launch, Lifeline
from agent_core.sandbox.machine_view import (
    OURS,
    asked_for,
    check_program,
    environment,
    hidden_in,
    limits_of_a_process,
    system,
)
from agent_core.sandbox.seccomp import landlock_filter
from agent_core.sandbox.supervisor import SCOPES_SINCE, Bounds, Paths, Plan, landlock_version

NEEDED_VERSION = 4
"""Landlock version of Linux 6.7."""

_BEGIN = """
import marshal, os, sys
code, plan = marshal.load(open(int(sys.argv[1]), "rb"))
exec(code)
plan["paths"], plan["bounds"] = Paths(**plan["paths"]), Bounds(**plan["bounds"])
os._exit(door(Plan(**plan)))
"""
"""Code for the supervisor's Python, which loads the compiled supervisor from a memory file. Compiling it for each
command would take longer than running it, and compiled files on disk may be outdated."""

_DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))
_MACHINE = tuple(
    Path(path)
    for path in (
        *("/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime"),
        *("/proc/version", "/sys/devices/system/cpu"),
    )
)
"""Files about the machine that programs read. Those about processes cannot be granted in advance."""


class Landlock:
    """Starts commands through a supervisor. `groups` are required for root; `hidden` are paths that no command may see,
    even inside a readable folder."""

    name = "landlock"

    def __init__(
        self, *, groups: ControlGroups | None = None, hidden: Sequence[Path] = (), version: int | None = None
    ) -> None:
        self._groups = groups
        self._hidden = (OURS, *hidden)
        self._scoped = (landlock_version() if version is None else version) >= SCOPES_SINCE
        self._lifeline = Lifeline()

    @contextmanager
    def launch(self, command: Command) -> Iterator[Launch]:
        temporary = command.workspace / f".tmp-{secrets.token_hex(4)}"
        env = environment(command, temporary)
        check_program(command, env)
        plan = os.memfd_create("plan")
        try:
            limits = command.limits
            group = self._groups.new(limits.processes, limits.all_memory_bytes) if self._groups else None
            os.write(plan, marshal.dumps((_code(), _plain(self._plan(command, env, temporary, group)))))
            os.lseek(plan, 0, os.SEEK_SET)
            python = str(Path(sys.executable).resolve())
            argv = (python, "-I", "-S", "-c", _BEGIN, str(plan))
            few = {"PATH": env["PATH"], "LANG": env["LANG"]}
            yield Launch(argv, few, command.workspace, (plan, self._lifeline.reading), group=group)
        finally:
            os.close(plan)

    def _plan(self, command: Command, env: dict[str, str], temporary: Path, group: Group | None) -> Plan:
        shown, listed = _system(command.network, self._hidden)
        return Plan(
            argv=list(command.argv),
            env=env | dict(pair.split("=", 1) for pair in asked_for(command.env)),
            paths=Paths(
                workspace=str(command.workspace),
                temporary=str(temporary),
                readable=[*shown, *map(str, command.readable)],
                listable=list(listed),
                devices=[str(path) for path in _DEVICES if path.exists()],
            ),
            network=command.network,
            policy=landlock_filter(network=command.network, scoped=self._scoped),
            bounds=Bounds(
                limits=limits_of_a_process(command.limits),
                processes=command.limits.processes,
                groups=[str(folder) for folder in group.folders] if group else [],
                is_counted=group is not None and group.holds_processes,
            ),
            parley=self._lifeline.reading,
        )


def _plain(plan: Plan) -> dict[str, object]:
    """Return the plan as values that `marshal` can write."""
    return vars(plan) | {"paths": vars(plan.paths), "bounds": vars(plan.bounds)}


@cache
def _system(network: bool, hidden: tuple[Path, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:  # noqa: FBT001 - a key
    """Return the paths that every command may read, and those it may only list.

    Landlock rules only grant: if a folder contains something hidden, its other entries are granted one by one. Python
    must list such a folder to find its library in it.
    """
    shown = [path for path in _MACHINE if path.exists()]
    listed: list[Path] = []
    waiting = list(dict.fromkeys(path.resolve() for path in system(network=network)))  # `/lib` may be `/usr/lib`
    while waiting:
        folder = waiting.pop()
        if folder in hidden:
            continue
        if hidden_in([folder], hidden):
            listed.append(folder)
            waiting += [path for path in folder.iterdir() if not path.is_symlink()]  # links are granted at their target
        else:
            shown.append(folder)
    return tuple(map(str, shown)), tuple(map(str, listed))


@cache
def _code() -> CodeType | None:
    """Return the compiled supervisor. Raises OSError."""
    loader = supervisor.__spec__.loader if supervisor.__spec__ else None
    if not isinstance(loader, InspectLoader):
        raise OSError("the supervisor's code cannot be read")
    return loader.get_code(supervisor.__name__)
