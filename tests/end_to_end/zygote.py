"""A process that has imported Parley and forks one for each start that a test asks for.

Most of what a start costs is importing the same modules again: a second of CPU, some five hundred times in a run of all
tests. So each test process has one of these. It imports what `parley run` imports, and no more happens in it: no
settings, no event loop, no thread, no connection. What it forks is a process of its own like any other, with a pid, an
environment, a folder, files and a session of its own; from there on it does what `python -m gateway.cli` does, down to
the exit code. `test_zygote.py` compares what a program finds either way.

What differs from the command line, and why it does no harm:

- Modules are there already. They must take nothing from the environment while they are imported, for it is that of the
  zygote then, in which there is nothing but PATH. `test_zygote.py` holds that no setting of ours is read, and that
  importing leaves no thread and no open file; `tests/test_imports.py` looks for its other effects.
- Modules of another platform may be there too, for a zygote serves all tests of its process, one after the other.
- Python's hash seed is that of the zygote: sets are in the same order in each life. `random` is seeded anew.
- Its parent is the zygote, which waits for it and tells the test how it ended. A signal goes the same way, so that it
  never meets another process that has got the same pid meanwhile.

Tests about starting take the command line, and so do some of each platform's conversations and kills; see `Program`.

One request is one message on the socket whose number is the argument: a `Birth` as JSON with four files, standard
input, output, error, and a line on which the zygote answers with the pid, takes signals and tells the exit code, each a
number. When the socket is closed it kills whatever still runs and ends with their number as exit code.
"""

import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
from dataclasses import asdict, dataclass
from typing import NoReturn, Self

MODULES = ("gateway.start", "gateway.talk", "agent_core.models.openai_client", "channels.web.adapter")
"""What every program imports sooner or later. Neither `gateway.cli`, which is run, nor any SDK: see `Birth.modules`."""
MESSAGE = 1 << 17
"""Longer than any birth: the environment names some hundred people."""
LOCALE = {name: value for name, value in os.environ.items() if name == "LC_CTYPE"}
"""Python adds this to its environment when it starts and nobody has said how characters are written."""


@dataclass(frozen=True)
class Birth:
    """What a program is started with."""

    modules: tuple[str, ...]
    """Which it is known to import; imported before it is forked, so that the next one finds them."""
    module: str
    arguments: tuple[str, ...]
    environ: dict[str, str]
    cwd: str
    new_session: bool

    def __post_init__(self) -> None:
        for name in self.environ:
            if name.startswith(("LC_", "LANG", "PYTHON")) and name != "PYTHONPATH":
                raise ValueError(f"{name} is read when Python starts: this one needs the command line")

    def dump(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def load(cls, message: bytes) -> Self:
        return cls(**json.loads(message))


class Zygote:
    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._lines: dict[int, socket.socket] = {}
        """Of those that live, by pid."""
        self._bell, self._ringing = socket.socketpair()
        """Rings when a child ended."""
        self._interrupt = signal.getsignal(signal.SIGINT)
        """As it was told: who starts tests in the background may have had Ctrl-C ignored."""
        for end in (self._bell, self._ringing):
            end.settimeout(0)

    def serve(self) -> Birth | None:
        """Returns in each child, as soon as it is born, with what it is to become; in the zygote None at the end."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which close the socket then
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
        """All that live. Returns how many."""
        for pid in self._lines:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return len(self._lines)

    def _bear(self, birth: Birth, files: list[int]) -> bool:
        """Returns twice: True in the child."""
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
        self._lines[pid].send(str(pid).encode())
        return False

    def _leave(self) -> None:
        """Nothing of the zygote's is the child's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, self._interrupt)
        for ours in (self._requests, self._bell, self._ringing, *self._lines.values()):
            ours.close()

    def _pass_on(self, pid: int, line: socket.socket) -> None:
        """A signal; what is not waited for is its parent's still, so the pid is nobody else's. A line that nobody holds
        any more has nobody to tell when the program ends, which it does then."""
        os.kill(pid, int(line.recv(MESSAGE) or signal.SIGKILL))

    def _bury(self) -> None:
        for pid, line in list(self._lines.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with self._lines.pop(pid), line:
                    line.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(birth: Birth, files: list[int]) -> None:
    """The process that `python -P -m` makes, before it runs the module."""
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
    # As Python does it when it starts; both were made for the zygote's own.
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(line_buffering=stream.isatty())  # type: ignore[union-attr]  # they are text files here


def main() -> NoReturn:
    zygote = Zygote(socket.socket(fileno=int(sys.argv[1])))
    for module in MODULES:
        importlib.import_module(module)
    birth = zygote.serve()
    if birth is None:
        os._exit(zygote.kill())  # there is nothing to tidy up, and Python would take a while for it
    sys.argv[1:] = birth.arguments
    runpy.run_module(birth.module, run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    main()
