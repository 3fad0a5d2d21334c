"""Turns the rows of a run into spans of time: model calls, tools, waits and delivery."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from agent_core.messages import AssistantMessage, JsonObject
from gateway.records.replay.rebuild import Row
from gateway.store.archive import SaidRow, StepRow
from gateway.store.question import Question
from gateway.store.run_records import Paid, RunRecord, SendRecord


class Kind(StrEnum):
    QUEUE = "queue"
    """It waited for its turn."""
    MODEL = "model"
    TOOL = "tool"
    APPROVAL = "approval"
    """It waited for an answer of a person."""
    BUDGET = "budget"
    """It waited for room in a budget."""
    RETRY = "retry"
    COMPACTION = "compaction"
    DELIVERY = "delivery"


class Span(Struct, frozen=True):
    """Something that took time. `end` is None while it goes on."""

    kind: Kind
    begin: float
    end: float | None
    name: str = ""
    tokens: int = 0
    cost: int = 0
    """In billionths of a US dollar."""
    failed: bool = False
    words: str = ""
    """Arguments or reasons, which only some may read."""
    arguments: JsonObject = field(default_factory=dict)

    def seconds(self, now: float) -> float:
        return max(0.0, (now if self.end is None else self.end) - self.begin)


class Facts(Struct, frozen=True):
    """Facts about a run that its rows do not hold."""

    run: RunRecord
    paid: Sequence[Paid]
    sends: Sequence[SendRecord]
    questions: Mapping[str, Question]
    asked_at: float | None
    """When the message that began it was written."""


def spans(facts: Facts, rows: Iterable[Row]) -> list[Span]:
    """Return the spans of a run, by their beginnings."""
    found = [*_queued(facts), *_Walk(facts).spans(rows), *_delivered(facts.sends)]
    return sorted(found, key=lambda span: span.begin)


class _Walk:
    """Goes through the rows of a run in order."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._paid = list(facts.paid)
        self._waiting: list[Span] = []
        """Spans whose end is not seen yet, other than tools."""
        self._tools: dict[str, Span] = {}
        self._arguments: dict[str, JsonObject] = {}
        self._model_since = facts.run.started
        self._answers: list[AssistantMessage] = []
        """Answers whose time the next step tells."""

    def spans(self, rows: Iterable[Row]) -> Iterator[Span]:
        last = self._facts.run.started
        for row in rows:
            if isinstance(row, SaidRow) and isinstance(row.message, AssistantMessage):
                self._answers.append(row.message)
                self._arguments |= {call.id: call.arguments for call in row.message.tool_calls}
            elif isinstance(row, StepRow):
                last = max(last, row.at)
                yield from self._ended(row.at)
                yield from self._step(row.at, row.event)
        over = self._facts.run.ended
        yield from self._ended(over or last)
        yield from (replace(each, end=over) for each in (*self._waiting, *self._tools.values()))
        if over is None and self._paid:  # a call is open
            first = self._paid[0]
            yield Span(Kind.MODEL, first.at, None, first.model, first.tokens, first.cost)

    def _ended(self, at: float) -> Iterator[Span]:
        """Yield the model calls that ended before a step, and the waits that such a step ends."""
        for answer in self._answers:
            calls = [each for each in self._paid if each.at <= at]
            del self._paid[: len(calls)]
            begin = calls[0].at if calls else min(self._model_since, at)
            tokens = sum(each.tokens for each in calls) or answer.usage.total
            cost = sum(each.cost for each in calls)
            yield from (replace(each, end=begin) for each in self._waiting if each.kind is Kind.BUDGET)
            self._waiting = [each for each in self._waiting if each.kind is not Kind.BUDGET]
            failed = answer.error_message is not None
            yield Span(Kind.MODEL, begin, at, answer.model or "", tokens, cost, failed, answer.error_message or "")
        self._answers.clear()

    def _step(self, at: float, event: JsonObject) -> Iterator[Span]:
        call = str(event.get("tool_call_id", ""))
        match event.get("type"):
            case "turn_start" | "agent_start":
                self._model_since = at
            case "tool_execution_start":
                arguments = self._arguments.get(call, {})
                self._tools[call] = Span(Kind.TOOL, at, None, str(event.get("tool_name", "")), arguments=arguments)
            case "tool_execution_end":
                yield from self._tool_ended(at, call, event)
            case "permission_request":
                yield self._asked(at, str(event.get("request_id", "")), event)
            case "budget_reached":
                self._waiting.append(Span(Kind.BUDGET, at, None, words=str(event.get("reason", ""))))
            case "retry_scheduled":
                delay, words = event.get("delay_s", 0.0), str(event.get("error", ""))
                seconds = float(delay) if isinstance(delay, int | float) else 0.0
                yield Span(Kind.RETRY, at, at + seconds, str(event.get("scope", "")), failed=True, words=words)
            case "compaction_start":
                self._waiting.append(Span(Kind.COMPACTION, at, None, str(event.get("reason", ""))))
            case "compaction_end":
                done = [each for each in self._waiting if each.kind is Kind.COMPACTION]
                self._waiting = [each for each in self._waiting if each.kind is not Kind.COMPACTION]
                yield from (replace(each, end=at, failed="error" in event) for each in done)
            case _:
                pass

    def _tool_ended(self, at: float, call: str, event: JsonObject) -> Iterator[Span]:
        begun = self._tools.pop(call, Span(Kind.TOOL, at, None, str(event.get("tool_name", ""))))
        took = event.get("duration_ms")
        begin = at - took / 1000 if isinstance(took, int | float) else begun.begin
        denied = event.get("denied")
        failed, words = event.get("is_error") is True, str(denied) if denied else ""
        yield replace(begun, begin=max(begin, begun.begin), end=at, failed=failed, words=words)

    def _asked(self, at: float, request: str, event: JsonObject) -> Span:
        question = self._facts.questions.get(request)
        name = str(event.get("tool_name", ""))
        if question is None:
            return Span(Kind.APPROVAL, at, at, name)
        end = question.answered_at
        if end is None and self._facts.run.ended is not None:
            end = min(question.expires_at, self._facts.run.ended)
        return Span(Kind.APPROVAL, at, end, name, words=question.what)


def _queued(facts: Facts) -> Iterator[Span]:
    if facts.asked_at is not None and facts.asked_at < facts.run.started:
        yield Span(Kind.QUEUE, facts.asked_at, facts.run.started)


def _delivered(sends: Sequence[SendRecord]) -> Iterator[Span]:
    for send in sends:
        name = send.key.split(":", 1)[-1]
        failed = send.state == "failed"
        end = send.said_at if send.said_at is not None or not failed else send.queued
        yield Span(
            Kind.DELIVERY, send.queued, end and max(end, send.queued), name, failed=failed, words=send.reason or ""
        )
