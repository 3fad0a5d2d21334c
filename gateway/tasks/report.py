"""How a task came out: the news of it, what the model is told to pass on, and the words where no model does."""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeGuard

from agent_core.messages import AgentMessage, NotificationMessage
from agent_core.subagents import told
from agent_core.tasks import Report, TaskStatus
from agent_core.untrusted import harmless
from channels.base import Sender, TaskEnded
from gateway.progress import literal
from gateway.store.rows import InboxItem, Task, message_id
from gateway.texts import Language, say

KIND = "task"
LONGEST_WHAT = 80
"""Characters of a task's prompt where people are told which one it is."""

_OUTCOMES: Mapping[TaskStatus, Literal["completed", "cancelled", "killed"]] = {
    TaskStatus.COMPLETED: "completed",
    TaskStatus.CANCELLED: "cancelled",
    TaskStatus.KILLED: "killed",
}

_LINES = {
    "completed": "task_completed",
    "failed": "task_failed",
    "cancelled": "task_cancelled",
    "killed": "task_killed",
}


def news_of(task: Task, report: Report, kept: str, now: float) -> TaskEnded:
    """What begins a run in the chat that the task is for; the same however often it is made."""
    return TaskEnded(
        event_id=f"task:{task.id}",
        chat=task.chat,
        sender=Sender(id=task.person, name="", language=task.language),
        at=now,
        task_id=task.id,
        outcome=_OUTCOMES.get(report.status, "failed"),
        prompt=task.prompt,
        report=told(report, kept),
        untrusted=report.untrusted,
        reply_to=task.reply_to,
    )


def notice(item: InboxItem, news: TaskEnded) -> NotificationMessage:
    """The news for the model. It has the id of its inbox item, which is dealt with when this is in the transcript."""
    what = what_in_short(news.prompt)
    return NotificationMessage(
        id=message_id(item),
        created_at=news.at,
        kind=KIND,
        text=f"Your background task {news.task_id} {news.outcome}: {harmless(what)}\n"
        "Tell the person what they need to know of its report, which they have not seen:",
        data={"task_id": news.task_id, "outcome": news.outcome, "what": what},
        quoted=news.report or "(no report)",
        untrusted=news.untrusted,
        to_model=True,
    )


def plain_news(said: Iterable[AgentMessage], language: Language) -> list[str]:
    """The same for people, for when the model does not tell them."""
    return [_plain(message, language) for message in said if _is_news(message)]


def what_in_short(prompt: str) -> str:
    flat = " ".join(prompt.split())
    return flat if len(flat) <= LONGEST_WHAT else f"{flat[: LONGEST_WHAT - 1]}…"


def _is_news(message: AgentMessage) -> TypeGuard[NotificationMessage]:
    return isinstance(message, NotificationMessage) and message.kind == KIND


def _plain(message: NotificationMessage, language: Language) -> str:
    data = message.data
    line = say(_LINES[str(data["outcome"])], language, id=str(data["task_id"]), what=literal(str(data["what"])))
    return f"{line}\n\n{message.quoted}"
