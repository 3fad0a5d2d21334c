"""Parley with a profiler that notes which of our functions are entered: `python -m bench.profiled FILE`.

SIGUSR1 begins a new list; SIGUSR2 writes the list so far to the file, as JSON. A coroutine that continues is entered
again, as Python's profiler sees it. The event loop is asyncio's own: a profiler does not see which tasks uvloop starts.
"""

import inspect
import json
import runpy
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import cast

from bench.modules import PRODUCT, REPOSITORY

FOLDERS = tuple(f"{REPOSITORY / folder}/" for folder in PRODUCT)
NO_FUNCTIONS = {"<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
EVENT_LOOP = ("asyncio/events.py", "asyncio/runners.py")
STARTS_TASK = {"create_task", "ensure_future"}

Stack = tuple[str, ...]
"""Files of our functions that call one another, outermost first."""


class Profiler:
    """Notes each of our functions when it is entered for the first time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[CodeType, bool] = {}
        """True for functions of the product."""
        self._entered: dict[CodeType, list[Stack]] = {}
        """Stacks of each function in order: that of its own task last, before it those that started the task."""
        self._starts: dict[CodeType, list[Stack]] = {}
        """Stacks at the start of a task, by the task's coroutine."""

    def install(self) -> None:
        signal.signal(signal.SIGUSR1, lambda *_: self._entered.clear())
        signal.signal(signal.SIGUSR2, lambda *_: self._write())
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code.co_name in STARTS_TASK:
            self._note_start(frame)
        elif code not in self._entered and self._is_ours(code):
            self._entered[code] = self._stacks(frame)

    def _note_start(self, frame: FrameType) -> None:
        made = frame.f_locals.get("coro", frame.f_locals.get("coro_or_future"))
        if inspect.iscoroutine(made) and made.cr_code not in self._starts and frame.f_back:
            self._starts[made.cr_code] = self._stacks(frame.f_back)

    def _stacks(self, frame: FrameType) -> list[Stack]:
        frames = list(_frames_of_task(frame))
        before = self._starts.get(frames[-1].f_code, []) if frames else []
        return [*before, tuple(_path(each.f_code) for each in reversed(frames) if self._is_ours(each.f_code))]

    def _is_ours(self, code: CodeType) -> bool:
        ours = self._known.get(code)
        if ours is None:
            ours = code.co_filename.startswith(FOLDERS) and code.co_name not in NO_FUNCTIONS
            self._known[code] = ours
        return ours

    def _write(self) -> None:
        entered = [(_path(code), code.co_qualname, stacks) for code, stacks in list(self._entered.items())]
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps(entered), "utf-8")
        part.rename(self._file)


def _frames_of_task(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames from this one out to the task's coroutine, without those of the event loop."""
    while frame and not frame.f_code.co_filename.endswith(EVENT_LOOP):
        yield frame
        frame = frame.f_back


def _path(code: CodeType) -> str:
    return str(Path(code.co_filename).relative_to(REPOSITORY))


def main() -> None:
    sys.modules["uvloop"] = cast(ModuleType, None)  # as if it were not installed
    profiler = Profiler(Path(sys.argv.pop(1)))
    profiler.install()
    runpy.run_module("gateway.cli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
