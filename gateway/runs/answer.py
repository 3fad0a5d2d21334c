"""Builds the final answer of a run and the messages that deliver it."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from agent_core.events import AgentEnd
from agent_core.loop.answer import joined
from agent_core.loop.limits import LoopLimits
from agent_core.loop.model_call import NO_TOOLS
from agent_core.messages import AgentMessage, AssistantMessage, NotificationMessage, StopReason
from agent_core.models.llm import FailureCause, FailureKind
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from channels.base import Button, OutboundMessage
from channels.fences import Fences
from channels.text import literal, visible
from gateway.delivery.progress_message import ProgressMessage
from gateway.runs.run_buttons import RunButton, buttons_in_chat
from gateway.runs.tasks.report import plain_news, set_aside_in
from gateway.security.masked_channel import MaskedChannel
from gateway.store.rows import GONE, Post, Run
from gateway.texts.say import Language, say


def answer_text(
    said: Iterable[AgentMessage], end: AgentEnd, limits: LoopLimits, trouble: str, language: Language
) -> str:
    """Return the answer in Markdown, never empty.

    It joins the run's finished answers, or the task reports it was to deliver, and adds the reason if the run ended
    abnormally. `trouble` is the text for a run that ended with an error.
    """
    said = list(said)
    answers = _finished(said)
    words = [answer.text.strip() for answer in answers]
    stopped = _stopped_words(said) if end.reason is TerminalReason.ABORTED else ""
    if not any(map(visible, words)):
        words = plain_news(said, language)
    silent = not any(map(visible, words))
    match end.reason:
        case TerminalReason.ABORTED:
            words += [stopped, say("stopped_here", language)] if stopped else [say("stopped", language)]
        case TerminalReason.ERROR:
            words.append(trouble)
        case TerminalReason.MAX_TURNS:
            words.append(say("max_turns", language, most=limits.max_turns))
        case TerminalReason.MAX_TOOL_CALLS:
            words.append(say("max_tool_calls", language, most=limits.max_tool_calls))
        case TerminalReason.MAX_SECONDS:
            words.append(say("max_seconds", language, most=f"{limits.max_seconds / 60:g}"))
        case (
            TerminalReason.REPEATED_CALLS
            | TerminalReason.BUDGET
            | TerminalReason.PERMISSION
            | TerminalReason.BACKGROUNDED
            | TerminalReason.SET_ASIDE
        ):
            words.append(say(end.reason.value, language))
        case TerminalReason.TOOL_TERMINATED | TerminalReason.HANDED_OVER:
            words.append(say(end.reason.value, language) if silent else "")
        case TerminalReason.COMPLETED:
            is_cut = bool(answers) and answers[-1].stop_reason in (StopReason.LENGTH, StopReason.PAUSE)
            words.append(say("cut_off", language) if is_cut and not silent else "")
        case _:
            assert_never(end.reason)
    words += [say("no_tools", language, model=literal(model)) for model in _without_tools(said)]
    return "\n\n".join(part for part in words if visible(part)) or say("empty_answer", language)


def _without_tools(said: Iterable[AgentMessage]) -> list[str]:
    """Return the models of which it turned out in these messages that their servers take no tools."""
    notices = (message for message in said if isinstance(message, NotificationMessage) and message.kind == NO_TOOLS)
    return [str(notice.data["model"]) for notice in notices]


def finished_words(said: Iterable[AgentMessage]) -> list[str]:
    """Return the non-empty texts of the finished answers."""
    words = (answer.text.strip() for answer in _finished(said))
    return [text for text in words if visible(text)]


def continue_buttons(run: Run, language: Language) -> tuple[tuple[Button, ...], ...]:
    """Return the buttons below the answer of a run that may be continued."""
    return ((Button(label=say("continue_button", language), action=f"/continue {run.id[:8]}"),),)


def retry_buttons(run: Run, language: Language) -> tuple[tuple[Button, ...], ...]:
    """Return the buttons below the answer of a run that failed."""
    return ((Button(label=say("retry_button", language), action=f"/retry {run.id[:8]}"),),)


def retry_helps(end: AgentEnd) -> bool:
    """Return True if the same request may succeed once the cause of the failure is gone."""
    return end.failure is not FailureKind.OVERFLOW and end.cause is not FailureCause.CONTENT


def buttons_below(
    said: Iterable[AgentMessage], end: AgentEnd, run: Run, language: Language
) -> tuple[tuple[Button, ...], ...]:
    """Return the buttons to continue or retry the run, and to continue tasks that were set aside in it."""
    own = continue_buttons(run, language) if end.reason.is_limit else ()
    if end.reason is TerminalReason.ERROR and retry_helps(end):
        own = retry_buttons(run, language)
    label = say("continue_button", language)
    return (*own, *((Button(label=label, action=f"/tasks continue {each}"),) for each in set_aside_in(said)))


def answered_by(said: Iterable[AgentMessage], usual: str) -> str:
    """Return the model of the last answer, or the usual one if there is none."""
    return next((answer.model for answer in reversed(_finished(said)) if answer.model), usual)


def signed(text: str, model: str, language: Language) -> str:
    """Add a line with the model's name."""
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


def _stopped_words(said: Sequence[AgentMessage]) -> str:
    """Return the part of a stopped answer that was shown, with an open code block closed."""
    last = said[-1] if said else None
    if not isinstance(last, AssistantMessage) or last.stop_reason is not StopReason.ABORTED or not visible(last.text):
        return ""
    return Fences(last.text.strip()).text


def answer_posts(
    masked_channel: MaskedChannel,
    run: Run,
    message: OutboundMessage,
    progress: ProgressMessage,
    picture: Post | None,
    now: float,
    *,
    offered: Sequence[RunButton],
) -> list[Post]:
    """Return the messages to send and edit, in order.

    A short answer becomes the caption of `picture`, which was just sent and is the last message in the chat. A young
    progress message is edited into the answer, or deleted if there is already a message below it, such as a picture.
    Of an older one the answer is a new message, so that it notifies, and the progress message is deleted, or folded to
    one line where that is not possible.
    """
    if progress.takes_buttons:
        message = message.model_copy(
            update={"buttons": message.buttons + buttons_in_chat(offered, run, progress.language)}
        )
    parts = masked_channel.split(message)
    posts = [Post(f"{run.id}:answer:{number}", run.id, run.chat, part, CLEAN) for number, part in enumerate(parts)]
    if picture is not None and message.reply_to is None:
        under = masked_channel.split(message.model_copy(update={"attachments": picture.message.attachments}))
        if len(under) == 1:
            posts = [Post(posts[0].key, run.id, run.chat, under[0], CLEAN, message_id=picture.message_id)]
    shown = progress.posted
    if shown is not None and progress.may_become_answer:
        progress.promise_edit()
        first = posts[0]
        return [Post(first.key, run.id, run.chat, first.message, CLEAN, message_id=shown.message_id), *posts[1:]]
    return [*posts, *folded_posts(run, progress, now, offered)]


def folded_posts(run: Run, progress: ProgressMessage, now: float, offered: Sequence[RunButton]) -> list[Post]:
    """Return the edit that folds the progress message to one line, or its deletion; nothing if there is no message.

    The line of a run that called tools has the buttons that are `offered` in chats.
    """
    shown = progress.posted
    if shown is None:
        return []
    folded = OutboundMessage(
        markdown=progress.progress.folded(now),
        buttons=buttons_in_chat(offered, run, progress.language) if progress.progress.tools else (),
        silent=True,
    )
    key = f"{run.id}:progress:{GONE if progress.leaves_nothing else 0}"
    return [Post(key, run.id, run.chat, folded, CLEAN, message_id=shown.message_id)]
