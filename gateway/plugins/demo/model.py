"""The demo model: deterministic rules without AI and network, but with real tools, through the same loop as any model.

New users meet it before a real model is connected, and it says so. It is stateless: each request is read from the last
finished answer on, and missing facts are fetched by tools.
"""

import re
from collections.abc import AsyncGenerator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from agent_core.clock import Clock, NewId, new_id
from agent_core.identity_cache import IdentityCache
from agent_core.loop.execution import ABORTED
from agent_core.loop.gate import SKIPPED
from agent_core.messages import (
    AssistantMessage,
    ImageContent,
    LlmMessage,
    ToolResultMessage,
    Usage,
    UserMessage,
    text_of,
)
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo, StreamEvent, StreamStart, ToolSpec
from agent_core.models.scripted import Call, Calls, Speech, words
from agent_core.models.tokens import estimate, message_tokens
from agent_core.untrusted import bare
from gateway.plugins.demo.flight import is_time, says_more
from gateway.plugins.demo.intents import Intent, Topic, understand
from gateway.plugins.demo.plans import plan_of
from gateway.plugins.demo.report import NOTHING
from gateway.plugins.demo.steps import Outcome, Scene, Step, StepFailed, Use
from gateway.plugins.demo.wording import CHINESE, Wording, wording_for

ASKED_FOR = frozenset({"run_skill_script"})
"""If the user answers an approval of these with a new message, the call is not repeated."""

IN_CHINESE = re.compile(r"\bin Chinese\b|\bspeaks zh\b")
"""Phrases in prompts of scheduled jobs that ask for Chinese."""
LOOKS_BACK = 100
"""Messages; earlier statements about a flight are forgotten."""

_SUMMARY = "<summary>"
_NOTIFICATION = re.compile(r"<notification>\n(.*)\n</notification>", re.DOTALL)
_REPORT = re.compile(r"Your background task \w+ (\w+): ([^\n]*)\n[^\n]*\n(.*)", re.DOTALL)
"""A notification about a background task."""
_OF_A_JOB = re.compile(r"You have posted this here by yourself: [^\n]*\n(.*)", re.DOTALL)
"""A notification about the report of a job."""
_ATTACHED = re.compile(r"^\[[^\]\n]{3,300}\]$", re.MULTILINE)
_DOCUMENT = re.compile(r"^\[([^\]\n]{1,300}) reads:\]\n(.*?)\n\[End of \1\.\]$", re.MULTILINE | re.DOTALL)
"""The content of a file, as plugins read it for the model."""
_OF_DOCUMENT = 600
"""Characters of it that are shown."""
_QUOTED = re.compile(r"</?untrusted [0-9a-f]{8}>\n?")
WORD_S = 0.006
LONGEST_S = 3.0
"""Seconds within which long answers are streamed, by streaming faster."""


class _Talk(Struct):
    """The messages since the last finished or stopped answer, and the results of tools since then."""

    asked: list[UserMessage] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    """Reports of background tasks."""
    outcomes: list[Outcome] = field(default_factory=list)
    flight: str = ""
    """Earlier messages about a flight."""
    told: str = ""
    """The last report of a job."""

    def finish(self) -> None:
        """Close the open messages after an answer."""
        flights = [intent for _, intent in _understood(self) if intent.topic is Topic.FLIGHT]
        self.flight = flights[-1].subject if flights else self.flight
        self.drop()

    def drop(self) -> None:
        """Discard everything open; the time of day may still be useful."""
        self.asked, self.reports = [], []
        self.outcomes = [outcome for outcome in self.outcomes if is_time(outcome)]


def decide(request: LlmRequest) -> str | Calls:
    """Return the answer, or the tool calls needed for it."""
    talk = _read(request.messages)
    offered = {spec.name for spec in request.tools} if request.tool_choice != "none" else set()
    wording = wording_for(_words_of(talk.asked[-1]) if talk.asked else "".join(talk.reports))
    pool = [*talk.outcomes]
    if NOTHING in offered and talk.asked:
        due, context = text_of(talk.asked[0].content), talk.asked[0].context or ""
        wording = CHINESE if IN_CHINESE.search(f"{due}\n{context}") else wording
        scene = Scene(wording, request.system, tuple(pool))
        return _follow(Intent(Topic.DUE, due), scene, pool, offered)
    said = list(talk.reports)
    for message, intent in _understood(talk):
        answer = _follow(intent, Scene(wording, request.system, tuple(pool), talk.told), pool, offered)
        if isinstance(answer, Calls):
            return replace(answer, text="\n\n".join([*said, answer.text]) if answer.text else "")
        said.append(_with_what_came_along(message, intent, answer, wording))
    return "\n\n".join(dict.fromkeys(said)) or wording.hello


def _follow(intent: Intent, scene: Scene, pool: list[Outcome], offered: set[str]) -> str | Calls:
    """Run the plan as far as the outcomes in the pool allow; those used are removed from it."""
    plan = plan_of(intent, scene)
    try:
        step = next(plan)
        while True:
            outcomes, missing = _taken(step, pool, offered)
            if lacks := next((use.tool for use in missing if use.tool not in offered), ""):
                return scene.wording.no_tool.format(tool=lacks)
            if missing:
                return Calls(tuple(Call(use.tool, use.arguments) for use in missing), step.before)
            step = plan.send(tuple(outcomes))
    except StopIteration as end:
        return str(end.value)
    except StepFailed as failure:
        return scene.wording.not_possible.format(fact=failure.outcome.fact)


def _taken(step: Step, pool: list[Outcome], offered: set[str]) -> tuple[list[Outcome], list[Use]]:
    """Return the known outcomes of the step's calls, and the calls still to be made."""
    outcomes, missing = [], []
    for use in step.uses:
        found = next((outcome for outcome in pool if outcome.use == use), None)
        if found is not None:
            pool.remove(found)
            outcomes.append(found)
        elif use.optional and use.tool not in offered:
            outcomes.append(Outcome(use, "", failed=False))
        else:
            missing.append(use)
    return outcomes, missing


def _with_what_came_along(message: UserMessage, intent: Intent, answer: str, wording: Wording) -> str:
    pictures = sum(isinstance(part, ImageContent) for part in message.content)
    came = f"{text_of(message.content)}\n{message.context or ''}"
    attached = _ATTACHED.findall(_DOCUMENT.sub("", came))
    parts = [wording.picture.format(count=pictures)] if pictures else []
    if attached:
        parts.append(wording.attached.format(attached=" ".join(attached)))
    parts += [wording.document.format(name=name, text=_beginning(text)) for name, text in _DOCUMENT.findall(came)]
    if intent.topic is not Topic.OTHER or not parts:
        parts.append(answer)
    return "\n\n".join(parts)


def _beginning(text: str) -> str:
    shown = text[:_OF_DOCUMENT].replace("```", "` ` `")
    return shown if len(text) <= _OF_DOCUMENT else f"{shown} …"


def _understood(talk: _Talk) -> list[tuple[UserMessage, Intent]]:
    """Return each message with its intent; a correction or continuation replaces the earlier message."""
    found: list[tuple[UserMessage, Intent]] = []
    for message in talk.asked:
        words = _words_of(message)
        intent = understand(words)
        last = found[-1][1] if found else Intent(Topic.FLIGHT, talk.flight)
        counts = [place for place, (_, other) in enumerate(found) if other.topic is Topic.COUNT]
        if intent.topic is Topic.CORRECTION and counts:
            _, counting = found.pop(counts[-1])
            intent = replace(counting, subject=intent.subject, instead_of=counting.instead_of or counting.subject)
        elif last.topic is Topic.FLIGHT and last.subject and _goes_on(intent, words):
            found[-1:] = []
            intent = Intent(Topic.FLIGHT, f"{last.subject}\n{_one_line(words)}")
        elif intent.topic is Topic.FLIGHT:
            intent = Intent(Topic.FLIGHT, _one_line(words))
        found.append((message, intent))
    # Slow intents last, so that other questions are answered first.
    return sorted(found, key=lambda each: each[1].topic is Topic.COUNT)


def _goes_on(intent: Intent, words: str) -> bool:
    """Return True if the words may continue the earlier wish for a flight. A date may look like a sum."""
    return intent.topic is Topic.FLIGHT or (intent.topic in (Topic.OTHER, Topic.MATHS) and says_more(words))


def _one_line(words: str) -> str:
    return " ".join(words.split())


def _words_of(message: UserMessage) -> str:
    """Return the user's text without the lines in brackets that describe attachments."""
    return _ATTACHED.sub("", text_of(message.content)).strip()


def _read(messages: Sequence[LlmMessage]) -> _Talk:
    talk = _Talk()
    uses: dict[str, Use] = {}
    for message in messages[-LOOKS_BACK:]:
        match message:
            case UserMessage():
                _hear(message, talk)
            case AssistantMessage():
                uses = {call.id: Use(call.name, call.arguments) for call in message.tool_calls}
                if not uses:
                    talk.finish()
            case ToolResultMessage():
                text = bare(text_of(message.content))
                used = uses.get(message.tool_call_id)
                if text == ABORTED or (text == SKIPPED and used and used.tool in ASKED_FOR):
                    talk.drop()
                elif text != SKIPPED and used:
                    talk.outcomes.append(Outcome(used, text, message.is_error))
    return talk


def _hear(message: UserMessage, talk: _Talk) -> None:
    text = text_of(message.content)
    if found := _NOTIFICATION.fullmatch(text):
        told = _QUOTED.sub("", found[1]).strip()
        if of_a_job := _OF_A_JOB.fullmatch(told):
            talk.told = of_a_job[1]
        else:
            talk.reports.append(_report(told))
    elif not text.startswith(_SUMMARY):
        talk.asked.append(message)


def _report(told: str) -> str:
    """Format a report for the user; other notifications are returned unchanged."""
    found = _REPORT.fullmatch(told)
    if not found:
        return told
    outcome, what, report = found.groups()
    wording = wording_for(what)
    sentences = {"completed": wording.reported, "cancelled": wording.reported_stop}
    return sentences.get(outcome, wording.reported_failure).format(what=what, report=report)


class DemoLlm:
    """An `LlmClient` without dependencies; any number of chats may share it."""

    def __init__(self, clock: Clock, *, new_id: NewId = new_id, word_s: float = WORD_S) -> None:
        self._clock = clock
        self._new_id = new_id
        self._word_s = word_s

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        turn = decide(request)
        text, calls = (turn, ()) if isinstance(turn, str) else (turn.text, turn.calls)
        speech = Speech(model, self._new_id)
        pieces = list(words(text))
        pause = min(self._word_s, LONGEST_S / max(1, len(pieces)))
        yield StreamStart()
        for piece in pieces:
            await self._clock.sleep(pause)
            yield speech.text(piece)
        for call in calls:
            for delta in speech.call(call):
                yield delta
        done = speech.done(request)
        yield done.model_copy(update={"message": done.message.model_copy(update={"usage": _usage(request, text)})})

    async def close(self) -> None:
        """Do nothing."""


_message_size = IdentityCache[LlmMessage, int](message_tokens)
_tool_size = IdentityCache[ToolSpec, int](lambda spec: estimate(spec.model_dump_json()))


def _usage(request: LlmRequest, text: str) -> Usage:
    """Return the usage, estimated like Parley's own figures."""
    read = estimate(request.system) + sum(_tool_size.each(request.tools)) + sum(_message_size.row(request.messages))
    said = estimate(text)
    return Usage(input=read, output=said, total=read + said)
