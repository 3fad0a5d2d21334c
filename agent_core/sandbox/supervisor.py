"""The program between Parley and a command restricted by Landlock: three processes in a chain.

 Parley -> door -> guard -> command and its descendants

Parley starts the door, may kill it at any time, and gets the command's exit code from it. The guard kills everything
when the command, the door or Parley has ended: orphaned descendants become its children, even in other sessions, and
the command may not signal it. Door and guard are not restricted themselves.

It runs in a Python process of its own that gets this file compiled, and should start within 10 ms: it imports very
little, and none of Parley's modules. `_ctypes` is the core of `ctypes` without the 4 ms of the rest.
"""

import _ctypes
import errno
import os
import resource
import select
import struct

CANNOT_RUN, NOT_FOUND, SIGNALLED = 126, 127, 128
"""Exit codes as in shells; the last is added to a signal's number."""

_SIGKILL, _SIGPIPE, _SIGSTOP, _SIGXFSZ = 9, 13, 19, 25  # `signal` alone takes 4 ms to import

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS, _SET_SECCOMP = 1, 36, 38, 22
_CAPBSET_DROP, _CAP_AMBIENT = 24, 47
_FILTER, _CLEAR_ALL = 2, 4
_CAPABILITIES_VERSION = 0x20080522

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1

# Rights of Landlock, and the versions that introduced the newer ones.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK, _TRUNCATE, _IOCTL_DEV = 1 << 6, 1 << 11, 1 << 14, 1 << 15
_IOCTL_DEV_SINCE, SCOPES_SINCE = 5, 6
_ALL_RIGHTS = (1 << 15) - 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE = _ALL_RIGHTS & ~_MAKE_CHAR & ~_MAKE_BLOCK
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_TCP, _SCOPES = 0b11, 0b11

_REAP_EVERY = 200
"""Milliseconds."""

_ROUNDS = 200
"""Rounds of SIGSTOP before SIGKILL."""
_STILL = ("T", "t", "Z", "X")
"""States of processes that are stopped or have ended."""

_KIND, _FOLDER = 0o170000, 0o040000

_PRCTL, _CAPSET, _RT_SIGACTION = (167, 91, 134) if os.uname().machine == "aarch64" else (157, 126, 13)


class _Long(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001 - see above
    _type_ = "l"


class _Bytes(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001 - see above
    _type_ = "z"


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Long


_syscall = _Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall"))  # type: ignore[arg-type]


def call(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call. Raises OSError."""
    passed = [_Long(each) if isinstance(each, int) else each for each in (number, *arguments)]
    result: int = _syscall(*passed)
    if result < 0:
        failed = _ctypes.get_errno()
        raise OSError(failed, f"cannot be sandboxed: {os.strerror(failed)}")
    return result


class Paths:
    """Files and folders for a command."""

    def __init__(
        self, *, workspace: str, temporary: str, readable: list[str], listable: list[str], devices: list[str]
    ) -> None:
        self.workspace = workspace
        self.temporary = temporary
        """Created in the workspace for the command, and removed after it."""
        self.readable = readable
        self.listable = listable
        """Folders that may be listed."""
        self.devices = devices


class Bounds:
    """Limits of a command's processes."""

    def __init__(self, *, limits: dict[int, int], processes: int, groups: list[str], is_counted: bool) -> None:
        self.limits = limits
        self.processes = processes
        self.groups = groups
        """Control groups that it joins."""
        self.is_counted = is_counted
        """True if a group counts its processes; else all processes of the user are counted."""


class Plan:
    """A command and its restrictions."""

    def __init__(
        self,
        *,
        argv: list[str],
        env: dict[str, str],
        paths: Paths,
        network: bool,
        policy: bytes,
        bounds: Bounds,
        parley: int,
    ) -> None:
        self.argv = argv
        self.env = env
        self.paths = paths
        self.network = network
        self.policy = policy
        """Filter of system calls."""
        self.bounds = bounds
        self.parley = parley
        """A pipe that closes when Parley ends."""


def landlock_version() -> int:
    """Return the Landlock version; 0 if the kernel has none or it is disabled."""
    try:
        return call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def door(plan: Plan) -> int:
    """Run the guard and return the command's exit code."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = CANNOT_RUN
        try:
            os.close(writing)
            code = guard(plan, reading)
        except OSError as error:
            _tell(plan, error)
        finally:
            os._exit(code)
    os.close(reading)
    return _code(os.waitpid(pid, 0)[1])


def guard(plan: Plan, door_end: int) -> int:
    os.setsid()  # signals to the door's group must not reach the guard
    call(_PRCTL, _SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.mkdir(plan.paths.temporary, 0o700)  # noqa: PTH102 - pathlib takes 5 ms to import
    code = CANNOT_RUN
    try:
        command = os.fork()
        if command == 0:
            become(plan)
        ended = os.pidfd_open(command)
        waiting = select.poll()
        for end in (ended, door_end, plan.parley):
            waiting.register(end, select.POLLIN)
        status: int | None = None
        while status is None and all(end == ended for end, _ in waiting.poll(_REAP_EVERY)):
            status = _reap(command)
        if status is not None:
            code = _code(status)
    finally:
        end_all(plan.bounds.groups)
        _remove(plan.paths.temporary)
    return code


def _reap(command: int) -> int | None:
    """Reap all children that have ended, because until then they count as processes of the command.

    Returns the command's own exit status, if it ended. Raises ChildProcessError if there are no children left.
    """
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return None
        if pid == command:
            return status


def end_all(groups: list[str]) -> None:
    """Kill all children until none is left; their own children are reparented to this process."""
    for group in groups:
        _forbid_more(group)
    if _children():
        _stop_all()
    pause = select.poll()
    dying: list[int] = []
    while True:
        try:
            _reap(0)
        except ChildProcessError:
            return
        children = _children()
        for pid in children:
            os.kill(pid, _SIGKILL)
        if children == dying:
            pause.poll(1)
        dying = children


def _stop_all() -> None:
    """Stop all descendants, because processes that are only killed can fork meanwhile, as a fork bomb does. Ended ones
    are not reaped here: they still count as processes, so that a fleeing program runs out of them."""
    for _ in range(_ROUNDS):
        below = {os.getpid()}
        is_quiet = True
        for pid in _processes():  # mostly ordered by age, so that parents come first
            state, parent = _stat(pid)[:2]
            if int(parent) in below:
                below.add(pid)
                is_quiet = _is_still(pid, state) and is_quiet
        if is_quiet:
            return


def _is_still(pid: int, state: str) -> bool:
    """Return True if the process is stopped; otherwise stop it."""
    try:
        if state not in _STILL:
            os.kill(pid, _SIGSTOP)
    except ProcessLookupError:  # ended, and may have left a child
        return False
    return state in _STILL


def _forbid_more(group: str) -> None:
    try:
        with open(f"{group}/pids.max", "r+") as file:  # noqa: PTH123 - see above
            file.write("0")
    except OSError:  # they are killed all the same
        return


def _children() -> list[int]:
    pid = os.getpid()
    try:
        with open(f"/proc/self/task/{pid}/children") as file:  # noqa: PTH123 - see above
            return [int(child) for child in file.read().split()]
    except FileNotFoundError:  # a kernel without that file
        return [child for child in _processes() if int(_stat(child)[1]) == pid]


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - see above


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the name: state, parent and so on; zeros if it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - see above
            return file.read().rpartition(")")[2].split()
    except OSError:
        return ["0"] * 50


def _threads_of_user() -> int:
    user = os.getuid()
    threads = 0
    for pid in _processes():
        try:
            if os.stat(f"/proc/{pid}").st_uid == user:  # noqa: PTH116 - see above
                threads += int(_stat(pid)[17])
        except OSError:  # the process has ended
            continue
    return threads


def _remove(folder: str) -> None:
    """Remove the folder, in which nothing is running any more."""
    try:
        os.rmdir(folder)  # noqa: PTH106 - see above
    except OSError:
        os.waitpid(os.posix_spawn("/bin/rm", ["rm", "-rf", "--", folder], {}), 0)


def become(plan: Plan) -> None:
    """Restrict this process and execute the command. Never returns."""
    try:
        call(_PRCTL, _SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        os.setsid()
        for number in (_SIGPIPE, _SIGXFSZ):  # Python ignores these, and children inherit that
            call(_RT_SIGACTION, number, bytes(32), None, 8)
        _limit(plan)
        os.chdir(plan.paths.workspace)
        _give_up_capabilities()
        call(_PRCTL, _SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _shut_in(plan)
        _filter_calls(plan.policy)
        os.closerange(3, 1 << 20)
        _execute(plan)
    except OSError as error:
        _tell(plan, error)
        os._exit(NOT_FOUND if error.errno == errno.ENOENT else CANNOT_RUN)
    finally:
        os._exit(CANNOT_RUN)


def _limit(plan: Plan) -> None:
    with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - the first to go where memory runs out
        file.write("1000")
    for group in plan.bounds.groups:
        with open(f"{group}/cgroup.procs", "w") as file:  # noqa: PTH123 - see above
            file.write("0")
    if not plan.bounds.is_counted:
        _, most = resource.getrlimit(resource.RLIMIT_NPROC)
        wanted = _threads_of_user() + plan.bounds.processes
        processes = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    for which, amount in plan.bounds.limits.items():
        resource.setrlimit(which, (amount, amount))


def _give_up_capabilities() -> None:
    if os.geteuid() != 0:
        return
    try:
        for capability in range(64):
            call(_PRCTL, _CAPBSET_DROP, capability, 0, 0, 0)
    except OSError as error:
        if error.errno != errno.EINVAL:  # no such capability: the end of the list
            raise
    call(_PRCTL, _CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    call(_CAPSET, struct.pack("Ii", _CAPABILITIES_VERSION, 0), bytes(24))


def _shut_in(plan: Plan) -> None:
    version = landlock_version()
    rights = _ALL_RIGHTS | (_IOCTL_DEV if version >= _IOCTL_DEV_SINCE else 0)
    handled = struct.pack("QQ", rights, 0 if plan.network else _TCP)
    if version >= SCOPES_SINCE:
        handled += struct.pack("Q", _SCOPES)
    rules = call(_CREATE_RULESET, handled, len(handled), 0)
    for paths, allowed in (
        (plan.paths.readable, _READ),
        (plan.paths.listable, _READ_DIR),
        (plan.paths.devices, _READ_FILE | _WRITE_FILE | _TRUNCATE),
        ([plan.paths.workspace], _WRITE),
    ):
        for path in paths:
            try:
                _allow(rules, path, allowed)
            except FileNotFoundError:  # deleted since Parley started
                continue
    call(_RESTRICT_SELF, rules, 0)


def _allow(rules: int, path: str, allowed: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    is_folder = os.fstat(place).st_mode & _KIND == _FOLDER
    rule = struct.pack("=Qi", allowed if is_folder else allowed & _ON_FILES, place)
    call(_ADD_RULE, rules, _PATH_BENEATH, rule, 0)
    os.close(place)


def _filter_calls(policy: bytes) -> None:
    pointer = memoryview(_Bytes(policy)).tobytes()
    call(_PRCTL, _SET_SECCOMP, _FILTER, struct.pack("Hxxxxxx8s", len(policy) // 8, pointer), 0, 0)


def _execute(plan: Plan) -> None:
    """Execute the program like `execvpe`, which would import more."""
    program = plan.argv[0]
    places = [program] if "/" in program else [f"{folder}/{program}" for folder in plan.env["PATH"].split(":")]
    refused: OSError | None = None
    for place in places:
        try:
            os.execve(place, plan.argv, plan.env)  # noqa: S606 - the purpose of this module
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:  # another folder may have an executable one
            refused = error
    raise refused or FileNotFoundError(errno.ENOENT, "not found", program)


def _tell(plan: Plan, error: OSError) -> None:
    os.write(2, f"{error.filename or plan.argv[0]}: {error.strerror}\n".encode())


def _code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else SIGNALLED - code
