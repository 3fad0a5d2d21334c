"""The details of a run as Markdown: each tool call with its arguments, result, time and cost."""

from collections.abc import Iterator, Sequence

from agent_core.json_text import read_json
from agent_core.messages import AgentMessage, AssistantMessage
from channels.text import literal
from gateway.permissions.question_text import one_line, shown, what_is_done
from gateway.records.audit import without_secret_values
from gateway.store.run_records import Account, CallRecord, RunRecord
from gateway.texts.say import Language, say

MOST_CALLS = 20
MOST_ARGUMENTS = 200
"""Characters of a call's arguments."""
MOST_RESULT = 160
"""Characters of a call's result."""
A_CENT = 0.01


def details(account: Account, said: Sequence[AgentMessage], language: Language) -> str:
    """Return the calls of a run in order, below the model call that made them."""
    run, calls = account.run, account.calls
    head = say(
        "details_title",
        language,
        summary=summary(run, len(calls), language),
        model=model(run, language),
        cost=cost(run.cost_usd),
    )
    blocks = [head, *_steps(calls[:MOST_CALLS], said, language)]
    if len(calls) > MOST_CALLS:
        blocks.append(say("details_more", language, count=len(calls) - MOST_CALLS))
    if not calls:
        blocks.append(say("details_none", language))
    if run.shortened:
        blocks.append(say("details_shortened", language))
    return "\n\n".join(blocks)


def summary(run: RunRecord, tools: int, language: Language) -> str:
    """Return the line to which the progress of a run folds."""
    seconds = round((run.ended or run.started) - run.started)
    if not tools:
        return say("folded_no_tools", language, seconds=seconds)
    key = "one_tool" if tools == 1 else "many_tools"
    return say("folded", language, tools=say(key, language, count=tools), seconds=seconds)


def model(run: RunRecord, language: Language) -> str:
    return literal(run.model) if run.model else say("why_no_model", language)


def cost(usd: float) -> str:
    """Return the cost after a comma, or an empty string if there is none."""
    if usd <= 0:
        return ""
    return f", ${usd:.2f}" if usd >= A_CENT else f", ${usd:.4f}"


def code(text: str, most: int) -> str:
    """Return text of others as one line of Markdown code, with invisible characters written out."""
    return f"`{one_line(shown(text).replace('`', chr(39)), most)}`"


def _steps(calls: Sequence[CallRecord], said: Sequence[AgentMessage], language: Language) -> Iterator[str]:
    answers = {each.id: (number, each) for number, each in enumerate(_answers(said), start=1)}
    step = ""
    for number, call in enumerate(calls, start=1):
        if call.message_id in answers and call.message_id != step:
            step = call.message_id or ""
            place, answer = answers[step]
            usage = answer.usage
            yield say("details_step", language, number=place, tokens=f"{usage.total:,}", cost=cost(usage.cost_usd))
        yield _call(number, call)


def _answers(said: Sequence[AgentMessage]) -> list[AssistantMessage]:
    return [each for each in said if isinstance(each, AssistantMessage)]


def _call(number: int, call: CallRecord) -> str:
    mark = "✓" if call.error is None else "✗"
    seconds = f" ({call.duration_ms / 1000:.1f} s)" if call.duration_ms is not None else ""
    lines = [f"{number}\\. {mark} **{literal(call.tool)}**{seconds}", *_arguments(call)]
    outcome = call.result if call.error is None else call.error
    if outcome and outcome.strip():
        lines.append(f"→ {code(outcome, MOST_RESULT)}")
    return "  \n".join(lines)


def _arguments(call: CallRecord) -> list[str]:
    try:
        given = without_secret_values(read_json(call.arguments))
    except ValueError:
        given = call.arguments
    if not given:
        return []
    text = what_is_done("", given).strip() if isinstance(given, dict) else str(given)
    return [code(text, MOST_ARGUMENTS)]
