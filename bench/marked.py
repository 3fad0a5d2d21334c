"""Parley that notes when the stages of a message begin, and its statements: `python -m bench.marked FILE`.

SIGUSR1 begins a new list; SIGUSR2 writes the list so far to the file, as JSON: moments of the monotonic clock in
seconds, each with the name of a stage or the text of a statement. What SQLite itself does within a statement, such as
the writes of the search index, is no statement of its own: SQLite marks it with `--`.
"""

import importlib
import json
import runpy
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

STAGES = {
    "receive": "channels.telegram.polling:Polling._arrivals",
    "admit": "gateway.app.handler:ChannelMessageHandler.accept",
    "store": "gateway.store.inbox:Inbox.accept",
    "prompt": "gateway.app.local_chats:LocalChats.route",
    "request": "gateway.chat.run:ChatRun.drive",
    "stream": "agent_core.models.openai_client:OpenAiClient.stream",
    "end": "gateway.chat.run:ChatRun._settle",
    "deliver": "gateway.chat.run_end:RunEnds.deliver",
    "over": "gateway.chat.run_end:RunEnds.delivered",
}
"""The function with which each stage begins."""

_marks: list[tuple[float, str, str]] = []


def _note(kind: str, text: str) -> None:
    _marks.append((time.monotonic(), kind, text))


def _note_statement(text: str) -> None:
    if not text.startswith("--"):
        _note("statement", text)


def _marking(stage: str, function: Callable[P, R]) -> Callable[P, R]:
    def marked(*args: P.args, **kwargs: P.kwargs) -> R:
        _note("stage", stage)
        return function(*args, **kwargs)

    return marked


def _write(file: Path) -> None:
    part = file.with_suffix(".part")
    part.write_text(json.dumps(_marks), "utf-8")
    part.rename(file)


def main() -> None:
    file = Path(sys.argv.pop(1))
    for stage, place in STAGES.items():
        module, _, name = place.partition(":")
        owner, function = name.split(".")
        found = getattr(importlib.import_module(module), owner)
        setattr(found, function, _marking(stage, getattr(found, function)))
    connect = sqlite3.connect

    def traced(*args: object, **kwargs: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **kwargs)  # type: ignore[call-overload]
        connection.set_trace_callback(_note_statement)
        return connection

    sqlite3.connect = traced  # type: ignore[assignment]
    signal.signal(signal.SIGUSR1, lambda *_: _marks.clear())
    signal.signal(signal.SIGUSR2, lambda *_: _write(file))
    runpy.run_module("gateway.cli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
