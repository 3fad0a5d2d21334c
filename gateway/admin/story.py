"""Tells a run as a story: the question, what was said and done on the way and why that was allowed, and the answer."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from agent_core.messages import AgentMessage, AssistantMessage
from gateway.admin.screen import Visit
from gateway.permissions.question_text import one_line, shown, what_is_done
from gateway.store.question import Question, QuestionState
from gateway.store.run_records import Account, CallRecord

MOST_STEPS = 60
MOST_WORDS = 400
"""Characters of a call, its result, or of what was said on the way."""
MOST_ANSWER = 6_000
"""Characters of the answer."""


class StoryStep(Struct, frozen=True):
    """A tool call, or words before one.

    Attributes:
        words: What was said; empty for a call.
        tool: The tool that was called.
        does: What the call does.
        came: Its result, or why it failed.
        failed: True if it failed.
        seconds: The time that it took; None if it has not ended.
        why: Why it was made, or not.
    """

    words: str = ""
    tool: str = ""
    does: str = ""
    came: str = ""
    failed: bool = False
    seconds: float | None = None
    why: str = ""


class Story(Struct, frozen=True):
    """A run as somebody reads it who may read its words."""

    steps: Sequence[StoryStep]
    left_out: int
    """The number of steps that are not listed."""
    answer: str
    """In Markdown; empty if there is none yet."""


def story_of(account: Account, said: Sequence[AgentMessage], visit: Visit) -> Story:
    """Return the story of a run from what was said in it, in order."""
    answers = [each for each in said if isinstance(each, AssistantMessage)]
    calls = {each.call: each for each in account.calls}
    questions = {each.call: each for each in account.questions}
    steps = [*_steps(answers, calls, questions, visit)]
    last = answers[-1] if answers and not answers[-1].tool_calls else None
    answer = last.text[:MOST_ANSWER] if last else ""
    return Story(steps[:MOST_STEPS], max(0, len(steps) - MOST_STEPS), answer)


def _steps(
    answers: Sequence[AssistantMessage],
    calls: Mapping[str, CallRecord],
    questions: Mapping[str, Question],
    visit: Visit,
) -> Iterator[StoryStep]:
    for answer in answers:
        if answer.tool_calls and answer.text.strip():
            yield StoryStep(words=one_line(shown(answer.text), MOST_WORDS))
        for call in answer.tool_calls:
            record, question = calls.get(call.id), questions.get(call.id)
            came = (record.error or record.result or "") if record else ""
            yield StoryStep(
                tool=call.name,
                does=one_line(what_is_done(call.name, call.arguments), MOST_WORDS),
                came=one_line(shown(came), MOST_WORDS),
                failed=bool(record and record.error),
                seconds=record.duration_ms / 1000 if record and record.duration_ms is not None else None,
                why=_why(record, question, visit),
            )


def _why(record: CallRecord | None, question: Question | None, visit: Visit) -> str:
    """Return the sentence about what allowed a call, or refused it."""
    if question is not None and not question.is_of_model:
        state = QuestionState.APPROVED if question.state is QuestionState.USED else question.state
        return visit.say(f"story_{state}", by=question.answered_by or "–")
    if record is None or not record.ruled_by:
        return ""
    return visit.say("story_refused" if record.behavior == "deny" else "story_allowed", rule=record.ruled_by)
