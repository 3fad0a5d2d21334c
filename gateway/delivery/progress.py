"""Renders a run's progress as text: a few lines about its tool calls, and the answer so far."""

from msgspec import Struct

from agent_core.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    BudgetReached,
    CompactionEnd,
    CompactionStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    PermissionRequest,
    RetryScheduled,
    TaskEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from agent_core.messages import AssistantMessage, UserMessage, text_of
from agent_core.models.llm import TextDelta
from agent_core.reasons import CONTINUES_ANSWER
from channels.text import literal, visible
from channels.values import CallRow
from gateway.security.secrets import Secrets
from gateway.store.question import ASK
from gateway.texts.say import Language, say

MOST_LINES = 8
MOST_CHARS = 120
MOST_CALLS = 100
"""Most tool calls that are given as rows, the newest ones: they are stored with each answer."""


class _Line(Struct):
    """One tool call. Times are those of its events."""

    label: str
    started: float
    ended: float | None = None
    failed: bool = False
    note: str = ""
    waiting: str = ""
    """Text shown instead of the label while approval of the call is pending."""

    def render(self, now: float) -> str:
        mark = "…" if self.ended is None else "✗" if self.failed else "✓"
        seconds = (self.ended if self.ended is not None else now) - self.started
        time = f" ({seconds:.0f} s)" if seconds >= 1 else ""
        room = MOST_CHARS - len(mark) - 1 - len(time)
        note = f": {_one_line(self.note, room // 2)}" if self.note else ""
        label = _one_line(self.waiting or self.label, room - len(note))  # a long label leaves room for the note
        return f"{mark} {literal(label + note)}{time}"

    def row(self, call: str) -> CallRow:
        ended = self.ended is not None
        state = "waiting" if self.waiting else "running" if not ended else "failed" if self.failed else "done"
        ms = round(1000 * (self.ended - self.started)) if self.ended is not None else None
        label = _one_line(self.waiting or self.label, MOST_CHARS)
        return CallRow(id=call, label=label, state=state, note=_one_line(self.note, MOST_CHARS), ms=ms)


class Progress:
    """Progress of one run, updated by its events."""

    def __init__(self, language: Language, secrets: Secrets | None = None) -> None:
        self._language = language
        self._secrets = secrets or Secrets()
        self._lines: dict[str, _Line] = {}
        self._waiting = ""
        self._is_paused = False
        """True while a budget has no room for the next model call."""
        self._asking = ""
        """Text about a fallback model until it begins to answer."""
        self._words: list[str] = []
        self.heard: list[str] = []
        """The words heard in voice messages, in Markdown."""
        self._before = ""
        """Beginning of an answer that was cut off and is being continued."""
        self._run_started: float | None = None
        self.tools = 0

    def apply(self, event: AgentEvent) -> None:
        match event:
            case AgentStart():
                self._run_started = event.ts
            case MessageStart(message=AssistantMessage()):
                # A new answer replaces one that broke off, and the text before tool calls.
                self._words, self._waiting, self._is_paused = [self._before], "", False
            case TurnStart():
                self._before = "".join(self._words) if event.reason in CONTINUES_ANSWER else ""
            case MessageUpdate():
                self._asking = ""
                self._words += [event.delta.delta] if isinstance(event.delta, TextDelta) else []
            case ToolExecutionStart() | ToolExecutionUpdate() | ToolExecutionEnd():
                self._apply_tool(event)
            case PermissionRequest() | BudgetReached():
                self._wait(event)
            case RetryScheduled():
                self._retry(event)
            case MessageEnd(message=UserMessage(heard=heard)):
                self.heard += [heard] if heard else []
            case CompactionStart() | CompactionEnd():
                begins, self._is_paused = isinstance(event, CompactionStart), False
                self._waiting = say("compacting", self._language) if begins else ""
            case _:
                _not_shown(event)

    def _wait(self, event: PermissionRequest | BudgetReached) -> None:
        if isinstance(event, BudgetReached):
            self._waiting, self._is_paused = say("waiting_budget", self._language), True
        elif line := self._lines.get(event.tool_call_id):
            key = "waiting_answer" if event.tool_name == ASK else "waiting_approval"
            line.waiting = say(key, self._language, label=line.label)

    def _retry(self, event: RetryScheduled) -> None:
        if event.scope == "tool":
            return
        self._words = [self._before]
        if event.next_model is None:
            self._waiting = say("retrying", self._language, seconds=round(event.delay_s))
        else:
            names = {"model": literal(event.model or ""), "other": literal(event.next_model)}
            self._asking = say("asking_another", self._language, **names)

    def _apply_tool(self, event: ToolExecutionStart | ToolExecutionUpdate | ToolExecutionEnd) -> None:
        if isinstance(event, ToolExecutionStart):
            label = self._secrets.mask(event.label_in(self._language))
            self._lines[event.tool_call_id] = _Line(label, started=event.ts)
            self.tools += 1
            return
        line = self._lines.get(event.tool_call_id)
        if line is None:
            return
        line.waiting = ""
        if isinstance(event, ToolExecutionUpdate):
            line.note = self._secrets.mask_unfinished(text_of(event.partial.content))
        else:
            line.ended, line.failed = event.ts, event.is_error
            line.note = self._secrets.mask(event.result.summary)

    @property
    def calls(self) -> tuple[CallRow, ...]:
        """The newest tool calls, oldest first."""
        lines = list(self._lines.items())[-MOST_CALLS:]
        return tuple(line.row(call) for call, line in lines)

    @property
    def is_waiting(self) -> bool:
        """True while approval of a call is pending, or a budget has no room."""
        return self._is_paused or (bool(self._lines) and any(line.waiting for line in self._lines.values()))

    @property
    def has_words(self) -> bool:
        """True once the answer has begun."""
        return bool(self._words) and any(map(visible, self._words))

    @property
    def running_since(self) -> float | None:
        """Start time of the longest-running tool call in progress."""
        return min((line.started for line in self._lines.values() if line.ended is None), default=None)

    @property
    def words(self) -> str:
        """The answer so far below what was heard, in Markdown and with secrets masked."""
        return "\n\n".join(filter(None, (*self.heard, self._answer)))

    @property
    def _answer(self) -> str:
        # Masked as a whole and before cutting, since a secret may arrive in pieces.
        return self._secrets.mask_unfinished("".join(self._words).strip())

    @property
    def note(self) -> str:
        """The line about a wait, a retry or another model; empty while nothing of the kind goes on."""
        return self._waiting or self._asking

    def text(self, now: float, room: int = 3500, *, calls: bool = True, seconds: bool = False) -> str:
        """Return Markdown: the newest lines, then up to `room` characters of the answer.

        It is never empty, unless the lines of tool calls are left out. With `seconds`
        those of the run are told instead, unless a call waits for a person.
        """
        words = self._answer if room else ""
        lines = [line.render(now) for line in self._lines.values()] if calls else []
        if self.note:
            lines.append(f"… {_one_line(self.note, MOST_CHARS - 2)}")
        elif not words and (self.running_since is None or (seconds and not self.is_waiting)):
            lines.append(self._thinking(now))
        # Two spaces before a line break keep the lines apart in Markdown.
        parts = ["  \n".join(lines[-MOST_LINES:]), *self.heard, f"{words[:room]}…" if len(words) > room else words]
        return "\n\n".join(part for part in parts if part)

    def _thinking(self, now: float) -> str:
        """Return the line that is shown between tool calls."""
        seconds = now - self._run_started if self._run_started is not None else 0
        return say("working", self._language) + (f" ({seconds:.0f} s)" if seconds >= 1 else "")

    def folded(self, now: float) -> str:
        """Return a one-line summary for a progress message above the answer."""
        seconds = round(now - self._run_started) if self._run_started is not None else 0
        if not self.tools:
            return say("folded_no_tools", self._language, seconds=seconds)
        key = "one_tool" if self.tools == 1 else "many_tools"
        return say("folded", self._language, tools=say(key, self._language, count=self.tools), seconds=seconds)


def _not_shown(
    event: MessageStart | MessageEnd | TurnEnd | AgentEnd | TaskEvent,
) -> None:
    """Accept the events that progress ignores. The types make the type checker reject unhandled new kinds."""


def _one_line(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
