"""Cost of audit entries with their chain, next to the same entries as plain lines in a file, in turns."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from bench.figures import Figure
from gateway.records.audit_chain import Chain
from gateway.records.audit_entry import Content

ROUNDS = 200
CALL = 2
"""Entries of a tool call: one before it is made, one with its result. A call of a model has none."""
BUSY = 40
"""Entries of a quarter of a second, which are written together, with 80 tool calls a second."""
DAY, AT = "2026-11-23", "2026-11-23T12:00:00.000Z"
LONG = "a file of 40 lines, of which this is one. " * 20

Lines = Sequence[tuple[str, str, Content]]
Write = Callable[[Lines], None]


async def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        home = Path(folder)
        chain = Chain(home)
        chain.open(DAY, AT)
        plain = _plain(home / "plain.jsonl")

        def chained(lines: Lines) -> None:
            chain.append(DAY, AT, lines)

        (call_cpu, plain_cpu), (call, plain_call) = _in_turns(chained, plain, CALL)
        (busy_cpu, plain_busy_cpu), (busy, plain_busy) = _in_turns(chained, plain, BUSY)
    share = CALL / BUSY
    return [
        Figure("a tool call, alone: CPU of its entries", call_cpu, "ms", bare=plain_cpu),
        Figure("a tool call, alone: until its entries are on disk", call, "ms", bare=plain_call),
        Figure("a tool call among 20: CPU of its entries", busy_cpu * share, "ms", bare=plain_busy_cpu * share),
        Figure("a tool call among 20: until on disk", busy * share, "ms", bare=plain_busy * share),
        Figure("CPU that the chain adds to a tool call among 20", (busy_cpu - plain_busy_cpu) * share, "ms", 0.5),
        Figure("share of a second's CPU that it adds at 80 tool calls", (busy_cpu - plain_busy_cpu) * 4 / 10, "%"),
    ]


def _in_turns(first: Write, second: Write, size: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the medians of CPU and of time in milliseconds, each of both ways to write so many entries."""
    cpu: tuple[list[float], list[float]] = ([], [])
    wall: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS):
        lines = _lines(number, size)
        for place, write in enumerate((first, second)):
            began, worked = time.perf_counter(), time.thread_time()
            write(lines)
            cpu[place].append(1000 * (time.thread_time() - worked))
            wall[place].append(1000 * (time.perf_counter() - began))
    return (median(cpu[0]), median(cpu[1])), (median(wall[0]), median(wall[1]))


def _lines(number: int, size: int) -> Lines:
    about: dict[str, str] = {"chat": "telegram:bot:1", "run": "r" * 22, "person": "telegram:1", "tool": "read_file"}
    return [
        (AT, "pending", {**about, "call": f"c{number}-{each}", "arguments": json.dumps({"path": "notes.md"})})
        if each % CALL == 0
        else (AT, "ok", {**about, "call": f"c{number}-{each}", "attempts": 1, "duration_ms": 3, "result": LONG})
        for each in range(size)
    ]


def _plain(path: Path) -> Write:
    """Return a function that appends entries without a chain."""

    def write(lines: Lines) -> None:
        rows = [
            json.dumps({"at": at, "status": status, **content}, ensure_ascii=False) for at, status, content in lines
        ]
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "ab") as file:
            file.write(("\n".join(rows) + "\n").encode())
            file.flush()
            os.fdatasync(file.fileno())

    return write
