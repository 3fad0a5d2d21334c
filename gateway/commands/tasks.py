"""The command for background tasks: /tasks."""

from collections.abc import Iterable

from agent_core.clock import Clock
from agent_core.tasks import TaskStatus
from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten
from gateway.chat.run_pace import Pace
from gateway.commands.command import LONGEST_ID, MOST_SUGGESTED, Command, Invocation, Unfinished, reply, too_soon
from gateway.commands.suggested import suggested
from gateway.permissions.request import typed_id
from gateway.permissions.rights import TALK, always
from gateway.runs.stop_and_continue import Continuing
from gateway.runs.tasks.report import what_in_short
from gateway.runs.tasks.tasks import Cancelling, Shown, Tasks
from gateway.texts.say import Language, say

MOST = 10
_SENTENCES = {
    Cancelling.BEGUN: "tasks_cancelling",
    Cancelling.UNKNOWN: "tasks_unknown",
    Cancelling.NOT_YOURS: "tasks_unknown",
    Cancelling.OVER: "tasks_over",
}

_CONTINUED = {
    Continuing.POSSIBLE: "tasks_continued",
    Continuing.NOTHING: "continue_nothing",
    Continuing.NOT_YOURS: "continue_not_yours",
}
_STATES = {
    TaskStatus.PENDING: "task_state_pending",
    TaskStatus.RUNNING: "task_state_running",
    TaskStatus.WAITING_PERMISSION: "task_state_waiting",
    TaskStatus.COMPLETED: "task_state_completed",
    TaskStatus.FAILED: "task_state_failed",
    TaskStatus.CANCELLED: "task_state_cancelled",
    TaskStatus.KILLED: "task_state_killed",
}


class TaskCommands:
    """The command /tasks."""

    def __init__(self, tasks: Tasks, pace: Pace, clock: Clock) -> None:
        self._tasks = tasks
        self._pace = pace
        self._clock = clock

    async def tasks(self, given: Invocation) -> Answer:
        verb, _, rest = given.arguments.strip().partition(" ")
        task_id = typed_id(rest)
        if verb.lower() == "continue" and task_id:
            return await self._go_on(given, task_id)
        if verb.lower() != "cancel" or not task_id:
            return await self._list(given)
        done = await self._tasks.cancel(task_id, given.chat, given.sender)
        sentence = say(_SENTENCES[done], given.language, id=literal(task_id[:LONGEST_ID]))
        return Rewritten(await self._list(given, sentence)) if given.pressed else reply(sentence)

    async def _go_on(self, given: Invocation, task_id: str) -> Answer:
        if refusal := too_soon(self._pace, given):
            return refusal
        done = await self._tasks.go_on(task_id, given.chat, given.sender)
        return reply(say(_CONTINUED[done], given.language, id=literal(task_id[:LONGEST_ID])))

    async def _list(self, given: Invocation, *first: str) -> OutboundMessage:
        found = await self._tasks.shown(given.chat, given.sender, MOST, given.language)
        if not found:
            return reply("\n\n".join([*first, say("tasks_none", given.language)]))
        now = self._clock.time()
        rows = [_line(each, now, given.language) for each in found]
        buttons = tuple(
            (Button(label=say("tasks_cancel_button", given.language, id=task.id), action=f"/tasks cancel {task.id}"),)
            for task in (each.task for each in found)
            if not (task.is_over or task.unwanted)
        )
        text = "\n\n".join([*first, say("tasks_title", given.language), "\n".join(rows)])
        return OutboundMessage(markdown=text, buttons=buttons)

    async def _ids(self, typing: Unfinished) -> Iterable[Suggestion]:
        found = await self._tasks.shown(typing.chat, typing.sender, MOST_SUGGESTED, typing.language)
        return [suggested(each.task.id, each.task.prompt) for each in found if not each.task.is_over]

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "tasks",
                {"en": "Show what runs in the background", "zh": "显示后台任务"},
                self.tasks,
                rights=always(TALK),
                suggest=self._ids,
                arguments="[cancel ID]",
                example="cancel 2",
            ),
        )


def _line(shown: Shown, now: float, language: Language) -> str:
    task = shown.task
    seconds = round((task.ended or now) - (task.started or task.created))
    minutes, seconds = divmod(max(0, seconds), 60)
    line = say(
        "tasks_line",
        language,
        id=task.id,
        state=say("task_state_unwanted" if task.unwanted and not task.is_over else _STATES[shown.status], language),
        age=f"{minutes}:{seconds:02}",
        tokens=f"{shown.tokens:,}",
        what=literal(what_in_short(task.prompt)),
    )
    return f"{line}\n  {literal(shown.doing)}" if shown.doing else line
