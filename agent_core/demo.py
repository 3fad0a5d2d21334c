"""The demo model: no AI, no network, always the same; but it calls real tools, through the same loop as any model.

It is what a newcomer meets before a real model is connected, and it says so. It remembers nothing: each request is
read from the last finished answer on, and what is still missing for an answer is asked of the tools.
"""

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from agent_core.clock import Clock, NewId, new_id
from agent_core.demo_answers import Outcome, Wording, answer, wording_for
from agent_core.demo_intents import Intent, Step, Topic, Use, steps, understand
from agent_core.execution import ABORTED
from agent_core.gate import SKIPPED
from agent_core.llm import LlmOptions, LlmRequest, ModelInfo, StreamEvent, StreamStart
from agent_core.messages import AssistantMessage, ImageContent, LlmMessage, ToolResultMessage, UserMessage, text_of
from agent_core.scripted import Call, Calls, Speech, words
from agent_core.untrusted import bare

WORD_S = 0.012
LONGEST_S = 3.0
"""A long answer streams faster, so that it is written within this time."""
ASKED_FOR = frozenset({"run_skill_script"})
"""Who writes something else instead of an answer to a question about these is not asked the same again."""

_PROGRAM_WORDS = ("<summary>", "<notification>")
_ATTACHED = re.compile(r"^\[[^\]\n]{3,300}\]$", re.MULTILINE)


class DemoLlm:
    """An `LlmClient` that needs nothing; any number of chats may share it."""

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
        yield speech.done(request)

    async def close(self) -> None:
        """There is nothing to give back."""


def decide(request: LlmRequest) -> str | Calls:
    """What to say, or which tools to call first."""
    asked, outcomes = _open_work(request.messages)
    offered = {spec.name for spec in request.tools} if request.tool_choice != "none" else set()
    wording = wording_for(_words_of(asked[-1]) if asked else "")
    said: list[str] = []
    for message in asked:
        intent = understand(_words_of(message))
        work = _Work.of(intent, outcomes, offered)
        if work.to_do:
            return Calls(
                tuple(Call(use.tool, use.arguments) for use in work.to_do), _before(intent, work.to_do, wording)
            )
        said.append(_said(message, intent, work, wording))
    return "\n\n".join(dict.fromkeys(said)) or wording.help


@dataclass(frozen=True)
class _Work:
    """How far an intent has come: what is known, what to call next, which tool it lacks."""

    outcomes: tuple[Outcome, ...] = ()
    to_do: Step = ()
    lacks: str = ""

    @classmethod
    def of(cls, intent: Intent, outcomes: list[Outcome], offered: set[str]) -> "_Work":
        """Takes the outcomes that belong to the intent out of the list."""
        known: list[Outcome] = []
        for step in steps(intent):
            missing: list[Use] = []
            for use in step:
                found = next((outcome for outcome in outcomes if outcome.use == use), None)
                if found is None:
                    missing.append(use)
                else:
                    outcomes.remove(found)
                    known.append(found)
            needed = [use for use in missing if use.tool in offered or not use.optional]
            lacks = next((use.tool for use in needed if use.tool not in offered), "")
            if needed:
                return cls(tuple(known), () if lacks else tuple(needed), lacks)
            if any(outcome.failed for outcome in known):
                break  # what follows would build on it
        return cls(tuple(known))


def _said(message: UserMessage, intent: Intent, work: _Work, wording: Wording) -> str:
    pictures = sum(isinstance(part, ImageContent) for part in message.content)
    attached = _ATTACHED.findall(f"{text_of(message.content)}\n{message.context or ''}")
    parts = [wording.picture.format(count=pictures)] if pictures else []
    if attached:
        parts.append(wording.attached.format(attached=" ".join(attached)))
    if work.lacks:
        parts.append(wording.no_tool.format(tool=work.lacks))
    elif intent.topic is not Topic.OTHER or not parts:
        parts.append(answer(intent, work.outcomes, wording))
    return "\n\n".join(parts)


def _before(intent: Intent, to_do: Step, wording: Wording) -> str:
    if intent.topic is not Topic.PLAN:
        return ""
    return wording.plan_wait if to_do[0].tool == "wait" else wording.plan_look


def _words_of(message: UserMessage) -> str:
    """What the person wrote, without the lines in square brackets that tell of attachments."""
    return _ATTACHED.sub("", text_of(message.content)).strip()


def _open_work(messages: Sequence[LlmMessage]) -> tuple[list[UserMessage], list[Outcome]]:
    """What was asked since the last finished or stopped answer, and what tools have found out since."""
    asked: list[UserMessage] = []
    outcomes: list[Outcome] = []
    uses: dict[str, Use] = {}
    for message in messages:
        match message:
            case UserMessage():
                if not text_of(message.content).startswith(_PROGRAM_WORDS):
                    asked.append(message)
            case AssistantMessage():
                uses = {call.id: Use(call.name, call.arguments) for call in message.tool_calls}
                if not uses:
                    asked, outcomes = [], []
            case ToolResultMessage():
                text = bare(text_of(message.content))
                used = uses.get(message.tool_call_id)
                if text == ABORTED or (text == SKIPPED and used and used.tool in ASKED_FOR):
                    asked, outcomes = [], []
                elif text != SKIPPED and used:
                    outcomes.append(Outcome(used, text, message.is_error))
    return asked, outcomes
