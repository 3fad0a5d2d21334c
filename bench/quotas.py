"""Overshoot of a command that uses disk or memory as fast as it can before it is ended for exceeding its limits.

Limits are enforced by sampling alone, as on machines without control groups, which would allow no overshoot of memory.
"""

import asyncio
import os
import shutil
import struct
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from msgspec.structs import replace

from agent_core.clock import SystemClock
from agent_core.sandbox.command import Command, Launcher
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.probe import fault_of
from agent_core.sandbox.process import ProcessSandbox
from agent_core.sandbox.usage import Usage, free_on_machine, usage_of
from bench.figures import Figure
from gateway.settings.limits import MB, QuotaSettings
from tests.agent_core.sandbox.running import sampled_launchers

WORKSPACE = "workspace"
ROOM = 300
"""MB that may be written before the disk counts as full."""
TRIES = 5
"""Number of tries; the worst counts."""
WRITERS = """
import subprocess, itertools
for round in itertools.count():
    argv = ["dd", "if=/dev/zero", "bs=1M", "count=95", "status=none"]
    dds = [subprocess.Popen([*argv, f"of=f{round}-{number}"]) for number in range(4)]
    for dd in dds:
        dd.wait()
"""
TINY = """
import os
for part in range(4):
    os.mkdir(str(part))
    if part == 3 or os.fork() == 0:
        for number in range(10**8):
            os.close(os.open(f"{part}/{number}", os.O_WRONLY | os.O_CREAT))
"""
MEMORY_HOG = """
import mmap, os, struct
with open("count", "wb") as file:
    file.truncate(4 * 4096)
file = open("count", "r+b")
counts = mmap.mmap(file.fileno(), 4 * 4096)
for part in range(4):
    if part == 3 or os.fork() == 0:
        held = []
        while len(held) < 190:
            held.append(b"x" * 8_000_000)
            struct.pack_into("Q", counts, part * 4096, len(held) * 8_000_000)
        import time; time.sleep(60)
"""
"""Each process reports in a file how much memory it holds."""


async def figures() -> list[Figure]:
    settings = QuotaSettings()
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        found: list[Figure] = []
        for launcher in sampled_launchers():
            if not await fault_of(launcher, Path(folder)):
                found += [figure async for figure in _measured(Path(folder), launcher, settings)]
    return found


async def _measured(here: Path, launcher: Launcher, settings: QuotaSettings) -> AsyncIterator[Figure]:
    limits, reserve, name = settings.of_a_command, settings.reserve_mb, launcher.name
    own = replace(limits, free_bytes=0)
    worst = max([(await _used(here, launcher, WRITERS, own)).bytes for _ in range(TRIES)]) - own.grow_bytes
    yield Figure(f"{name}: written beyond its {settings.command_mb} MB", worst / MB, "MB", reserve)
    worst = max([await _below_the_reserve(here, launcher, limits) for _ in range(TRIES)])
    yield Figure(f"{name}: taken of the {reserve} MB that stay free", worst / MB, "MB", reserve)
    worst = max([(await _used(here, launcher, TINY, own)).files for _ in range(TRIES)]) - own.grow_files
    yield Figure(f"{name}: files beyond its {own.grow_files}", worst, "files", limits.free_files)
    worst = max([await _memory(here, launcher, limits) for _ in range(TRIES)])
    yield Figure(f"{name}: memory beyond its {settings.command_memory_mb} MB", worst / MB, "MB")


async def _below_the_reserve(here: Path, launcher: Launcher, limits: CommandLimits) -> int:
    """Measure writing with a nearly full disk."""
    shutil.rmtree(here / WORKSPACE, ignore_errors=True)
    await asyncio.to_thread(os.sync)  # deleted space is free only after this
    tight = replace(limits, free_bytes=free_on_machine(here).bytes - ROOM * MB, grow_bytes=1 << 60)
    return (await _used(here, launcher, WRITERS, tight)).bytes - ROOM * MB


async def _memory(here: Path, launcher: Launcher, limits: CommandLimits) -> int:
    workspace = _workspace(here)
    await _ended(launcher, workspace, MEMORY_HOG, limits)
    counts = (workspace / "count").read_bytes()
    held: int = sum(struct.unpack_from("Q", counts, 4096 * part)[0] for part in range(4))
    return held - limits.all_memory_bytes


async def _used(here: Path, launcher: Launcher, script: str, limits: CommandLimits) -> Usage:
    workspace = _workspace(here)
    await _ended(launcher, workspace, script, limits)
    return usage_of(workspace, 10**9)


async def _ended(launcher: Launcher, workspace: Path, script: str, limits: CommandLimits) -> None:
    command = Command(("python3", "-I", "-S", "-c", script), workspace, limits=limits)
    finished = await ProcessSandbox(launcher, SystemClock()).run(command, "output", lambda _: None)
    assert finished.excess, finished.output.read_text()


def _workspace(here: Path) -> Path:
    workspace = here / WORKSPACE
    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir()
    return workspace
