"""A command that exceeds its limits is ended while it runs, whichever way it does so."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_core.clock import SystemClock
from agent_core.sandbox.cgroup import control_groups
from agent_core.sandbox.command import Command, Finished, Launcher
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.probe import NAMES, fault_of
from agent_core.sandbox.process import ProcessSandbox
from agent_core.sandbox.usage import usage_of
from tests.agent_core.sandbox.running import LAUNCHERS, RecordingLauncher, launcher_called, sampled_launchers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

LIMITS = CommandLimits(seconds=30, grow_bytes=20_000_000, grow_files=300, all_memory_bytes=300_000_000)

# What is written counts as memory, too, where the folder is in memory: so these write less than their limit of that.
WRITES = """
import time
for number in range(60):
    open(f"file-{number % 50}", "ab").write(bytes(1_000_000))
time.sleep(60)
"""
MANY_FILES = """
import os
os.mkdir("d")
for number in range(10**7):
    open(f"d/{number}", "w").close()
"""
DELETED_AND_OPEN = """
import os, time
files = []
for number in range(8):
    files.append(open("file", "wb"))
    os.unlink("file")
    files[-1].write(bytes(5_000_000))
    files[-1].flush()
time.sleep(60)
"""
BEHIND_A_SHUT_DOOR = """
import os, time
os.mkdir("shut")
open("shut/file", "wb").write(b"x" * 30_000_000)
os.chmod("shut", 0)
time.sleep(60)
"""
CHILDREN_WITH_MEMORY = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        held = b"x" * 100_000_000
        time.sleep(60)
time.sleep(60)
"""
MEMORY_FILES = """
import os, time
handles = []
for _ in range(5):
    handles.append(os.memfd_create("held"))
    os.write(handles[-1], bytes(80_000_000))
time.sleep(60)
"""
FILES_IN_A_TEMPORARY_FOLDER = """
import time
for number in range(2):
    open(f"/tmp/{number}", "wb").write(bytes(100_000_000))
open("/dev/shm/file", "wb").write(bytes(60_000_000))
held = b"x" * 80_000_000
time.sleep(60)
"""
IN_THE_BACKGROUND = """
import os, time
if os.fork() == 0:
    os.setsid()
    for _ in range(60):
        open("log", "ab").write(b"x" * 1_000_000)
time.sleep(60)
"""


async def run(
    name: str, place: Path, script: str, limits: CommandLimits = LIMITS, launcher: Launcher | None = None
) -> tuple[Finished, Path]:
    launcher = launcher or await launcher_called(name, place / "scratch")
    workspace = place / "workspace"
    workspace.mkdir()
    command = Command(("python3", "-I", "-S", "-c", script), workspace.resolve(), limits=limits)
    return await ProcessSandbox(launcher, SystemClock()).run(command, "output", lambda _: None), workspace


@pytest.mark.in_turn("name", LAUNCHERS)
@pytest.mark.parametrize(
    ("script", "excess"),
    [
        pytest.param(WRITES, "20 MB of disk", id="writes"),
        pytest.param(MANY_FILES, "300 new files", id="many files"),
        pytest.param(DELETED_AND_OPEN, "20 MB of disk", id="deleted and open"),
        pytest.param(BEHIND_A_SHUT_DOOR, "20 MB of disk", id="behind a shut door"),
        pytest.param(CHILDREN_WITH_MEMORY, "300 MB of memory", id="memory of children"),
        pytest.param(MEMORY_FILES, "300 MB of memory", id="files in memory"),
        pytest.param(IN_THE_BACKGROUND, "20 MB of disk", id="in the background"),
    ],
)
async def test_what_uses_too_much_is_ended(tmp_path: Path, name: str, script: str, excess: str) -> None:
    finished, _ = await run(name, tmp_path, script)
    assert finished.excess == f"more than {excess}"
    assert not finished.timed_out


@pytest.mark.parametrize(
    ("name", "script"),
    [
        *((name, script) for name in NAMES for script in (CHILDREN_WITH_MEMORY, MEMORY_FILES)),
        ("bubblewrap", FILES_IN_A_TEMPORARY_FOLDER),  # under Landlock they are on the disk
    ],
)
async def test_memory_is_held_without_control_groups_too(tmp_path: Path, name: str, script: str) -> None:
    await launcher_called(name, tmp_path / "scratch")
    launcher = next(each for each in sampled_launchers() if each.name == name)
    if await fault_of(launcher, tmp_path):
        pytest.skip("this bubblewrap is one before 0.8")
    finished, _ = await run(name, tmp_path, script, launcher=launcher)
    assert finished.excess == "more than 300 MB of memory"


@pytest.mark.in_turn("name", NAMES)
async def test_a_control_group_lets_no_byte_of_memory_through(tmp_path: Path, name: str) -> None:
    """The limit holds even between two measurements."""
    groups = control_groups()
    if not groups or "memory" not in groups.parents:
        pytest.skip("this machine lets us make no control groups for memory")
    script = """
import os
held = []
for _ in range(16):
    held.append(b"x" * 10_000_000)
    with open("held", "a") as file:
        file.write("x")
"""
    limits = replace(LIMITS, all_memory_bytes=100_000_000)
    finished, workspace = await run(name, tmp_path, script, limits)
    assert finished.excess == "more than 100 MB of memory"
    assert 5 <= len((workspace / "held").read_text()) < 10
    assert finished.code != 0


@pytest.mark.in_turn("name", NAMES)
async def test_the_group_of_a_command_goes_with_it(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = control_groups()
    if not groups:
        pytest.skip("this machine lets us make no control groups")
    monkeypatch.setattr("agent_core.sandbox.cgroup._TRIES", 7_500)  # the last process may leave it late
    launcher = RecordingLauncher(await launcher_called(name, tmp_path / "scratch"))
    finished, _ = await run("", tmp_path, "print('done')", launcher=launcher)
    assert finished.code == 0
    assert [group for group in launcher.groups if any(folder.exists() for folder in group.folders)] == []
    assert len(launcher.groups) == 1


async def test_holes_in_files_cost_nothing(tmp_path: Path) -> None:
    finished, workspace = await run("plain", tmp_path, "open('sparse', 'wb').truncate(90_000_000)")
    assert (finished.code, finished.excess) == (0, "")
    assert usage_of(workspace).bytes < 100_000


async def test_a_second_name_is_no_second_file(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * 100_000)
    once = usage_of(tmp_path)
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    assert usage_of(tmp_path).bytes == once.bytes


async def test_who_shares_memory_does_not_use_it_twice(tmp_path: Path) -> None:
    """The shares of four processes that end one by one while they are asked come to twice the memory."""
    limits = replace(LIMITS, all_memory_bytes=450_000_000)
    script = "import os, time\nheld = b'x' * 150_000_000\n[os.fork() for _ in range(2)]\ntime.sleep(1)"
    finished, _ = await run("plain", tmp_path, script, limits)
    assert (finished.code, finished.excess) == (0, "")


async def test_a_disk_that_is_nearly_full_ends_every_command(tmp_path: Path) -> None:
    finished, _ = await run("plain", tmp_path, "import time; time.sleep(60)", CommandLimits(free_bytes=1 << 60))
    assert finished.excess == "all but the last of the disk"
