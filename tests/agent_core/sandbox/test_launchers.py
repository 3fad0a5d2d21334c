"""The contract of both launchers: a command works as usual, and nothing of it stays behind."""

import asyncio
import json
import os
import secrets
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_core.sandbox.bubblewrap import Bubblewrap
from agent_core.sandbox.command import Command, Launcher
from agent_core.sandbox.landlock import Landlock
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.machine_view import python_folder
from agent_core.sandbox.probe import NAMES, NoLauncher, find_launcher
from tests.agent_core.sandbox.running import running
from tests.process import REPOSITORY, until

pytestmark = pytest.mark.in_turn("launcher", NAMES, indirect=True)

WAITS = "import sys, time; print('ready', flush=True); time.sleep(60)"


@pytest.fixture
async def launcher(request: pytest.FixtureRequest, tmp_path: Path) -> Launcher:
    found = await find_launcher(tmp_path / "scratch", only=request.param)
    if isinstance(found, NoLauncher):
        pytest.skip(found.reason)
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def marker() -> str:
    """A word that identifies the test's processes."""
    return f"marker-{secrets.token_hex(8)}"


async def start(launcher: Launcher, command: Command) -> Process:
    with launcher.launch(command) as launch:
        return await asyncio.create_subprocess_exec(
            *launch.argv,
            stdin=launch.stdin,
            stdout=PIPE,
            stderr=PIPE,
            cwd=launch.cwd,
            env=dict(launch.env),
            pass_fds=launch.pass_fds,
            start_new_session=True,
        )


async def run(launcher: Launcher, command: Command) -> tuple[int | None, str, str]:
    """Run a command; return its exit code, output and errors."""
    process = await start(launcher, command)
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def a_file_in(folder: Path) -> Path:
    return next(path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def folders_of_no_program() -> list[Path]:
    """Return one library folder that the tests do not need."""
    names = ("apt", "git-core", "systemd", "udev", "dpkg", "ssl")
    return [Path("/usr/lib", name) for name in names if any(Path("/usr/lib", name).glob("*"))][:1]


def readiness_to_go(pid: int) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def python(code: str, workspace: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Command:
    return Command(("python3", "-S", "-c", code, *arguments), workspace, env=env or {})


async def test_a_command_works_in_its_workspace_under_its_own_path(launcher: Launcher, workspace: Path) -> None:
    (workspace / "in").write_text("words")

    code, out, err = await run(launcher, Command(("sh", "-c", "pwd; cat in >out; echo $HOME; exit 7"), workspace))

    assert (code, out, err) == (7, f"{workspace}\n{workspace}\n", "")
    assert (workspace / "out").read_text() == "words"
    assert names(workspace) == ["in", "out"]


async def test_what_it_wrote_to_its_temporary_folder_goes_with_it(launcher: Launcher, workspace: Path) -> None:
    told = 'mkdir -p "$TMPDIR/a/b" && echo x >"$TMPDIR/a/b/c" && ln -s / "$TMPDIR/root" && cat "$TMPDIR/a/b/c"'

    assert await run(launcher, Command(("sh", "-c", told), workspace)) == (0, "x\n", "")

    assert names(workspace) == []


async def test_what_it_may_read_may_lie_around_its_workspace(launcher: Launcher, workspace: Path) -> None:
    (workspace.parent / "around").write_text("x")
    command = Command(("sh", "-c", "cat ../around >in; echo y >../around || cat in"), workspace)

    assert (await run(launcher, replace(command, readable=(workspace.parent,))))[1] == "x"


async def test_where_it_cannot_begin_it_says_why(launcher: Launcher, workspace: Path) -> None:
    code, out, err = await run(
        launcher, replace(Command(("true",), workspace), limits=CommandLimits(memory_bytes=1024**2))
    )

    assert code != 0
    assert out == ""
    assert err != ""


async def test_a_signal_is_told_as_shells_do(launcher: Launcher, workspace: Path) -> None:
    code, *_ = await run(launcher, Command(("sh", "-c", "kill -KILL $$"), workspace))

    assert code == 128 + signal.SIGKILL


async def test_a_program_that_is_not_there_is_not_started(launcher: Launcher, workspace: Path) -> None:
    for program in ("no-such-program", "./no-such-program"):
        with pytest.raises(FileNotFoundError), launcher.launch(Command((program,), workspace)):
            pass


async def test_a_folder_of_programs_that_it_may_not_enter_is_passed_over(launcher: Launcher, workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "printf").write_text("#!/bin/sh\necho wrong\n")
    (outside / "printf").chmod(0o755)
    command = Command(("printf", "right"), workspace, env={"PATH": f"{outside}:/usr/bin:/bin"})

    assert await run(launcher, command) == (0, "right", "")


async def test_python_is_the_one_that_parley_runs_with(launcher: Launcher, workspace: Path) -> None:
    code, out, err = await run(launcher, python("import sys; print(sys.base_prefix, sys.version)", workspace))

    assert (code, out, err) == (0, f"{python_folder()} {sys.version}\n", "")


async def test_it_is_told_what_it_asks_for_and_nothing_of_ours(launcher: Launcher, workspace: Path) -> None:
    asked = {"LD_PRELOAD": "", "GREETING": "a b\n'c' \"$HOME\"", "TMPDIR": str(workspace)}
    command = python("import json, os; print(json.dumps(dict(os.environ)))", workspace, env=asked)

    with launcher.launch(command) as launch:
        assert asked.keys() & launch.env.keys() <= {"TMPDIR"}
        assert launch.env.get("TMPDIR") != str(workspace)
    _, out, err = await run(launcher, command)

    told = json.loads(out)
    assert err == ""
    assert asked.items() <= told.items()
    assert told.keys() - asked.keys() <= {"PATH", "HOME", "LANG", "GIT_CONFIG_NOSYSTEM", "PWD", "LC_CTYPE"}


@pytest.mark.parametrize("name", ["A=B", "", "BASH_FUNC_ulimit%%", "--", "a b", "1A"])
async def test_what_is_no_name_is_no_variable(launcher: Launcher, workspace: Path, name: str) -> None:
    with pytest.raises(OSError, match="environment"), launcher.launch(Command(("true",), workspace, env={name: "x"})):
        pass


async def test_its_processes_have_the_limits_that_it_was_given(launcher: Launcher, workspace: Path) -> None:
    told = """
import resource as r
print([r.getrlimit(each) for each in (r.RLIMIT_AS, r.RLIMIT_CPU, r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_CORE)])
"""
    limits = CommandLimits(cpu_seconds=7, memory_bytes=512 * 1024**2, file_bytes=1024**2, open_files=64)

    _, out, err = await run(launcher, replace(python(told, workspace), limits=limits))

    assert (out.strip(), err) == (str([(each, each) for each in (512 * 1024**2, 7, 1024**2, 64, 0)]), "")


async def test_what_writes_to_a_closed_pipe_ends_as_usual(launcher: Launcher, workspace: Path) -> None:
    """Python ignores SIGPIPE, and its child processes would inherit that."""
    assert await run(launcher, Command(("sh", "-c", "yes | head -1"), workspace)) == (0, "y\n", "")


async def test_with_network_it_reaches_a_host_but_no_socket_without_one(
    launcher: Launcher, workspace: Path, marker: str
) -> None:
    told = f"""
import socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
print("reached")
try:
    socket.socket(socket.AF_UNIX).connect("\\0{marker}")
    print("escaped")
except OSError:
    socket.socketpair()
"""
    with socket.socket() as host, socket.socket(socket.AF_UNIX) as abstract:
        host.bind(("127.0.0.1", 0))
        abstract.bind(f"\0{marker}")
        for each in (host, abstract):
            each.listen()
        command = python(told, workspace, str(host.getsockname()[1]))

        assert await run(launcher, replace(command, network=True)) == (0, "reached\n", "")
        code, out, _ = await run(launcher, command)
        assert (code, out) == (1, "")


@pytest.mark.parametrize("kind", [Bubblewrap, Landlock])
async def test_what_is_hidden_in_a_system_folder_is_not_there(
    kind: type[Bubblewrap | Landlock], tmp_path: Path, workspace: Path
) -> None:
    """Hide folders as our own packages are where they are installed beside Python's."""
    hidden, seen = (Path("/usr/share"), *folders_of_no_program()), Path("/usr/bin/env")
    found = await find_launcher(tmp_path / "scratch", hidden=hidden, only=kind.name)
    if isinstance(found, NoLauncher):
        pytest.skip(found.reason)

    for inside in map(a_file_in, hidden):
        for path in (inside, Path("/lib", *inside.parts[3:])):  # /lib may be another name of /usr/lib
            code, out, _ = await run(found, Command(("head", "-c", "1", str(path)), workspace))
            assert (code, out) == (1, ""), path

    code, *_ = await run(found, Command(("mkdir", str(hidden[0] / "new")), workspace))
    assert code == 1  # it would use up memory
    code, out, _ = await run(found, Command(("head", "-c", "1", str(seen)), workspace))
    assert (code, len(out)) == (0, 1)
    assert (await run(found, python("import ssl; print('works')", workspace)))[1] == "works\n"


async def test_what_a_command_left_in_the_background_ends_with_it(
    launcher: Launcher, workspace: Path, marker: str
) -> None:
    waits = f"setsid sh -c 'trap \"\" TERM HUP; sleep 60; : {marker}' >/dev/null 2>&1 &"

    assert (await run(launcher, Command(("sh", "-c", f"{waits} {waits} sleep 0.1"), workspace)))[0] == 0

    await until(lambda: not running(marker))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_all_of_it_ends_with_the_process_that_was_launched(
    launcher: Launcher, workspace: Path, marker: str, how: signal.Signals
) -> None:
    told = """
import os, signal, time
for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(each, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
print("ready", flush=True)
time.sleep(60)
"""
    process = await start(launcher, python(told, workspace, marker))
    assert process.stdout is not None
    for _ in range(8):
        assert await process.stdout.readline() == b"ready\n"

    os.killpg(process.pid, how)

    await process.communicate()  # returns when no process holds the pipe any more
    await until(lambda: not running(marker))


async def test_a_command_that_flees_from_one_process_to_the_next_ends_too(
    launcher: Launcher, workspace: Path, marker: str
) -> None:
    """Each process exits before it can be killed, and has closed the pipes by which it could be noticed."""
    told = """
import os, time
nowhere = os.open("/dev/null", os.O_RDWR)
os.dup2(nowhere, 2)
print("ready", flush=True)
os.dup2(nowhere, 1)
if all(os.fork() for _ in range(6)):
    time.sleep(60)
while True:
    try:
        if os.fork():
            os._exit(0)
        os.setsid()
    except OSError:
        pass
"""
    process = await start(launcher, python(told, workspace, marker))
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"

    process.kill()

    await process.communicate()
    await until(lambda: not running(marker))


async def test_where_memory_runs_out_it_goes_before_parley(launcher: Launcher, workspace: Path, marker: str) -> None:
    process = await start(launcher, python(WAITS, workspace, marker))
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"

    assert {readiness_to_go(pid) for pid in running(marker)} == {1000}

    process.kill()
    await process.communicate()


async def test_all_of_it_ends_with_parley(launcher: Launcher, workspace: Path, marker: str) -> None:
    house = f"""
import asyncio
from pathlib import Path
from agent_core.sandbox.probe import find_launcher
from tests.agent_core.sandbox.test_launchers import WAITS, python, start

async def main():
    folder = Path({str(workspace)!r})
    launcher = await find_launcher(folder.parent / "scratch", only={launcher.name!r})
    process = await start(launcher, python(WAITS, folder, {marker!r}))
    print((await process.stdout.readline()).decode(), end="", flush=True)
    await process.wait()

asyncio.run(main())
"""
    parley = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", house), env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY)}, stdout=PIPE
    )
    assert parley.stdout is not None
    assert await parley.stdout.readline() == b"ready\n"
    assert running(marker) != []

    parley.kill()

    await parley.communicate()
    await until(lambda: not running(marker))


async def test_all_of_it_ends_with_parley_at_any_moment_of_its_start(
    launcher: Launcher, workspace: Path, marker: str
) -> None:
    """The command has closed every pipe by which it could be noticed."""
    house = f"""
import os, subprocess, time
from pathlib import Path
from agent_core.sandbox.command import Command
from agent_core.sandbox.limits import CommandLimits
from tests.agent_core.sandbox.outside import launcher

kind = launcher({launcher.name!r})
command = Command(("sh", "-c", "exec >/dev/null 2>&1; sleep 60; : {marker}"), Path({str(workspace)!r}))
for _ in range(12):
    with kind.launch(command) as launch:
        subprocess.Popen(
            launch.argv,
            stdin=launch.stdin,
            cwd=launch.cwd,
            env=dict(launch.env),
            pass_fds=launch.pass_fds,
            start_new_session=True,
        )
    time.sleep(0.002)
os.kill(os.getpid(), 9)
"""
    for _ in range(3):
        parley = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", house), env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY)}, stdout=PIPE
        )
        await parley.communicate()  # returns when every process has begun
        assert parley.returncode == -signal.SIGKILL

    await until(lambda: not running(marker))


async def test_many_at_once_do_not_get_in_each_others_way(launcher: Launcher, workspace: Path) -> None:
    commands = [Command(("sh", "-c", f"echo {number} >$TMPDIR/n; cat $TMPDIR/n"), workspace) for number in range(12)]

    results = await asyncio.gather(*(run(launcher, command) for command in commands))

    assert results == [(0, f"{number}\n", "") for number in range(12)]
