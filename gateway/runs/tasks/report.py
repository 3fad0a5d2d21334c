"""The news that a task has ended, for the model and for users."""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeGuard

from agent_core.messages import AgentMessage, NotificationMessage
from agent_core.origin import Origin
from agent_core.subagents import told
from agent_core.tasks import Report, TaskStatus
from agent_core.untrusted import harmless
from channels.base import Sender, TaskEnded
from channels.text import literal
from gateway.store.rows import InboxItem, Task, message_id
from gateway.texts.say import Language, say

KIND = "task"
LONGEST_WHAT = 80
"""Characters of a task's prompt in messages to users."""

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
    """Return the event that starts a run in the task's chat.

    A task that was given up and then continued ends twice, so the event id contains the number of process starts. The
    origin is that of its prompt, too, which is quoted; the report of a task that did not begin knows nothing of it.
    """
    origin = task.origin | report.origin
    return TaskEnded(
        event_id=f"task:{task.id}:{task.starts}" if task.starts else f"task:{task.id}",
        chat=task.chat,
        sender=Sender(id=task.person, name="", language=task.language),
        at=now,
        task_id=task.id,
        outcome=_OUTCOMES.get(report.status, "failed"),
        prompt=task.prompt,
        report=told(report, kept),
        untrusted=origin.is_data,
        sources=origin.sources,
        reply_to=task.reply_to,
    )


def notice(item: InboxItem, news: TaskEnded) -> NotificationMessage:
    """Return the news for the model, with the id of its inbox item, so that appending it marks the item as done."""
    what = what_in_short(news.prompt)
    return NotificationMessage(
        id=message_id(item),
        created_at=news.at,
        kind=KIND,
        text=f"Your background task {news.task_id} {news.outcome}: {harmless(what)}\n"
        "Tell the person what they need to know of its report, which they have not seen:",
        data={"task_id": news.task_id, "outcome": news.outcome, "what": what},
        quoted=news.report or "(no report)",
        origin=Origin(news.untrusted, news.sources),
        to_model=True,
    )


def plain_news(said: Iterable[AgentMessage], language: Language) -> list[str]:
    """Return the news as text for users, in case the model did not pass it on."""
    return [_plain(message, language) for message in said if _is_news(message)]


def set_aside_in(said: Iterable[AgentMessage]) -> list[str]:
    """Return the ids of tasks in these messages that were given up and can be continued."""
    killed = TaskStatus.KILLED.value
    return [str(news.data["task_id"]) for news in said if _is_news(news) and news.data["outcome"] == killed]


def what_in_short(prompt: str) -> str:
    flat = " ".join(prompt.split())
    return flat if len(flat) <= LONGEST_WHAT else f"{flat[: LONGEST_WHAT - 1]}…"


def _is_news(message: AgentMessage) -> TypeGuard[NotificationMessage]:
    return isinstance(message, NotificationMessage) and message.kind == KIND


def _plain(message: NotificationMessage, language: Language) -> str:
    data = message.data
    line = say(_LINES[str(data["outcome"])], language, id=str(data["task_id"]), what=literal(str(data["what"])))
    return f"{line}\n\n{message.quoted}"
