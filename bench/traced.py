"""Parley with a tracer that adds up the CPU time of each call stack: `python -m bench.traced FILE`.

SIGUSR1 begins; SIGUSR2 writes what was added up since then to the file, as JSON: stacks, outermost first, each with
nanoseconds. Every call is seen, however short, and waiting takes no CPU time. The stack of a coroutine begins at its
task. The event loop is asyncio's own, as for `bench.profiled`.
"""

import json
import runpy
import signal
import sys
import sysconfig
import threading
import time
from collections import Counter
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import cast

from bench.modules import PRODUCT, REPOSITORY

OURS = tuple(f"{REPOSITORY / folder}/" for folder in PRODUCT)
ROOTS = tuple(f"{sysconfig.get_path(name)}/" for name in ("purelib", "stdlib"))
LOOP = "the event loop"
UNNAMED = {"asyncio", "contextlib", "runpy", "threading"}
"""Modules of the standard library that only carry the calls of others."""

Stack = tuple[str, ...]


class _Thread(threading.local):
    """The frames that a thread is in, each with its stack, and since when."""

    def __init__(self) -> None:
        self.frames: list[tuple[FrameType, Stack]] = []
        self.since = time.thread_time_ns()


class Tracer:
    """Adds up the time between two calls or returns of a thread, for the stack that it is in."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._is_begun = False
        self._spent: Counter[Stack] = Counter()
        self._thread = _Thread()

    def install(self) -> None:
        signal.signal(signal.SIGUSR1, lambda *_: self._begin())
        signal.signal(signal.SIGUSR2, lambda *_: self._write())
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if not self._is_begun or event not in {"call", "return"}:
            return
        now, thread = time.thread_time_ns(), self._thread
        frames = thread.frames
        if frames:
            self._spent[frames[-1][1]] += now - thread.since
        if event == "return" and frames and frames[-1][0] is frame:
            frames.pop()
        else:
            _enter(frames, frame if event == "call" else frame.f_back)
        thread.since = time.thread_time_ns()

    def _begin(self) -> None:
        self._spent.clear()
        self._is_begun = True

    def _write(self) -> None:
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps([(stack, spent) for stack, spent in list(self._spent.items()) if stack]), "utf-8")
        part.rename(self._file)


def _enter(frames: list[tuple[FrameType, Stack]], frame: FrameType | None) -> None:
    """Let the frames end with this one, which the last of them has usually called."""
    missing: list[FrameType] = []
    while frame and not (missing and frames and frames[-1][0] is frame):
        missing.append(frame)
        frame = frame.f_back
    if frame is None:
        frames.clear()
    for each in reversed(missing):
        frames.append((each, _stack_within(frames[-1][1] if frames else (), each.f_code)))


def _stack_within(outer: Stack, code: CodeType) -> Stack:
    """Return the stack of a function that one with this stack has called; successive ones of a library are one."""
    if code.co_name == "_run_once":
        return (LOOP,)
    if code.co_name == "_run" and outer[-1:] == (LOOP,):
        return ()
    name = name_of(code)
    return outer if not name or outer[-1:] == (name,) else (*outer, name)


@cache
def name_of(code: CodeType) -> str:
    """Return our module and function, or the name of a library; an empty one for what only carries calls."""
    path = code.co_filename
    if path.startswith(OURS):
        return f"{Path(path).relative_to(REPOSITORY).with_suffix('').as_posix()}: {code.co_qualname}"
    root = next((root for root in ROOTS if path.startswith(root)), None)
    name = path.removeprefix(root).partition("/")[0].removesuffix(".py") if root else ""
    return "" if name in UNNAMED else name


def main() -> None:
    sys.modules["uvloop"] = cast(ModuleType, None)  # as if it were not installed
    Tracer(Path(sys.argv.pop(1))).install()
    runpy.run_module("gateway.cli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
