"""A process that has imported Parley and forks a copy for each start that a test asks for.

Importing the same modules takes a second of CPU per start, and a run of all tests has some five hundred starts. So each
test process has one zygote. It imports what `parley run` imports and does nothing else: no settings, no event loop, no
thread, no connection. A forked program is a separate process, with a pid, an environment, a folder, files and a session
of its own; it then does what `python -m gateway.cli` does, including the exit code. `test_zygote.py` compares what a
program finds either way.

Differences from the command line, and why they do no harm:

- Modules are already imported, and validators and patterns built that wait for their first use. Modules must not read
the environment at import time, as the zygote's contains nothing but PATH. `test_zygote.py` checks that no setting of
ours is read, and that importing leaves no thread and no open file; `tests/test_imports.py` checks for other effects.
- Folders that PYTHONPATH names beside the repository are searched from the fork on.
- Modules of other platforms may be imported too, as a zygote serves all tests of its process.
- Python's hash seed is that of the zygote, so sets have the same order in each program. `random` is seeded anew.
- The parent is the zygote, which reports the exit code to the test. Signals go through it as well, so that they never
hit another process that has got the same pid meanwhile.

Tests about starting use the command line, and so do some of each platform's conversations and kills; see `Program`.

A request is one message on the socket whose number is the argument: a `Birth` as JSON, with four files: standard input,
output, error, and a socket on which the zygote replies with the pid, receives signals and sends the exit code, each as
a number. When the request socket is closed, the zygote kills the programs that still run, and their number is its exit
code.
"""

import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import NoReturn, Self

from pydantic import BaseModel, TypeAdapter

from agent_core.late_pattern import LatePattern
from gateway.permissions.installed_plugins import HOME, names_of_ours

MODULES = (
    "gateway.app.start",
    "gateway.app.terminal",
    "gateway.admin.pages",
    "gateway.web.page",
    "agent_core.models.openai_client",
    "channels.web.adapter",
    "encodings.idna",
    "importlib.readers",
    "gateway.app.uv_loop",
    HOME,
    *(f"{HOME}.{name}.plugin" for name in sorted(names_of_ours())),
)
"""Modules that every program imports sooner or later, except `gateway.cli`, which is run, and SDKs; see
`Birth.modules`."""
OURS = ("agent_core.", "channels.", "gateway.")
MESSAGE = 1 << 17
"""Longer than any request: the environment contains about a hundred users."""
STREAMS = ("stdin", "stdout", "stderr")
LOCALE = {name: value for name, value in os.environ.items() if name == "LC_CTYPE"}
"""Variables that Python adds to its environment at the start if no encoding is set."""


@dataclass(frozen=True)
class Birth:
    """A request to start a program."""

    modules: tuple[str, ...]
    """Modules to import before forking, so that later programs find them too."""
    module: str
    arguments: tuple[str, ...]
    environ: dict[str, str]
    cwd: str
    new_session: bool

    def __post_init__(self) -> None:
        for name in self.environ:
            if is_read_at_start(name):
                raise ValueError(f"{name} is read when Python starts: this one needs the command line")

    def dump(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def load(cls, message: bytes) -> Self:
        return cls(**json.loads(message))


def is_read_at_start(name: str) -> bool:
    """Return True for an environment variable that Python reads when it starts, so that a fork would not see it."""
    return name.startswith(("LC_", "LANG", "PYTHON")) and name != "PYTHONPATH"


class Zygote:
    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._lines: dict[int, socket.socket] = {}
        """Connections to the tests by process id, for running programs."""
        self._bell, self._ringing = socket.socketpair()
        """Receives a byte when a child has ended."""
        self._interrupt = signal.getsignal(signal.SIGINT)
        """The handler for Ctrl-C at the start, which may be ignored for tests in the background."""
        for end in (self._bell, self._ringing):
            end.settimeout(0)

    def serve(self) -> Birth | None:
        """Serve requests. Returns in each child with what it is to become, and in the zygote None at the end."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which then close the socket
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._ringing.fileno(), warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([self._requests, self._bell, *self._lines.values()], [], [])
            for pid, line in list(self._lines.items()):
                if line in ready:
                    self._pass_on(pid, line)
            if self._bell in ready:
                self._bell.recv(MESSAGE)
                self._bury()
            if self._requests in ready:
                message, files, _, _ = socket.recv_fds(self._requests, MESSAGE, 4)
                if not message:
                    return None
                birth = Birth.load(message)
                if self._bear(birth, files):
                    return birth

    def kill(self) -> int:
        """Kill all programs. Returns how many."""
        for pid in self._lines:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return len(self._lines)

    def _bear(self, birth: Birth, files: list[int]) -> bool:
        """Fork a program. Returns True in the child."""
        for module in birth.modules:
            importlib.import_module(module)
        pid = os.fork()
        if not pid:
            self._leave()
            become(birth, files)
            return True
        *standard, line = files
        for file in standard:
            os.close(file)
        self._lines[pid] = socket.socket(fileno=line)
        _tell(self._lines[pid], pid)
        return False

    def _leave(self) -> None:
        """Close everything that belongs to the zygote."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, self._interrupt)
        for ours in (self._requests, self._bell, self._ringing, *self._lines.values()):
            ours.close()

    def _pass_on(self, pid: int, line: socket.socket) -> None:
        """Forward a signal; until it is waited for, a pid is not reused. A closed connection kills the program, as no
        test waits for it."""
        os.kill(pid, int(line.recv(MESSAGE) or signal.SIGKILL))

    def _bury(self) -> None:
        for pid, line in list(self._lines.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with self._lines.pop(pid), line:
                    _tell(line, os.waitstatus_to_exitcode(status))


def _tell(line: socket.socket, number: int) -> None:
    """Send a number to a test, unless that waits no more."""
    with suppress(ConnectionError):
        line.send(str(number).encode())


def become(birth: Birth, files: list[int]) -> None:
    """Turn the process into one that `python -P -m` would create, before it runs the module."""
    if birth.new_session:
        os.setsid()
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    os.chdir(birth.cwd)
    os.environ.clear()
    os.environ.update(LOCALE | birth.environ)
    time.tzset()
    first = birth.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [*filter(None, first), *(folder for folder in sys.path if folder not in first)]
    # As Python does at its start; these were created for the zygote's own files.
    sys.stdin, sys.stdout, sys.stderr = (_opened(number, sys.__dict__[name]) for number, name in enumerate(STREAMS))


def _opened(number: int, former: io.TextIOWrapper) -> io.TextIOWrapper:
    """Open a standard stream as Python does at its start."""
    file = io.FileIO(number, former.mode, closefd=False)
    file.name = former.name
    buffer = io.BufferedWriter(file) if number else io.BufferedReader(file)
    by_line = number == STREAMS.index("stderr") or file.isatty()
    stream = io.TextIOWrapper(buffer, former.encoding, former.errors, newline="\n", line_buffering=by_line)
    stream.mode = former.mode  # type: ignore[misc]  # Python sets it too
    return stream


def build_late() -> None:
    """Build the validators and patterns that are built when they are first used, which every program would do again."""
    for each in gc.get_objects():
        match each:
            case TypeAdapter():
                each.rebuild()
            case LatePattern():
                each.compiled  # noqa: B018 - it is kept
            case type() if issubclass(each, BaseModel) and each.__module__.startswith(OURS):
                each.model_rebuild()


def main() -> NoReturn:
    zygote = Zygote(socket.socket(fileno=int(sys.argv[1])))
    for module in MODULES:
        importlib.import_module(module)
    build_late()
    birth = zygote.serve()
    if birth is None:
        os._exit(zygote.kill())  # there is nothing to clean up, which would take Python a while
    sys.argv[1:] = birth.arguments
    runpy.run_module(birth.module, run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    main()
