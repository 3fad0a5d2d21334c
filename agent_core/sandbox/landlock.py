"""The second choice, where user namespaces are forbidden: the command shares the machine's, and the kernel refuses it
every file that it was not given (Landlock) and every call that leads elsewhere (seccomp)."""

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

from agent_core.sandbox import warden
from agent_core.sandbox.cgroup import ProcessGroups
from agent_core.sandbox.command import Command, Launch
from agent_core.sandbox.life import Life
from agent_core.sandbox.policy import landlock_filter
from agent_core.sandbox.visible import (
    OURS,
    asked_for,
    check_program,
    environment,
    hidden_in,
    limits_of_a_process,
    system,
)
from agent_core.sandbox.warden import SCOPES_SINCE, Plan, landlock_version

NEEDED_VERSION = 4
"""Of Landlock; Linux 6.7 has it."""

_BEGIN = """
import marshal, os, sys
code, plan = marshal.load(open(int(sys.argv[1]), "rb"))
exec(code)
os._exit(door(Plan(**plan)))
"""
"""What the warden's Python is told to run: what it reads from a file that is not on disk. Compiling the warden's source
each time would take longer than all that it does, and what lies compiled on disk may be old."""

_DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))
_MACHINE = tuple(
    Path(path)
    for path in (
        *("/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime"),
        *("/proc/version", "/sys/devices/system/cpu"),
    )
)
"""What programs read there about the machine. Their own files there have names that nobody knows beforehand."""


class Landlock:
    """Starts commands through a warden. `groups` are needed by root; `hidden` are files and folders that no command
    may see even where they lie in a folder that it may read."""

    name = "landlock"

    def __init__(
        self, *, groups: ProcessGroups | None = None, hidden: Sequence[Path] = (), version: int | None = None
    ) -> None:
        self._groups = groups
        self._hidden = (OURS, *hidden)
        self._scoped = (landlock_version() if version is None else version) >= SCOPES_SINCE
        self._life = Life()

    @contextmanager
    def launch(self, command: Command) -> Iterator[Launch]:
        temporary = command.workspace / f".tmp-{secrets.token_hex(4)}"
        env = environment(command, temporary)
        check_program(command, env)
        plan = os.memfd_create("plan")
        try:
            os.write(plan, marshal.dumps((_code(), vars(self._plan(command, env, temporary)))))
            os.lseek(plan, 0, os.SEEK_SET)
            python = str(Path(sys.executable).resolve())
            argv = (python, "-I", "-S", "-c", _BEGIN, str(plan))
            yield Launch(
                argv, {"PATH": env["PATH"], "LANG": env["LANG"]}, command.workspace, (plan, self._life.reading)
            )
        finally:
            os.close(plan)

    def _plan(self, command: Command, env: dict[str, str], temporary: Path) -> Plan:
        shown, listed = _system(command.network, self._hidden)
        return Plan(
            argv=list(command.argv),
            env=env | dict(pair.split("=", 1) for pair in asked_for(command.env)),
            workspace=str(command.workspace),
            temporary=str(temporary),
            readable=[*shown, *map(str, command.readable)],
            listable=list(listed),
            devices=[str(path) for path in _DEVICES if path.exists()],
            network=command.network,
            policy=landlock_filter(network=command.network, scoped=self._scoped),
            limits=limits_of_a_process(command.limits),
            processes=command.limits.processes,
            group=str(self._groups.new(command.limits.processes)) if self._groups else "",
            parley=self._life.reading,
        )


@cache
def _system(network: bool, hidden: tuple[Path, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:  # noqa: FBT001 - a key
    """What every command may read, and what it may list only.

    Landlock grants and never takes back: of a folder that holds something hidden, its other entries are granted one by
    one. Python has to list such a folder to find its library in it.
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
            waiting += [path for path in folder.iterdir() if not path.is_symlink()]  # granted where it really is
        else:
            shown.append(folder)
    return tuple(map(str, shown)), tuple(map(str, listed))


@cache
def _code() -> CodeType | None:
    """The warden, compiled. Raises OSError."""
    loader = warden.__spec__.loader if warden.__spec__ else None
    if not isinstance(loader, InspectLoader):
        raise OSError("the warden's code cannot be read")
    return loader.get_code(warden.__name__)
