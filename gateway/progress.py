"""What a run is doing, as text: a pure reducer from events to a few lines and the answer as far as it has come."""

import re
from dataclasses import dataclass

from agent_core.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
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
from agent_core.llm import TextDelta
from agent_core.messages import AssistantMessage, text_of
from agent_core.reasons import TransitionReason
from gateway.secrets import Secrets
from gateway.texts import Language, say, tool_label

MOST_LINES = 8
MOST_CHARS = 120

_MARKS = re.compile(r"[\\`*_\[\]<>~|]")
"""What Markdown would read as its own in a tool's arguments: `17*23*2` is a sum and not half in italics."""


@dataclass
class _Line:
    """One tool call; times are those of its events."""

    label: str
    started: float
    ended: float | None = None
    failed: bool = False
    note: str = ""
    waiting: str = ""
    """What is said instead of the label while people are asked whether the call may be made."""

    def render(self, now: float) -> str:
        mark = "…" if self.ended is None else "✗" if self.failed else "✓"
        seconds = (self.ended if self.ended is not None else now) - self.started
        time = f" ({seconds:.0f} s)" if seconds >= 1 else ""
        room = MOST_CHARS - len(mark) - 1 - len(time)
        note = f": {_one_line(self.note, room // 2)}" if self.note else ""
        label = _one_line(self.waiting or self.label, room - len(note))  # a long command leaves room for what it says
        return f"{mark} {literal(label + note)}{time}"


class Progress:
    """Reduces the events of one run; `text` is what people see while it runs."""

    def __init__(self, language: Language, secrets: Secrets | None = None) -> None:
        self._language = language
        self._secrets = secrets or Secrets()
        self._lines: dict[str, _Line] = {}
        self._waiting = ""
        self._asking = ""
        """What is said of another model until that says something itself."""
        self._words: list[str] = []
        self._before = ""
        """What the answer had said before it was cut off and gone on with."""
        self._run_started: float | None = None
        self.tools = 0

    def apply(self, event: AgentEvent) -> None:
        match event:
            case AgentStart():
                self._run_started = event.ts
            case MessageStart(message=AssistantMessage()):
                # A new answer replaces one that broke off, and the words before tools were called.
                self._words, self._waiting = [self._before], ""
            case TurnStart():
                goes_on = event.reason is TransitionReason.MAX_OUTPUT_RECOVERY
                self._before = "".join(self._words) if goes_on else ""
            case MessageUpdate():
                self._asking = ""
                self._words.extend(_words_in(event))
            case ToolExecutionStart() | ToolExecutionUpdate() | ToolExecutionEnd():
                self._apply_tool(event)
            case PermissionRequest():
                if line := self._lines.get(event.tool_call_id):
                    line.waiting = say("waiting_approval", self._language, label=line.label)
            case RetryScheduled():
                self._retry(event)
            case CompactionStart() | CompactionEnd():
                begins = isinstance(event, CompactionStart)
                self._waiting = say("compacting", self._language) if begins else ""
            case _:
                _not_shown(event)

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
            label = self._secrets.mask(tool_label(event.tool_name, event.label, event.args, self._language))
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
    def is_waiting(self) -> bool:
        """Whether people are asked something, and nothing goes on until they answer."""
        return any(line.waiting for line in self._lines.values())

    @property
    def running_since(self) -> float | None:
        """When the longest-running of the tools at work was started."""
        return min((line.started for line in self._lines.values() if line.ended is None), default=None)

    def text(self, now: float, room: int = 3500) -> str:
        """Markdown, never empty; the newest lines, then as much of the answer as fits `room` characters (0: none)."""
        # Masked before anything is cut off, and as a whole: a secret arrives in pieces.
        words = self._secrets.mask_unfinished("".join(self._words).strip()) if room else ""
        lines = [line.render(now) for line in self._lines.values()]
        if waiting := self._waiting or self._asking:
            lines.append(f"… {_one_line(waiting, MOST_CHARS - 2)}")
        elif not words and self.running_since is None:
            lines.append(self._thinking(now))
        # Two spaces before a line break keep the lines apart in Markdown.
        parts = ["  \n".join(lines[-MOST_LINES:]), f"{words[:room]}…" if len(words) > room else words]
        return "\n\n".join(part for part in parts if part)

    def _thinking(self, now: float) -> str:
        """Between tools too, people see that it goes on."""
        seconds = now - self._run_started if self._run_started is not None else 0
        return say("working", self._language) + (f" ({seconds:.0f} s)" if seconds >= 1 else "")

    def folded(self, now: float) -> str:
        """One line that says how it went, for under an answer that stands elsewhere."""
        seconds = round(now - self._run_started) if self._run_started is not None else 0
        if not self.tools:
            return say("folded_no_tools", self._language, seconds=seconds)
        key = "one_tool" if self.tools == 1 else "many_tools"
        return say("folded", self._language, tools=say(key, self._language, count=self.tools), seconds=seconds)


def _words_in(event: MessageUpdate) -> tuple[str, ...]:
    """Those for people."""
    return (event.delta.delta,) if isinstance(event.delta, TextDelta) else ()


def _not_shown(
    event: MessageStart | MessageEnd | TurnEnd | AgentEnd | TaskEvent,
) -> None:
    """Names what progress leaves out, so that the type checker asks about every new kind of event."""


def literal(text: str) -> str:
    """The text in Markdown that reads it letter by letter."""
    return _MARKS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _one_line(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
