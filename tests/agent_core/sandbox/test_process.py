"""A command runs to its end or is ended; its output is kept and no process stays."""

import asyncio
import sys
from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.sandbox.command import Command, Finished, Launcher, OnOutput
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.process import LINE_CHARS, ProcessSandbox, plain
from tests.agent_core.sandbox.running import LAUNCHERS, PlainLauncher, launcher_called, running
from tests.clock import HandClock, Patient
from tests.process import until

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
pytestmark = [LINUX, pytest.mark.in_turn("launcher", LAUNCHERS, indirect=True)]

DEFAULT, SHORT = CommandLimits(), CommandLimits(seconds=0.5)


@pytest.fixture
async def launcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    return await launcher_called(request.param, tmp_path_factory.mktemp("scratch"))


@pytest.fixture
def sandbox(launcher: Launcher) -> ProcessSandbox:
    return ProcessSandbox(launcher, SystemClock())


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def silent(_: str) -> None: ...


async def shell(
    sandbox: ProcessSandbox, workspace: Path, script: str, limits: CommandLimits = DEFAULT, on_output: OnOutput = silent
) -> Finished:
    command = Command(("/bin/sh", "-c", script), workspace, limits=limits)
    tasks, most = asyncio.all_tasks(), handles()
    try:
        return await sandbox.run(command, "out.txt", on_output)
    finally:
        assert (asyncio.all_tasks() == tasks, handles() <= most) == (True, True)  # earlier ones may be closed meanwhile


async def test_what_it_says_is_kept_in_order(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    finished = await shell(sandbox, tmp_path, "echo one; echo two >&2; echo three; exit 3")

    assert finished.code == 3
    assert finished.output == tmp_path / "out.txt"
    assert finished.output.read_text() == "one\ntwo\nthree\n"
    assert finished.size == 14
    assert not finished.timed_out
    assert not finished.flooded
    assert finished.seconds > 0


async def test_it_gets_its_arguments_as_they_are_and_nothing_of_our_environment(
    sandbox: ProcessSandbox, tmp_path: Path
) -> None:
    arguments = ("a b", "", "*", "$HOME", "new\nline", "名")
    script = "import os, sys; print(sys.argv[1:], sorted(os.environ), sys.stdin.read(), os.getcwd())"

    command = Command(("python3", "-c", script, *arguments), tmp_path, env={"EXTRA": "1"})
    await sandbox.run(command, "out.txt", silent)

    said = (tmp_path / "out.txt").read_text()
    assert said.startswith(str(list(arguments)))
    assert "'EXTRA'" in said
    assert "'HOME'" in said
    assert "PYTEST_CURRENT_TEST" not in said
    assert said.strip().endswith(str(tmp_path))


async def test_a_thousand_arguments(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    arguments = [f"argument-{number}" for number in range(1000)]

    await sandbox.run(Command(("printf", "%s\n", *arguments), tmp_path), "out.txt", silent)

    assert (tmp_path / "out.txt").read_text().split() == arguments


async def test_bytes_that_are_no_text_are_kept_as_they_are(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    finished = await shell(sandbox, tmp_path, r"printf '\000\377\200\n'")

    assert finished.output.read_bytes() == b"\x00\xff\x80\n"


async def test_output_in_a_folder_of_the_workspace(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()

    finished = await sandbox.run(Command(("echo", "x"), tmp_path), "kept/1.txt", silent)

    assert finished.output.read_text() == "x\n"
    with pytest.raises(FileNotFoundError):
        await sandbox.run(Command(("echo", "x"), tmp_path), "missing/1.txt", silent)


async def test_endless_output_is_cut_at_its_limit(sandbox: ProcessSandbox, tmp_path: Path, marker: str) -> None:
    finished = await shell(sandbox, tmp_path, f"yes {marker}", CommandLimits(output_bytes=1_000_000))

    assert finished.flooded
    assert not finished.timed_out
    assert finished.size == finished.output.stat().st_size == 1_000_000
    await until(lambda: not running(marker))


async def test_exactly_as_much_as_allowed_is_no_flood(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    finished = await shell(sandbox, tmp_path, "head -c 1000 /dev/zero", CommandLimits(output_bytes=1000))

    assert (finished.flooded, finished.size, finished.code) == (False, 1000, 0)


async def test_fifty_megabytes_without_a_line_break(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    lines: list[str] = []
    finished = await shell(
        sandbox,
        tmp_path,
        "head -c 50000000 /dev/zero | tr '\\0' x; sleep 1",
        CommandLimits(output_bytes=60_000_000),
        lines.append,
    )

    assert finished.size == finished.output.stat().st_size == 50_000_000
    assert set(lines) == {"x" * LINE_CHARS}


async def test_a_command_that_takes_too_long_is_killed_with_its_children(
    launcher: Launcher, tmp_path: Path, marker: str
) -> None:
    clock = Patient({SHORT.seconds: lambda: (tmp_path / "out.txt").stat().st_size})
    script = f"sleep 60 & echo begun; sleep 60; : {marker}"
    finished = await shell(ProcessSandbox(launcher, clock), tmp_path, script, SHORT)

    assert finished.timed_out
    assert finished.code != 0
    assert finished.output.read_text() == "begun\n"
    assert finished.seconds < 60
    await until(lambda: not running(marker))


async def test_a_command_that_ignores_being_asked_is_made_to_end(
    sandbox: ProcessSandbox, tmp_path: Path, marker: str
) -> None:
    finished = await shell(sandbox, tmp_path, f"trap '' TERM INT HUP; while :; do sleep 0.1; done; : {marker}", SHORT)

    assert finished.timed_out
    assert finished.code != 0
    await until(lambda: not running(marker))


async def test_who_waits_for_a_command_does_not_wait_for_what_it_left_behind(
    sandbox: ProcessSandbox, tmp_path: Path, marker: str
) -> None:
    finished = await shell(sandbox, tmp_path, f"setsid sh -c 'sleep 60; : {marker}' 2>/dev/null & echo gone")

    assert finished.seconds < 60
    assert finished.code == 0
    assert finished.output.read_text() == "gone\n"
    await until(lambda: not running(marker))


@pytest.mark.parametrize(
    "script", ["sleep 60", "trap '' TERM; while :; do sleep 0.1; done", "while :; do echo y; done"]
)
async def test_cancelled_it_leaves_nothing_behind(
    sandbox: ProcessSandbox, tmp_path: Path, marker: str, script: str
) -> None:
    task = asyncio.create_task(shell(sandbox, tmp_path, f"{script}; : {marker}"))
    await until(lambda: running(marker))

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await until(lambda: not running(marker))


async def test_cancelled_again_and_again_it_still_leaves_nothing_behind(
    sandbox: ProcessSandbox, tmp_path: Path, marker: str
) -> None:
    script = f"trap '' TERM; while :; do sleep 0.1; done; : {marker}"
    task = asyncio.create_task(shell(sandbox, tmp_path, script))
    await until(lambda: running(marker))

    while not task.done():
        task.cancel()
        await asyncio.sleep(0.01)

    assert task.cancelled()
    await until(lambda: not running(marker))


@pytest.mark.parametrize("turns", range(12))
async def test_cancelled_while_it_starts_it_leaves_nothing_behind(
    sandbox: ProcessSandbox, tmp_path: Path, marker: str, turns: int
) -> None:
    task = asyncio.create_task(shell(sandbox, tmp_path, f"sleep 60; : {marker}"))
    for _ in range(turns):
        await asyncio.sleep(0)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await until(lambda: not running(marker))


async def test_cancelled_at_any_moment_of_its_start_it_leaves_nothing_behind(
    sandbox: ProcessSandbox, tmp_path: Path, marker: str
) -> None:
    async def cancelled(number: int) -> None:
        workspace = tmp_path / str(number)
        workspace.mkdir()
        command = Command(("/bin/sh", "-c", f"sleep 60; : {marker}"), workspace)
        task = asyncio.create_task(sandbox.run(command, "out.txt", silent))
        await asyncio.sleep(number % 40 / 2000)
        task.cancel()
        await asyncio.wait([task])

    for start in range(0, 80, 8):
        await asyncio.gather(*(cancelled(number) for number in range(start, start + 8)))

    await until(lambda: not running(marker))


@pytest.mark.in_turn("name", LAUNCHERS)
def test_the_end_of_the_program_s_loop_ends_it(tmp_path: Path, marker: str, name: str) -> None:
    async def program() -> None:
        sandbox = ProcessSandbox(await launcher_called(name, tmp_path / "scratch"), SystemClock())
        command = Command(("/bin/sh", "-c", f"sleep 60; : {marker}"), tmp_path)
        task = asyncio.create_task(sandbox.run(command, "out.txt", silent))
        await until(lambda: running(marker))
        assert not task.done()

    asyncio.run(program())

    asyncio.run(until(lambda: not running(marker)))


async def test_the_last_line_is_told_four_times_a_second_and_printable(tmp_path: Path) -> None:
    clock = HandClock()
    sandbox = ProcessSandbox(PlainLauncher(), clock)
    lines: list[str] = []
    script = r"printf '\033[31mred\033[0m\n\033]0;title\a 10 %%\r 20 %%\n\n'; while [ ! -e go ]; do sleep 0.02; done"
    task = asyncio.create_task(shell(sandbox, tmp_path, script, on_output=lines.append))
    await until(lambda: (tmp_path / "out.txt").exists() and (tmp_path / "out.txt").stat().st_size)

    await clock.advance(0.2)
    assert lines == []
    await clock.advance(0.1)
    assert lines == ["20 %"]
    await clock.advance(2)
    assert lines == ["20 %"]  # nothing new
    (tmp_path / "go").touch()
    await task

    assert sorted(clock.slept[:3]) == [0.05, 0.25, 120]  # intervals for output and for usage, and the time limit


async def test_a_listener_that_fails_stops_nothing(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    def broken(_: str) -> None:
        raise ValueError("broken")

    finished = await shell(sandbox, tmp_path, "echo one; sleep 0.5; echo two", on_output=broken)

    assert finished.code == 0


async def test_a_link_in_the_place_of_the_output_is_not_followed(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    (workspace / "out.txt").symlink_to(outside)

    await shell(sandbox, workspace, "echo said")

    assert outside.read_text() == "untouched"
    assert (workspace / "out.txt").read_text() == "said\n"
    (tmp_path / "folder").mkdir()
    (workspace / "link").symlink_to(tmp_path / "folder")
    with pytest.raises(OSError, match=r"Not a directory|symbolic"):
        await sandbox.run(Command(("echo", "x"), workspace), "link/out.txt", silent)
    assert list((tmp_path / "folder").iterdir()) == []


async def test_a_link_that_the_command_puts_there_changes_nothing_outside(
    sandbox: ProcessSandbox, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (tmp_path / "outside").write_text("untouched")

    finished = await shell(sandbox, workspace, "echo a; rm out.txt; ln -s ../outside out.txt; echo b")

    assert finished.size == 4
    assert (tmp_path / "outside").read_text() == "untouched"


async def test_what_cannot_be_started_says_so(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await sandbox.run(Command(("no-such-program",), tmp_path), "out.txt", silent)


async def test_more_arguments_than_a_program_can_get(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    """Bubblewrap itself cannot be started with so many; under Landlock the supervisor notices too late to raise."""
    command = Command(("echo", "x" * 3_000_000), tmp_path)
    if sandbox.name == "landlock":
        assert (await sandbox.run(command, "out.txt", silent)).code == 126
        assert "too long" in (tmp_path / "out.txt").read_text()
    else:
        with pytest.raises(OSError, match="too long"):
            await sandbox.run(command, "out.txt", silent)


async def test_many_at_once(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    runs = [sandbox.run(Command(("echo", str(number)), tmp_path), f"{number}.txt", silent) for number in range(20)]

    finished = await asyncio.gather(*runs)

    assert [one.output.read_text() for one in finished] == [f"{number}\n" for number in range(20)]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[1;31mred\x1b[m and \x1b[Kmore", "red and more"),
        ("\x1b]8;;http://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never ended", ""),
        ("10 %\r20 %\rdone\r\nnext", "done\nnext"),
        ("a\tb\x07\x00\x9b\u202ec\u200b", "a bc"),
        ("a\u00a0b\u3000c", "a b c"),
        ("\x1b", ""),
        ("\x1bM\x1b(Bup", "up"),
    ],
)
def test_plain_is_what_a_terminal_would_show(said: str, shown: str) -> None:
    assert plain(said) == shown
