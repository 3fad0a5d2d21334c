"""A program forked by a zygote gets the same arguments as from the command line, and ends like any other."""

import asyncio
import json
import os
import re
import signal
from pathlib import Path

import pytest

from channels.discovery import configs
from tests.end_to_end.forks import CAN_FORK, Forked, Nursery
from tests.end_to_end.platforms.platform import within
from tests.end_to_end.program import Program
from tests.end_to_end.zygote import MODULES, Birth
from tests.process import REPOSITORY, python

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="programs are forked on Linux only")

REFLECTION = "tests.end_to_end.reflection"
IMPORTING = """
import importlib, json, os, sys

class Watched(type(os.environ)):
    def __getitem__(self, name):
        read.add(name)
        return super().__getitem__(name)

read = set()
os.environ.__class__ = Watched
for name in sys.argv[1:]:
    importlib.import_module(name)
files = [file for file in map(int, os.listdir("/proc/self/fd")) if file > 2 and os.path.exists(f"/proc/self/fd/{file}")]
print(json.dumps([sorted(read), len(os.listdir("/proc/self/task")), files]))
"""

OF_PLUGINS = """
import importlib, json, sys

for name in sys.argv[1:]:
    importlib.import_module(name)
before = set(sys.modules)
importlib.import_module("gateway.app.chosen_plugins").own_plugins()
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def reflection(folder: Path, *arguments: str, forked: bool = True) -> Program:
    program = Program(
        folder, {"NO_COLOR": "1", "TZ": "Asia/Tokyo", "PYTHONPATH": f"{REPOSITORY}{os.pathsep}{folder / 'more'}"}
    )
    program.module, program.arguments, program.forked = REFLECTION, arguments, forked
    return program


async def test_it_finds_what_the_command_line_gives_a_program(tmp_path: Path) -> None:
    told = []
    for forked in (False, True):
        program = reflection(tmp_path, "0", forked=forked)
        await program.launch()
        assert await program.ended() == 0
        told.append(json.loads(program.console))
        await asyncio.to_thread((tmp_path / "console.txt").unlink)

    assert told[0] == told[1]
    assert told[0]["environ"]["TZ"] == "Asia/Tokyo"


async def test_on_a_terminal_too(tmp_path: Path) -> None:
    told = []
    for forked in (False, True):
        ours, theirs = os.openpty()
        program = reflection(tmp_path, "0", forked=forked)
        await program.launch(theirs)
        assert await program.ended() == 0
        told.append(json.loads(os.read(ours, 100_000)))
        for end in (ours, theirs):
            os.close(end)

    assert told[0] == told[1]
    assert told[1]["leads"]
    assert told[1]["buffered"][:2] == [True, True]


@pytest.mark.parametrize(("argument", "code"), [("0", 0), ("7", 7), ("raise", 1)])
async def test_its_exit_code_is_told(tmp_path: Path, argument: str, code: int) -> None:
    program = reflection(tmp_path, argument)

    await program.launch()

    assert await program.ended() == code
    assert ("RuntimeError: as it was told" in program.console) == (argument == "raise")


async def test_a_signal_ends_it_and_only_it(tmp_path: Path) -> None:
    nursery = Nursery()
    first, second = [await waiting(nursery, tmp_path) for _ in range(2)]

    first.send_signal(signal.SIGKILL)

    assert await first.wait() == first.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(first.pid, 0)
    with pytest.raises(ProcessLookupError):
        first.send_signal(signal.SIGKILL)
    assert second.returncode is None
    os.kill(second.pid, 0)
    second.send_signal(signal.SIGTERM)
    assert await second.wait() == -signal.SIGTERM
    assert nursery.close() == 0


async def test_what_still_runs_at_the_end_is_killed_and_counted(tmp_path: Path) -> None:
    nursery = Nursery()
    left = await waiting(nursery, tmp_path)

    assert nursery.close() == 1

    with pytest.raises(ProcessLookupError):
        os.kill(left.pid, 0)
    with pytest.raises(RuntimeError, match="is gone"):
        await left.wait()


async def test_a_start_that_is_broken_off_ends_no_other_program(tmp_path: Path) -> None:
    nursery = Nursery()
    other = await waiting(nursery, tmp_path)

    start = asyncio.create_task(waiting(nursery, tmp_path))
    await asyncio.sleep(0)  # it asks
    start.cancel()
    await asyncio.gather(start, return_exceptions=True)

    for program in (other, await waiting(nursery, tmp_path)):
        assert program.returncode is None
        program.send_signal(signal.SIGTERM)
        assert await program.wait() == -signal.SIGTERM
    nursery.close()


async def waiting(nursery: Nursery, folder: Path) -> Forked:
    """Fork a program that waits for a signal."""
    said = folder / "said.txt"
    with said.open("wb") as out:
        birth = Birth((), REFLECTION, ("wait",), {}, str(folder), new_session=False)
        program = await nursery.fork(birth, stdin=None, stdout=out.fileno(), stderr=out.fileno())
    await within(30, lambda: said.stat().st_size > 0, lambda: str(program.returncode))
    return program


async def test_importing_reads_no_setting_and_leaves_neither_a_thread_nor_a_file(tmp_path: Path) -> None:
    adapters = [f"channels.{name}.adapter" for name in configs()]

    ran = await python("-P", "-c", IMPORTING, *MODULES, *adapters, cwd=tmp_path)

    assert ran.err == ""
    read, threads, files = json.loads(ran.out)
    example = await asyncio.to_thread((REPOSITORY / ".env.example").read_text)
    settings = set(re.findall(r"^#? ?([A-Z][A-Z0-9_]+)=", example, re.MULTILINE))
    assert len(settings) > 20
    assert settings & set(read) == set()
    assert [name for name in read if name.startswith(("PARLEY_", "OPENAI_", "LITELLM_"))] == []
    assert (threads, files) == (1, [])


async def test_the_plugins_are_imported_before_it_forks(tmp_path: Path) -> None:
    ran = await python("-P", "-c", OF_PLUGINS, *MODULES, cwd=tmp_path)

    assert (ran.err, json.loads(ran.out)) == ("", [])
