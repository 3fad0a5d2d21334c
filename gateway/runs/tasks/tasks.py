"""Tasks that chats' agents delegate to sub-agents, in the foreground or the background.

A task has a row before anyone is told of it. Its end and the news for its chat are one transaction, and the news starts
a run there, so no outcome is lost or told twice.
"""

import asyncio
from collections.abc import Callable, Iterable
from enum import StrEnum

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent_core.clock import Clock
from agent_core.events import AgentEvent, PermissionRequest, ToolExecutionStart, ToolExecutionUpdate
from agent_core.origin import CLEAN
from agent_core.subagents import Errand, result_of
from agent_core.tasks import TaskRecord, TaskStatus
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import ToolContext, ToolFailed
from agent_core.untrusted import origin_of
from channels.base import ChatKey, Sender
from gateway.permissions.access import Access
from gateway.runs.stop_and_continue import Continuing
from gateway.runs.tasks.report import what_in_short
from gateway.runs.tasks.workers import Worker, Workers
from gateway.settings.current import CurrentSettings
from gateway.store.rows import Task
from gateway.store.store import Store
from gateway.texts.say import Language, language_of, say

MOST_OPEN = 30
"""Open background tasks of one chat."""
MOST_IN_A_ROW = 10
"""Tasks that may end without a message of a user before another may begin; this bounds chains of tasks."""

log = structlog.get_logger(__name__)


class Cancelling(StrEnum):
    """The result of a request to cancel a task."""

    BEGUN = "begun"
    UNKNOWN = "unknown"
    """There is no such task in that chat."""
    NOT_YOURS = "not yours"
    OVER = "over"


class Shown(Struct, frozen=True):
    """A task with its current state."""

    task: Task
    status: TaskStatus
    tokens: int
    doing: str = ""
    """Its current activity."""


class Tasks:
    """Satisfies agent_core's `TaskRunner`."""

    def __init__(
        self,
        workers: Workers,
        store: Store,
        access: Access,
        clock: Clock,
        *,
        current: CurrentSettings,
        new_id: Callable[[], str],
    ) -> None:
        self._workers = workers
        self._store = store
        self._access = access
        self._clock = clock
        self._current = current
        self._new_id = new_id
        self._left: dict[str, Task] = {}
        """Foreground tasks of an earlier process start that wait for their tool call to be repeated."""

    # For agents

    async def run(self, prompt: str, context: ToolContext) -> ToolResult:
        """Run a task in the foreground. After a restart, the repeated call continues the same task.

        In a group it does not wait for room in a budget, as others would wait with it.
        """
        task = await self._noted(prompt, context, background=False)
        self._left.pop(task.id, None)
        if not task.is_over:
            worker = self._workers.start(task, can_wait=not self._access.is_group(task.chat))
            await self._wait_for(worker, context)
            task = await self._store.tasks.find(task.id) or task
        context.on_task(_record(task, task.status))
        return result_of(task.report, task.kept)

    async def begin(self, prompt: str, context: ToolContext) -> ToolResult:
        task = await self._noted(prompt, context, background=True)
        context.on_task(_record(task, TaskStatus.BACKGROUNDED))
        if not task.is_over:
            self._workers.queue(task)
        language = language_of(task.language, self._current.language)
        text = f"Task {task.id} was begun; its report will come to you by itself. Do not wait for it: say that it runs."
        return ToolResult.of(text, CLEAN).model_copy(update={"summary": say("task_begun", language, id=task.id)})

    # For users

    async def shown(self, chat: ChatKey, by: Sender, most: int, language: Language) -> list[Shown]:
        """Return a chat's open background tasks and its newest other ones, oldest first; owners see all of them."""
        person = None if self._access.is_admin(chat, by) else by.id
        found = await self._store.tasks.newest(chat, person, most)
        return [self._as_shown(task, language) for task in found]

    def in_background(self, chat: ChatKey, by: Sender) -> int:
        """Return the number of open background tasks that this user may see."""
        return sum(self._may_see(task, by) for task in self._workers.in_background(chat))

    async def cancel(self, task_id: str, chat: ChatKey, by: Sender) -> Cancelling:
        """Cancel a task. The request is on disk when this returns; the chat is told when the task has ended."""
        task = await self._store.tasks.find(task_id)
        if task is None or task.chat != chat or not task.background:
            return Cancelling.UNKNOWN
        if not self._may_see(task, by):
            return Cancelling.NOT_YOURS
        if task.is_over:
            return Cancelling.OVER
        log.info("task cancelled", task=task_id, chat=str(chat), by=by.id)
        await self._cancel(task)
        return Cancelling.BEGUN

    async def expel(self, knows: Callable[[ChatKey], bool]) -> list[Task]:
        """Cancel and return the background tasks of users who may no longer speak."""
        found = [task for task in await self._store.tasks.unfinished() if task.background and knows(task.chat)]
        gone = [task for task in found if not task.unwanted and not self._may_speak(task)]
        return [task for task in gone if await self._cancel(task)]

    async def go_on(self, task_id: str, chat: ChatKey, by: Sender) -> Continuing:
        """Continue a task that was given up because the process died in it repeatedly."""
        task = await self._store.tasks.find(task_id)
        if task is None or task.chat != chat:
            return Continuing.NOTHING
        if not self._access.may_act_for(chat, by, task.person):  # it goes on with their rights
            return Continuing.NOT_YOURS
        reopened = await self._store.tasks.reopen(task_id)
        if reopened is None:
            return Continuing.NOTHING
        log.info("task continued", task=task_id, chat=str(chat), by=by.id)
        self._workers.queue(reopened)
        return Continuing.POSSIBLE

    # For the application

    async def recover(self, knows: Callable[[ChatKey], bool]) -> None:
        """Resume the tasks that an earlier process start left, at the caller's next `await`.

        Foreground tasks wait for their tool call to be repeated. Tasks of users who have lost access are cancelled.

        `knows` returns True if a chat can be reached.
        """
        found = await self._store.tasks.unfinished()
        self._left = {task.id: task for task in found if not task.background}
        runs = {run.id for run in await self._store.runs.unfinished()}
        for asked_by in {task.asked_by for task in self._left.values()} - runs:
            await self.run_over(asked_by)
        self._queue([task for task in found if task.background and knows(task.chat)])

    async def take_over(self, chat: ChatKey) -> None:
        """Resume the tasks that another process left in a chat, as `recover` does."""
        found = await self._store.tasks.unfinished(chat)
        foreground = {task.id: task for task in found if not task.background}
        self._left.update(foreground)
        runs = {run.id for run in await self._store.runs.unfinished(chat)} if foreground else set()
        for asked_by in {task.asked_by for task in foreground.values()} - runs:
            await self.run_over(asked_by)
        self._queue([task for task in found if task.background])

    def are_in(self, chat: ChatKey) -> bool:
        """Return True if tasks run or wait in a chat."""
        return self._workers.are_in(chat)

    def forget(self, chat: ChatKey) -> None:
        """Drop what the memory holds of a chat with which another process may go on."""
        self._left = {name: task for name, task in self._left.items() if task.chat != chat}

    async def resume(self, knows: Callable[[ChatKey], bool]) -> None:
        """Resume the background tasks of chats that could not be reached when `recover` ran and now can."""
        found = await self._store.tasks.unfinished()
        self._queue([task for task in found if task.background and knows(task.chat)])

    def _queue(self, tasks: Iterable[Task]) -> None:
        for task in tasks:
            self._workers.queue(replace(task, unwanted=task.unwanted or not self._may_speak(task)))

    async def run_over(self, run: str) -> None:
        """Kill the foreground tasks that an ended run had left from an earlier process start."""
        for task in [task for task in self._left.values() if task.asked_by == run]:
            del self._left[task.id]
            await self._workers.kill(task, "the run that asked for it is over")

    @property
    def are_idle(self) -> bool:
        return self._workers.are_idle

    async def settled(self) -> None:
        """Wait until no task is running."""
        await self._workers.settled()

    async def close_in(self, chat: ChatKey) -> None:
        """Cancel the work of a chat, to be continued by another process."""
        await self._workers.close_in(chat)

    async def close(self) -> None:
        """Cancel the work, to be continued after the next start."""
        await self._workers.close()

    # Internals

    async def _noted(self, prompt: str, context: ToolContext, *, background: bool) -> Task:
        """Return the stored task of this call, creating it if needed. Raises ToolFailed."""
        if context.chat_id is None or context.user_id is None:
            raise ToolFailed("nobody is known on whose behalf it would be done")
        chat = ChatKey.parse(context.chat_id)
        run = await self._store.runs.current(chat, context.session_id)
        if run is None:
            raise ToolFailed("there is no run that it would belong to")
        if background:
            await self._check(chat)
        tag = await self._store.chats.language_of(chat, context.user_id)
        draft = Task(
            id="",
            call=f"{context.session_id}:{context.answer_id}:{context.call_id}",
            chat=chat,
            asked_by=run.id,
            person=context.user_id,
            language=language_of(tag, self._current.language),
            reply_to=run.reply_to,
            prompt=prompt,
            background=background,
            origin=origin_of(context.messages),
            created=self._clock.time(),
        )
        noted = None
        while noted is None:
            noted = await self._store.tasks.add(replace(draft, id=self._new_id()))
        return noted

    async def _check(self, chat: ChatKey) -> None:
        """Raise ToolFailed if no further task may begin."""
        if len(self._workers.in_background(chat)) >= MOST_OPEN:
            raise ToolFailed(f"{MOST_OPEN} tasks run or wait here already", "wait for their reports")
        if await self._store.tasks.told_in_a_row(chat) >= MOST_IN_A_ROW:
            raise ToolFailed("many tasks have ended without a word of a person", "ask whether to go on")

    async def _wait_for(self, worker: Worker, context: ToolContext) -> None:
        """Wait for a task and report its progress to the tool call; cancelling the call cancels the task."""
        language = language_of(worker.task.language, self._current.language)
        context.on_task(_record(worker.task, TaskStatus.RUNNING))
        with worker.work.heard_by(_activity_listener(worker.work.errand, language, context)):
            try:
                await asyncio.shield(worker.job)
            except asyncio.CancelledError:
                if context.cancel.cancelled:
                    worker.work.errand.cancel()
                    await asyncio.wait([worker.job])
                raise

    async def _cancel(self, task: Task) -> bool:
        """Cancel a task. Returns False if it was over or cancelled before."""
        is_new = await self._store.tasks.cancel(task.id)
        self._workers.start(replace(task, unwanted=True)).work.errand.cancel()
        return is_new

    def _may_speak(self, task: Task) -> bool:
        return self._access.may_speak(task.chat, Sender(id=task.person, name=""))

    def _may_see(self, task: Task, by: Sender) -> bool:
        return task.person == by.id or self._access.is_admin(task.chat, by)

    def _as_shown(self, task: Task, language: Language) -> Shown:
        worker = self._workers.of(task.id)
        if worker is None or task.is_over:  # a worker is there for a moment longer
            return Shown(task, task.status, task.report.usage.total)
        errand = worker.work.errand
        status = TaskStatus.WAITING_PERMISSION if errand.is_waiting else TaskStatus.RUNNING
        return Shown(task, status, errand.usage.total, doing(errand, language))


def _activity_listener(errand: Errand, language: Language, context: ToolContext) -> Callable[[AgentEvent], None]:
    """Return a listener that reports changes of the activity; tools may send thousands of identical updates."""
    shown = ""

    def show(event: AgentEvent) -> None:
        nonlocal shown
        if isinstance(event, ToolExecutionStart | PermissionRequest | ToolExecutionUpdate):
            before, shown = shown, doing(errand, language)
            if shown != before:
                context.on_update(ToolResult.of(shown, CLEAN))

    return show


def doing(errand: Errand, language: Language) -> str:
    """Describe the current activity of a sub-agent for users."""
    call = errand.last_call
    if call is None:
        return say("working", language)
    label = call.label_in(language)
    now = say("waiting_approval", language, label=label) if errand.is_waiting else label
    tools = say("one_tool" if errand.tools == 1 else "many_tools", language, count=errand.tools)
    return say("task_progress", language, tools=tools, doing=now)


def _record(task: Task, status: TaskStatus) -> TaskRecord:
    return TaskRecord(
        task_id=task.id,
        type="task",
        session_id=task.session,
        description=what_in_short(task.prompt),
        status=status,
        created_at=task.created,
        started_at=task.started,
        finished_at=task.ended,
        output_path=task.kept or None,
        error=task.report.error or None,
        progress={"tokens": task.report.usage.total},
    )
