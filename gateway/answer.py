"""What a run says to people in the end, and in which messages."""

from collections.abc import Iterable
from typing import assert_never

from agent_core.events import AgentEnd
from agent_core.limits import LoopLimits
from agent_core.llm import FailureKind
from agent_core.loop.spoken import joined
from agent_core.messages import AgentMessage, AssistantMessage, StopReason
from agent_core.reasons import TerminalReason
from channels.base import OutboundMessage
from channels.text import visible
from gateway.progress import literal
from gateway.progress_message import ProgressMessage
from gateway.sending import Voice
from gateway.store.rows import Post, Run
from gateway.tasks.report import plain_news
from gateway.texts import Language, say


def answer_text(
    said: Iterable[AgentMessage], end: AgentEnd, run: Run, limits: LoopLimits, slash: str, language: Language
) -> str:
    """The words for people, Markdown, never empty: every finished answer of the run, or the news that it was to tell;
    then why it ended if not well."""
    said = list(said)
    answers = _finished(said)
    words = [answer.text.strip() for answer in answers]
    if not any(map(visible, words)):
        words = plain_news(said, language)
    silent = not any(map(visible, words))
    match end.reason:
        case TerminalReason.ABORTED:
            words.append(say("stopped", language))
        case TerminalReason.ERROR:
            kind = end.failure or FailureKind.FATAL
            words.append(say(f"error_{kind.value}", language, slash=slash, run=run.id[:8]))
        case TerminalReason.MAX_TURNS:
            words.append(say("max_turns", language, most=limits.max_turns))
        case TerminalReason.MAX_TOOL_CALLS:
            words.append(say("max_tool_calls", language, most=limits.max_tool_calls))
        case TerminalReason.BUDGET | TerminalReason.PERMISSION | TerminalReason.BACKGROUNDED:
            words.append(say(end.reason.value, language))
        case TerminalReason.TOOL_TERMINATED | TerminalReason.HANDED_OVER:
            words.append(say(end.reason.value, language) if silent else "")
        case TerminalReason.COMPLETED:
            is_cut = bool(answers) and answers[-1].stop_reason is StopReason.LENGTH
            words.append(say("cut_off", language) if is_cut and not silent else "")
        case _:
            assert_never(end.reason)
    return "\n\n".join(part for part in words if visible(part)) or say("empty_answer", language)


def answered_by(said: Iterable[AgentMessage], usual: str) -> str:
    """The model whose answer stands last; the usual one where none does."""
    return next((answer.model for answer in reversed(_finished(said)) if answer.model), usual)


def signed(text: str, model: str, usual: str, language: Language) -> str:
    """With a quiet line below where another model has answered than people are used to."""
    if model == usual:
        return text
    by = say("answered_by", language, model=literal(model))
    return f"{text}\n\n_{by}_"


def _finished(said: Iterable[AgentMessage]) -> list[AssistantMessage]:
    return [
        message
        for message in joined(said)
        if isinstance(message, AssistantMessage)
        and not message.tool_calls
        and message.stop_reason not in (StopReason.ERROR, StopReason.ABORTED)
    ]


def answer_posts(voice: Voice, run: Run, text: str, progress: ProgressMessage, now: float) -> list[Post]:
    """The messages to send and edit, in order.

    A young progress message becomes the answer; an old one folds to one line, and the answer is a new message, so that
    it is noticed.
    """
    parts = voice.split(OutboundMessage(markdown=text, reply_to=run.reply_to))
    posts = [Post(f"{run.id}:answer:{number}", run.id, run.chat, part) for number, part in enumerate(parts)]
    shown = progress.posted
    if shown is None:
        return posts
    if progress.may_become_answer:
        progress.promise_edit()
        first = posts[0]
        return [Post(first.key, run.id, run.chat, first.message, message_id=shown.message_id), *posts[1:]]
    folded = OutboundMessage(markdown=progress.progress.folded(now), silent=True)
    return [*posts, Post(f"{run.id}:progress:0", run.id, run.chat, folded, message_id=shown.message_id)]
