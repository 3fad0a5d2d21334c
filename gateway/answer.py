"""What a run says to people in the end, and in which messages."""

from collections.abc import Iterable

from agent_core.events import AgentEnd
from agent_core.limits import LoopLimits
from agent_core.llm import FailureKind
from agent_core.messages import AgentMessage, AssistantMessage, StopReason
from agent_core.reasons import TerminalReason
from channels.base import OutboundMessage
from channels.text import visible
from gateway.progress_message import ProgressMessage
from gateway.sending import Voice
from gateway.store.rows import Post, Run
from gateway.task_report import plain_news
from gateway.texts import Language, say


def answer_text(
    said: Iterable[AgentMessage], end: AgentEnd, run: Run, limits: LoopLimits, slash: str, language: Language
) -> str:
    """The words for people, Markdown, never empty: every finished answer of the run, or the news that it was to tell;
    then why it ended if not well."""
    said = list(said)
    words = [
        message.text.strip()
        for message in said
        if isinstance(message, AssistantMessage)
        and not message.tool_calls
        and message.stop_reason not in (StopReason.ERROR, StopReason.ABORTED)
    ]
    if not any(map(visible, words)):
        words = plain_news(said, language)
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
        case TerminalReason.BUDGET:
            words.append(say("budget_exhausted", language))
        case _:
            pass
    return "\n\n".join(part for part in words if visible(part)) or say("empty_answer", language)


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
