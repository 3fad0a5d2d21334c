"""The audit file: one JSON line for each tool call that is about to be made, and one for its result.

It documents what was done here and who allowed it, and what admins changed. There is one file per UTC day, kept for
thirty days, readable only by the owner, and chained (`audit_chain.py`). Writing is asynchronous: no run waits for it or
fails with it.
"""

import asyncio
import json
import re
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog
from msgspec import Struct

from agent_core.clock import Clock
from agent_core.events import ToolExecutionEnd, ToolExecutionStart
from agent_core.late_pattern import LatePattern
from agent_core.messages import Json, text_of
from agent_core.reasons import CallFailure
from agent_core.supervise import supervise
from channels.base import ChatKey
from gateway.records.audit_chain import Chain
from gateway.records.audit_entry import Content, Fact
from gateway.security.secrets import Secrets
from gateway.store.question import Question, QuestionState
from gateway.store.rows import Run
from gateway.store.store import Store

LONGEST = 2_000
"""Most characters of arguments, and of a result."""

CHANGED = "changed"
"""Status of an entry about what an admin changed."""

TOGETHER = 0.25
"""Seconds for which lines are collected before a write."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+")
_SECRET_ARGUMENT = LatePattern(
    r"(?:^|_)(?:(?:api|access|auth|private|secret|signing|encryption|master)_?keys?|key_id|token|secrets?"
    r"|pass(?:words?|wd|phrase|code)?|pwd|pin|otp|authorization|credentials?|cookies?|bearer|jwt)(?:_(?:value|text))?$"
)
"""Names of arguments whose values are hidden even if they are not registered as secrets."""
HIDDEN = "***"

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

T = TypeVar("T")
Decided = Callable[[], Awaitable[Question | None]]


class _Entry(Struct, frozen=True):
    at: float
    status: str
    content: Content
    decided: Decided | None = None
    """Fetches the approval question about the call."""


class _Erasure(Struct, frozen=True):
    is_theirs: Callable[[Content], bool]
    done: "asyncio.Future[int]"


@dataclass
class AuditLog:
    """Writes the audit file. Start it with `begin`; all lines are written when `close` returns."""

    home: Path
    store: Store
    clock: Clock
    secrets: Secrets
    enabled: bool = True
    _queue: "asyncio.Queue[_Entry | _Erasure | None]" = field(default_factory=asyncio.Queue)
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _task: "asyncio.Task[None] | None" = None
    _lost: int = 0
    """Lines that could not be written since the last successful write."""
    _swept: str = ""
    """Day of the last search for expired files."""

    def __post_init__(self) -> None:
        self._chain = Chain(self.home, self.secrets.add)

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
        self._add(event.ts, "pending", {**self._about(run, event), "arguments": arguments})

    def asked(self, run: Run, call: str, tool: str, request_id: str, at: float) -> None:
        """Record that a call waits for approval."""
        content = {**_whose(run), "call": call, "tool": self.secrets.mask(tool), "question": request_id}
        self._add(at, "asked", content)

    def ended(self, run: Run, event: ToolExecutionEnd, request_id: str | None) -> None:
        """Record the result of a call. `request_id` names the approval question about it, if there was one."""
        text = text_of(event.result.content)
        content: dict[str, Fact] = {
            **self._about(run, event),
            "attempts": event.attempts,
            "duration_ms": event.duration_ms,
            "error" if event.is_error else "result": self._clipped(text),
        }
        if event.is_error:
            content["failure"] = _failure(event)
        if event.denied and request_id is None:
            content |= {"decision": "denied", "decided_by": "rule"}

        async def decided() -> Question | None:
            return await self.store.approvals.find(request_id or "")

        self._add(event.ts, _status(event), content, decided if request_id else None)

    def changed(self, chat: ChatKey, person: str, what: str, **facts: str) -> None:
        """Record what an admin changed, such as a setting; `person` is the id of who did it."""
        content = {"chat": str(chat), "person": _named(chat, person), "what": what}
        details = {name: self._clipped(fact) for name, fact in facts.items()}
        self._add(self.clock.time(), CHANGED, {**content, **details})

    def found(self, what: str, status: str, **facts: str) -> None:
        """Record what was allowed or refused at the start, by the settings alone."""
        details = {name: self._clipped(fact) for name, fact in facts.items()}
        self._add(self.clock.time(), status, {"person": "Parley", "what": what, **details})

    async def erase(self, is_theirs: Callable[[Content], bool]) -> int:
        """Erase the contents of entries, and return how many. Raises OSError."""
        if self._task is None:
            return await asyncio.to_thread(self._erase, is_theirs)
        erasure = _Erasure(is_theirs, asyncio.get_running_loop().create_future())
        self._queue.put_nowait(erasure)
        return await erasure.done

    def _about(self, run: Run, event: ToolExecutionStart | ToolExecutionEnd) -> dict[str, str]:
        return {**_whose(run), "call": event.tool_call_id, "tool": self.secrets.mask(event.tool_name)}

    def _clipped(self, text: str) -> str:
        """Mask, then shorten the text, since half a secret is not recognised."""
        text = self.secrets.mask(text)
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"

    def _add(self, at: float, status: str, content: Content, decided: Decided | None = None) -> None:
        if self._task is not None:
            self._queue.put_nowait(_Entry(at, status, content, decided))

    async def _run(self) -> None:
        now = self.clock.time()
        await asyncio.to_thread(self._start, _day(now), _utc(now))
        ends = False
        while not ends:
            waiting = [await self._queue.get()]
            with suppress(TimeoutError):  # collect lines that follow soon, to save writes
                async with asyncio.timeout(TOGETHER):
                    await self._closing.wait()
            while not self._queue.empty():
                waiting.append(self._queue.get_nowait())
            ends = None in waiting
            written = [(_day(each.at), await _rendered(each)) for each in waiting if isinstance(each, _Entry)]
            if written:
                await asyncio.to_thread(self._write, written)
            for each in waiting:
                if isinstance(each, _Erasure):
                    await _settled(each.done, partial(self._erase, each.is_theirs))
        await asyncio.to_thread(self._finish)

    def _start(self, day: str, at: str) -> None:
        try:
            self._chain.open(day, at)
        except OSError as error:
            log.warning("the audit file cannot be written", reason=str(error))
        self._sweep(day)

    def _finish(self) -> None:
        with suppress(OSError):  # the next start then notes a gap
            self._chain.close()

    def _write(self, lines: list[tuple[str, tuple[str, str, Content]]]) -> None:
        """Write lines, on a thread. Lines that cannot be written are lost, and counted in the log."""
        for day in sorted({day for day, _ in lines}):
            mine = [line for each, line in lines if each == day]
            try:
                self._chain.append(day, _utc(self.clock.time()), mine)
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

    def _erase(self, is_theirs: Callable[[Content], bool]) -> int:
        now = self.clock.time()
        self._chain.open(_day(now), _utc(now))
        return self._chain.erase(is_theirs)

    def _sweep(self, day: str) -> None:
        """Remove audit files that have expired by that day."""
        self._swept = day
        try:
            self._chain.sweep(day)
        except OSError as error:
            log.warning("old audit files are not removed", reason=str(error))


async def _settled(done: "asyncio.Future[T]", work: Callable[[], T]) -> None:
    """Do blocking work on a thread, and give its result or its error to the future."""
    try:
        result = await asyncio.to_thread(work)
    except OSError as error:
        if not done.done():
            done.set_exception(error)
    else:
        if not done.done():
            done.set_result(result)


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


def _named(chat: ChatKey, person: str) -> str:
    """Return an account as `platform:id`; a visitor of the page may bring it along."""
    return person if ":" in person else f"{chat.platform}:{person}"


def _whose(run: Run) -> dict[str, str]:
    return {"chat": str(run.chat), "run": run.id, "person": _named(run.chat, run.person)}


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


async def _rendered(entry: _Entry) -> tuple[str, str, Content]:
    """Return time, status and content of the entry."""
    question = None
    if entry.decided:
        with suppress(sqlite3.Error, ValueError):  # without the question, the line lacks the decision
            question = await entry.decided()
    content = dict(entry.content)
    if question is not None and question.state in _DECISIONS:
        by = question.answered_by
        content["decision"] = _DECISIONS[question.state]
        content["decided_by"] = f"{question.chat.platform}:{by}" if by else "nobody"
    return _utc(entry.at), entry.status, content


def _utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
