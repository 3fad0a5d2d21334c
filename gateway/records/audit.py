"""The audit file: one JSON line for each tool call that is about to be made, and one for its result.

It documents what was done here and who allowed it. There is one file per UTC day, kept for thirty days and readable
only by the owner. Writing is asynchronous: no run waits for it or fails with it.
"""

import asyncio
import json
import os
import re
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from agent_core.clock import Clock
from agent_core.events import ToolExecutionEnd, ToolExecutionStart
from agent_core.messages import Json, text_of
from agent_core.reasons import CallFailure
from agent_core.supervise import supervise
from gateway.security.secrets import Secrets
from gateway.store.question import Question, QuestionState
from gateway.store.rows import Run
from gateway.store.store import Store

FOLDER = "audit"
DAYS = 30
LONGEST = 2_000
"""Most characters of arguments, and of a result."""

TOGETHER = 0.25
"""Seconds for which lines are collected before a write."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+")
_SECRET_ARGUMENT = re.compile(
    r"(?:^|_)(?:(?:api|access|auth|private|secret|signing|encryption|master)_?keys?|key_id|token|secrets?"
    r"|pass(?:words?|wd|phrase|code)?|pwd|pin|otp|authorization|credentials?|cookies?|bearer|jwt)(?:_(?:value|text))?$"
)
"""Names of arguments whose values are hidden even if they are not registered as secrets."""
HIDDEN = "***"

_NAME = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")
_ABORTED = CallFailure.KILLED, CallFailure.SKIPPED
_DECISIONS = {
    QuestionState.APPROVED: "approved",
    QuestionState.USED: "approved",
    QuestionState.DENIED: "denied",
    QuestionState.EXPIRED: "expired",
    QuestionState.WITHDRAWN: "withdrawn",
}
"""Decision by state. An open question has none."""

log = structlog.get_logger(__name__)

Line = Mapping[str, str | int | None]
Decided = Callable[[], Awaitable[Question | None]]


@dataclass(frozen=True)
class _Entry:
    at: float
    line: Line
    decided: Decided | None = None
    """Fetches the approval question about the call."""


@dataclass
class AuditLog:
    """Writes the audit file. Start it with `begin`; all lines are written when `close` returns."""

    folder: Path
    store: Store
    clock: Clock
    secrets: Secrets
    enabled: bool = True
    _queue: "asyncio.Queue[_Entry | None]" = field(default_factory=asyncio.Queue)
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _task: "asyncio.Task[None] | None" = None
    _lost: int = 0
    """Lines that could not be written since the last successful write."""
    _swept: str = ""
    """Day of the last search for expired files."""

    def begin(self) -> None:
        if self.enabled:
            self._task = asyncio.create_task(supervise("the audit file", self._run, self.clock), name="audit")

    async def close(self) -> None:
        if self._task is not None:
            self._closing.set()
            self._queue.put_nowait(None)
            await self._task

    def started(self, run: Run, event: ToolExecutionStart) -> None:
        """Record that the model requested a call. The next line about it says if it was made."""
        arguments = self._clipped(json.dumps(without_secret_values(event.args), ensure_ascii=False))
        self._add(event.ts, {"status": "pending", **self._about(run, event), "arguments": arguments})

    def asked(self, run: Run, call: str, tool: str, request_id: str, at: float) -> None:
        """Record that a call waits for approval."""
        line = {"status": "asked", **_whose(run), "call": call, "tool": self.secrets.mask(tool), "question": request_id}
        self._add(at, line)

    def ended(self, run: Run, event: ToolExecutionEnd, request_id: str | None) -> None:
        """Record the result of a call. `request_id` names the approval question about it, if there was one."""
        text = text_of(event.result.content)
        line: dict[str, str | int | None] = {
            "status": _status(event),
            **self._about(run, event),
            "attempts": event.attempts,
            "duration_ms": event.duration_ms,
            "error" if event.is_error else "result": self._clipped(text),
        }
        if event.is_error:
            line["failure"] = _failure(event)
        if event.denied and request_id is None:
            line |= {"decision": "denied", "decided_by": "rule"}

        async def decided() -> Question | None:
            return await self.store.approvals.find(request_id or "")

        self._add(event.ts, line, decided if request_id else None)

    def _about(self, run: Run, event: ToolExecutionStart | ToolExecutionEnd) -> dict[str, str]:
        return {**_whose(run), "call": event.tool_call_id, "tool": self.secrets.mask(event.tool_name)}

    def _clipped(self, text: str) -> str:
        """Mask, then shorten the text, since half a secret is not recognised."""
        text = self.secrets.mask(text)
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"

    def _add(self, at: float, line: Line, decided: Decided | None = None) -> None:
        if self._task is not None:
            self._queue.put_nowait(_Entry(at, line, decided))

    async def _run(self) -> None:
        await asyncio.to_thread(self._sweep, _day(self.clock.time()))
        ends = False
        while not ends:
            waiting = [await self._queue.get()]
            with suppress(TimeoutError):  # collect lines that follow soon, to save writes
                await asyncio.wait_for(self._closing.wait(), TOGETHER)
            while not self._queue.empty():
                waiting.append(self._queue.get_nowait())
            entries = [entry for entry in waiting if entry is not None]
            ends = len(entries) < len(waiting)
            written = [(_day(entry.at), await _rendered(entry)) for entry in entries]
            if written:
                await asyncio.to_thread(self._write, written)

    def _write(self, lines: list[tuple[str, str]]) -> None:
        """Write lines, on a thread. Lines that cannot be written are lost, and counted in the log."""
        for day in sorted({day for day, _ in lines}):
            mine = [line for each, line in lines if each == day]
            try:
                self._append(day, mine)
            except OSError as error:
                if not self._lost:
                    log.warning("the audit file cannot be written; tool calls continue without it", reason=str(error))
                self._lost += len(mine)
            else:
                if self._lost:
                    log.warning("the audit file can be written again", lost=self._lost)
                self._lost = 0
            if day > self._swept:
                self._sweep(day)

    def _append(self, day: str, lines: list[str]) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(self.folder / f"{day}.jsonl", flags, 0o600), "a+b") as file:
            # A full disk or a crash may have left half a line.
            torn = file.tell() and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
            file.write("".join(["\n" if torn else "", *lines]).encode("utf-8", "replace"))

    def _sweep(self, day: str) -> None:
        """Remove audit files that have expired by that day, and no other files."""
        self._swept = day
        oldest = (datetime.fromisoformat(day) - timedelta(days=DAYS)).strftime("%Y-%m-%d")
        try:
            for file in self.folder.iterdir() if self.folder.is_dir() else ():
                if _NAME.fullmatch(file.name) and file.stem <= oldest:
                    file.unlink()
        except OSError as error:
            log.warning("old audit files are not removed", reason=str(error))


def without_secret_values(value: Json, *, hidden: bool = False) -> Json:
    """Return arguments with all texts under the name of a secret hidden, at any depth; `hidden` hides all texts."""
    match value:
        case dict():
            return {
                key: without_secret_values(item, hidden=hidden or is_secret_name(key)) for key, item in value.items()
            }
        case list():
            return [without_secret_values(item, hidden=hidden) for item in value]
        case str() if hidden and value:
            return HIDDEN
        case _:
            return value


def is_secret_name(name: str) -> bool:
    """Return True for api_key, apiKey, X-Api-Key, token, password and the like."""
    return bool(_SECRET_ARGUMENT.search(_HUMP.sub("_", name).lower()))


def _whose(run: Run) -> dict[str, str]:
    return {"chat": str(run.chat), "run": run.id, "person": f"{run.chat.platform}:{run.person}"}


def _status(event: ToolExecutionEnd) -> str:
    if event.denied:
        return "denied"
    if _failure(event) in _ABORTED:
        return "aborted"
    return "error" if event.is_error else "ok"


def _failure(event: ToolExecutionEnd) -> str | None:
    """Return the kind of failure, or None if the call succeeded."""
    details = event.result.details
    return str(details.get("failure")) if isinstance(details, dict) and event.is_error else None


async def _rendered(entry: _Entry) -> str:
    """Return the entry as a JSON line, including the line end."""
    line: dict[str, str | int | None] = {"at": _utc(entry.at), **entry.line}
    question = None
    if entry.decided:
        with suppress(sqlite3.Error, ValueError):  # without the question, the line lacks the decision
            question = await entry.decided()
    if question is not None and question.state in _DECISIONS:
        by = question.answered_by
        line["decision"] = _DECISIONS[question.state]
        line["decided_by"] = f"{question.chat.platform}:{by}" if by else "nobody"
    return f"{json.dumps(line, ensure_ascii=False)}\n"


def _utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
