"""Describes a run line by line for readers: events with their times, messages, costs and reasons."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from zoneinfo import ZoneInfo

from msgspec import Struct

from agent_core.events import (
    AgentEnd,
    AgentEvent,
    BudgetReached,
    CompactionEnd,
    CompactionStart,
    MessageEnd,
    PermissionRequest,
    RetryScheduled,
    TaskEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnStart,
)
from agent_core.loop.state import effective
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    JsonObject,
    NotificationMessage,
    SummaryMessage,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from gateway.records.replay.rebuild import Rebuilt, Row, in_order
from gateway.security.masking import Mask
from gateway.store.archive import Archive, RunRow, SaidRow, StepRow, Unreadable
from gateway.store.question import Question
from gateway.texts.moments import moment_words

SHORT = 300
"""Characters of a text unless it is shown in full."""


class Manner(Struct, frozen=True):
    """Display options: time zone, full or shortened texts, and masking."""

    zone: ZoneInfo
    full: bool = False
    mask: Mask = str

    def clipped(self, text: str) -> str:
        """Mask and shorten a text. It is masked first, as half a secret would not be recognised."""
        text = self.mask(text).strip()
        if self.full or len(text) <= SHORT:
            return text
        return f"{text[:SHORT]}… ({len(text)} characters)"

    def moment(self, at: float) -> str:
        return moment_words(at, self.zone, "%Y-%m-%d %H:%M:%S")


def replayed(archive: Archive, row: RunRow, manner: Manner, *, last: int | None = None) -> Iterator[str]:
    """Yield the lines about a run; `last` limits them to the last ones of its events."""
    rebuilt = Rebuilt(row.run, row.session)
    story = Story(row, archive.questions(row.run), rebuilt, manner)
    yield from headline(row, manner)
    yield from before_it(archive.known_before(row.run, row.session), archive.taken_back(row.run, row.session), manner)
    yield ""
    told = story.lines(in_order(archive.said_in(row.run), archive.steps(row.run)))
    yield from told if last is None else deque(told, maxlen=last)
    yield from story.sums()


def headline(run: RunRow, manner: Manner) -> Iterator[str]:
    yield f"Run {run.run}"
    yield f"  chat     {run.chat}, person {run.person}, session {run.session}"
    yield f"  started  {manner.moment(run.started)} ({manner.zone.key})"
    if run.kind != "chat":
        yield f"  kind     {run.kind}"
    if run.model:
        yield f"  model    {run.model}"
    if run.resumed:
        yield f"  resumed  {_count(run.resumed, 'time')}, for the program had stopped"
    yield f"  ended    {_ending(run)}"
    if run.error:
        yield f"  error    {manner.clipped(run.error)}"


def before_it(known: Iterable[SaidRow | Unreadable], taken_back: float | None, manner: Manner) -> Iterator[str]:
    """Yield the history with which the run began, and when its exchange was taken back.

    In full these are the messages, otherwise their number.
    """
    if taken_back is not None:
        yield f"  undone   {manner.moment(taken_back)}: its exchange was taken out of the conversation"
    messages = effective([row.message for row in known if isinstance(row, SaidRow)])
    if messages:
        yield f"  history  {_count(len(messages), 'message')} of the conversation before it"
    for message in messages if manner.full else ():
        yield f"           {_role(message)}: {manner.clipped(_words(message)) or '(no words)'}"


class Story:
    """Describes a run while it is rebuilt."""

    def __init__(self, run: RunRow, questions: Mapping[str, Question], rebuilt: Rebuilt, manner: Manner) -> None:
        self._run = run
        self._questions = questions
        self._rebuilt = rebuilt
        self._manner = manner
        self._arguments: dict[str, JsonObject] = {}
        """Arguments of the last answer's tool calls, by call id."""
        self._turn_began = run.started
        self._at = run.started
        """The time of the last step described."""

    def lines(self, rows: Iterable[Row]) -> Iterator[str]:
        """Yield lines for each row; a row that cannot be read is reported in its place."""
        waiting: AssistantMessage | None = None
        for row in rows:
            if isinstance(row, StepRow):
                self._at = row.at
            if waiting is not None:  # the next step tells how long it took
                yield from self._answer(waiting)
                waiting = None
            known = len(self._rebuilt.troubles)
            event = self._rebuilt.feed(row)
            for trouble in self._rebuilt.troubles[known:]:
                yield f"  !! {trouble}"
            if isinstance(event, MessageEnd) and isinstance(row, SaidRow):
                if isinstance(row.message, AssistantMessage):
                    waiting = row.message
                else:
                    yield from self._said(row.message)
            elif event is not None:
                yield from self._happened(event)
        if waiting is not None:
            yield from self._answer(waiting)

    def sums(self) -> Iterator[str]:
        state = self._rebuilt.state
        usage = state.usage
        yield ""
        yield (
            f"In all: {_count(state.turn_count, 'model call')}, {_count(state.tool_call_count, 'tool call')},"
            f" {usage.input + usage.cache_read + usage.cache_write} tokens in ({usage.cache_read} from a cache),"
            f" {usage.output} out, ${usage.cost_usd:.4f}"
        )
        yield self._rebuilt.verdict()

    def _said(self, message: AgentMessage) -> Iterator[str]:
        match message:
            case UserMessage():
                yield self._line(f"{message.source or 'person'}: {self._shown(text_of(message.content))}")
                if message.context:
                    yield self._under(message.context)
            case ToolResultMessage():
                sign = f"✗{_kind(message)}" if message.is_error else "✓"
                yield self._under(f"{sign} {message.tool_name}: {self._manner.clipped(text_of(message.content))}")
            case SummaryMessage():
                yield self._line(f"summary of what was said before: {self._shown(message.summary)}")
            case NotificationMessage():
                yield self._line(f"notice ({message.kind}): {self._shown(message.text)}")
            case CustomMessage():
                yield self._line(f"entry ({message.kind})")
            case AssistantMessage():
                yield from self._answer(message)

    def _answer(self, message: AssistantMessage) -> Iterator[str]:
        usage = message.usage
        took = max(0.0, self._at - self._turn_began)
        facts = f"{message.model or 'model'}, {usage.total} tokens, ${usage.cost_usd:.4f}, {took:.2f} s"
        self._arguments = {call.id: call.arguments for call in message.tool_calls}
        for part in message.content:
            if isinstance(part, ThinkingContent) and part.thinking:
                yield self._under(f"(thinks) {self._manner.clipped(part.thinking)}")
        yield self._line(f"Parley: {self._shown(message.text)} [{message.stop_reason.value}; {facts}]")
        if message.error_message:
            yield self._under(f"! {self._manner.clipped(message.error_message)}")

    def _happened(self, event: AgentEvent) -> Iterator[str]:
        match event:
            case TurnStart():
                self._turn_began = event.ts
                yield self._line(f"— turn {event.turn}: {event.reason.value} —")
            case ToolExecutionStart():
                arguments = json.dumps(self._arguments.get(event.tool_call_id, {}), ensure_ascii=False)
                yield self._line(f"→ {event.tool_name} {self._manner.clipped(arguments)}")
            case ToolExecutionEnd():
                yield self._line(f"← {event.tool_name}: {_outcome(event)}")
            case RetryScheduled():
                instead = f", with {event.next_model}" if event.next_model else ""
                yield self._line(
                    f"↻ {event.scope} attempt {event.attempt} of {event.max_attempts} failed, again in"
                    f" {event.delay_s:g} s{instead}: {self._manner.clipped(event.error)}"
                )
            case PermissionRequest():
                yield self._line(f"? may {event.tool_name} be called ({event.request_id}): {event.reason}")
                yield self._under(_answered(self._questions.get(event.request_id)))
            case CompactionStart() | BudgetReached():
                what = "compaction" if isinstance(event, CompactionStart) else "waits"
                yield self._line(f"{what}: {event.reason}")
            case CompactionEnd():
                why = f", failed: {event.error}" if event.error else ""
                yield self._line(f"compacted: {event.tokens_before} tokens to {event.tokens_after}{why}")
            case TaskEvent():
                yield self._line(f"task {event.task.task_id} {event.task.status.value}: {event.task.description}")
            case AgentEnd():
                why = f": {self._manner.clipped(event.error)}" if event.error else ""
                yield self._line(f"ended: {event.reason.value}{why}")
            case _:
                pass

    def _line(self, text: str) -> str:
        head, *others = text.split("\n")
        return "\n".join([f"{self._at - self._run.started:9.3f}  {head}", *(f"           {other}" for other in others)])

    def _under(self, text: str) -> str:
        return "\n".join(f"             {line}" for line in text.split("\n"))

    def _shown(self, text: str) -> str:
        return self._manner.clipped(text) or "(no words)"


def table(runs: Iterable[RunRow], manner: Manner) -> Iterator[str]:
    """Yield a table with one line per run."""
    yield f"{'run':12}  {'started':19}  {'s':>7}  {'tokens':>8}  {'cost':>9}  {'ended':16}  chat"
    for run in runs:
        took = "" if run.ended is None else f"{run.ended - run.started:.1f}"
        yield (
            f"{run.run[:12]:12}  {manner.moment(run.started)}  {took:>7}  {run.tokens:>8}  {run.cost_usd:>9.4f}"
            f"  {run.reason or run.state:16}  {run.chat}"
        )


def _role(message: AgentMessage) -> str:
    match message:
        case UserMessage():
            return message.source or "person"
        case AssistantMessage():
            return "Parley"
        case ToolResultMessage():
            return message.tool_name
        case _:
            return message.role


def _words(message: AgentMessage) -> str:
    match message:
        case SummaryMessage():
            return message.summary
        case NotificationMessage():
            return message.text
        case CustomMessage():
            return message.kind
        case _:
            return text_of(message.content)


def _ending(run: RunRow) -> str:
    if run.ended is None:
        return "not yet"
    return f"{run.reason} after {run.ended - run.started:.1f} s, {run.tokens} tokens, ${run.cost_usd:.4f}"


def _kind(message: ToolResultMessage) -> str:
    """Return the kind of failure, in parentheses."""
    kind = message.details.get("failure") if isinstance(message.details, dict) else None
    return f" ({kind})" if kind else ""


def _outcome(event: ToolExecutionEnd) -> str:
    if event.denied:
        return "denied"
    if not event.attempts:
        return "not run"
    outcome = "failed" if event.is_error else "done"
    times = "" if event.attempts == 1 else f" at attempt {event.attempts}"
    return f"{outcome}{times} after {event.duration_ms or 0} ms"


def _answered(question: Question | None) -> str:
    if question is None:
        return "the question is not kept"
    by = f" by {question.answered_by}" if question.answered_by else ""
    return f"{question.state.value}{by}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
