"""Parley's persistent state in one SQLite file.

The file uses a write-ahead log with full synchronisation: once a method has returned, its change survives a crash or a
power cut. Writes go through one writer with group commit; reads have a connection of their own.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from agent_core.clock import Clock, NewId
from agent_core.loop.limits import SoFar
from agent_core.messages import AgentMessage
from agent_core.reasons import TerminalReason
from agent_core.skills.skill_state import Shelved
from agent_core.sources import Sources
from agent_core.tasks import Report
from channels.base import ChatKey, OutboundMessage, TaskEnded
from gateway.security.masking import masked
from gateway.security.secrets import Secrets
from gateway.store import approvals, rules, runs, skills, so_far, steps, tasks
from gateway.store.approvals import Line, Moved, Step
from gateway.store.ballast import Ballast
from gateway.store.database import Reader
from gateway.store.inbox import Inbox
from gateway.store.job_store import JobStore
from gateway.store.lock import StoreLock
from gateway.store.marks import MarkStore
from gateway.store.opening import DAMAGED, FILE, LOCK, StoreDamaged, begin_mark, cause, look_at_store, opened
from gateway.store.outbox import Outbox, masked_posts
from gateway.store.question import Question
from gateway.store.rows import Chat, InboxItem, Post, Run, RunEnd, Task
from gateway.store.rules import Rule
from gateway.store.runs import ToolRecord
from gateway.store.steps import Step as RunStep
from gateway.store.upkeep import UpkeepStore
from gateway.store.writer import Writer

T = TypeVar("T")


class Store:
    """All tables of a store. Open it with `Store.open`; it holds the store's lock until it is closed."""

    def __init__(self, writer: Writer, reader: Reader, clock: Clock, new_id: NewId, secrets: Secrets) -> None:
        self.secrets = secrets
        """Masked in every text before it is written."""
        self.inbox = Inbox(writer, reader, clock, self.secrets)
        self.outbox = Outbox(writer, reader, clock, self.secrets)
        self.jobs = JobStore(writer, reader, clock, secrets)
        self.upkeep = UpkeepStore(writer, reader, clock)
        self.marks = MarkStore(writer, reader, secrets)
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._new_id = new_id

    @classmethod
    @asynccontextmanager
    async def open(
        cls, home: Path, clock: Clock, new_id: NewId, secrets: Secrets | None = None, *, ballast: int = 0
    ) -> AsyncIterator["Store"]:
        """Open the store in `home`. `ballast`: bytes of a placeholder file that is deleted when the disk is full.

        Raises StoreBusy, StoreTooNew, StoreDamaged and HomeUnusable, each with a message for the user.
        """
        path = home / FILE
        with StoreLock(home / LOCK):
            await asyncio.to_thread(look_at_store, home)
            try:
                async with opened(path) as (writing, reading):
                    mark = await begin_mark(home, writing)
                    aside = Ballast(home, ballast)
                    await asyncio.to_thread(aside.lay)
                    writer = Writer(writing, mark=mark, make_room=aside.give_up)
                    try:
                        yield cls(writer, reading, clock, new_id, secrets or Secrets())
                    finally:
                        await writer.close()
                        await mark.close()
            except sqlite3.DatabaseError as error:
                if cause(error) in DAMAGED:
                    raise StoreDamaged(path, str(error)) from error
                raise

    # The store itself

    async def created_at(self) -> float:
        """Return when this store was created, in seconds since the epoch."""

        def read(connection: sqlite3.Connection) -> float:
            (born,) = connection.execute("SELECT born FROM store").fetchone()
            return float(born)

        return await self._reader.run(read)

    async def sequence(self) -> int:
        """Return the number of transactions written to the store."""

        def read(connection: sqlite3.Connection) -> int:
            (sequence,) = connection.execute("SELECT sequence FROM store").fetchone()
            return int(sequence)

        return await self._reader.run(read)

    # Runs and transcript

    def begin_run(self, run: Run) -> "asyncio.Future[None]":
        """Record the start of a run. It need not be awaited before another write, as writes reach the disk in order."""
        return self._writer.submit(runs.begin(run), later=True)

    def append(
        self, run: Run, turn: int, message: AgentMessage, seqs: Sequence[int] = (), *, later: bool = False
    ) -> "asyncio.Future[None]":
        """Add a message to the transcript and mark the inbox items that it contains as done, in one transaction. Like
        `begin_run` it need not be awaited before another write; `later` is best then."""
        return self._writer.submit(runs.append(run, turn, self._safe(message), seqs), later=later)

    async def next_life(self, run: Run, steps: Sequence[str]) -> int:
        """Record that a new process start resumes a run that stopped in these steps. Returns in how many process starts
        the process died in one of them."""
        return await self._writer.submit(runs.next_life(run, steps))

    def rest(self, run_ids: Sequence[str]) -> "asyncio.Future[None]":
        """Record that the process shuts down cleanly, so these runs are resumed without counting a crash."""
        return self._writer.submit(runs.rest(run_ids))

    async def end_run(self, run: Run, end: RunEnd, posts: Sequence[Post], settled: Sequence[int] = ()) -> None:
        """End a run, queue its posts and mark inbox items as done, in one transaction."""
        end = replace(end, error=end.error and self.secrets.mask(end.error))
        await self._writer.submit(runs.end(run, end, masked_posts(posts, self.secrets), settled, self._clock.time()))

    def record_tool(self, record: ToolRecord) -> "asyncio.Future[None]":
        mask = self.secrets.mask
        safe = replace(
            record,
            tool=mask(record.tool),
            arguments=mask(record.arguments),
            result=record.result and mask(record.result),
            error=record.error and mask(record.error),
        )
        return self._writer.submit(runs.record_tool(safe, self._clock.time()), later=True)

    def add_steps(self, done: Sequence[RunStep]) -> "asyncio.Future[None]":
        """Record events of a run that follow its last transcript message."""
        return self._writer.submit(steps.add(done, self.secrets), later=True)

    async def current_run(self, chat: ChatKey, session: str) -> Run | None:
        """Return the open run of a session, including one whose start is still queued."""
        return await self._writer.submit(partial(runs.current, chat=chat, session=session))

    async def last_run(self, session: str) -> tuple[Run, TerminalReason | None] | None:
        """Return the run that spoke last in a session and its outcome, which is None while it runs."""
        return await self._reader.run(partial(runs.last, session=session))

    async def open_runs(self) -> set[str]:
        """Return the ids of all open runs, including those of tasks."""
        return await self._reader.run(runs.open_ids)

    async def unfinished_runs(self) -> list[Run]:
        """Return the open runs of chats, without those of tasks and jobs."""
        return await self._reader.run(runs.unfinished)

    async def history(self, session: str) -> list[AgentMessage]:
        """Return a session's effective history: the last summary, what it kept, and all messages since."""
        return await self._reader.run(partial(runs.history, session=session))

    async def said_in(self, run: Run) -> list[AgentMessage]:
        """Return the messages that a run has added to the transcript."""
        return await self._reader.run(partial(runs.said_in, run=run))

    async def so_far(self, run: Run, said: Sequence[AgentMessage]) -> SoFar:
        """Return what a resumed run has used of its limits; `said`: the messages it added to the transcript."""
        return await self._reader.run(partial(so_far.of, run=run, said=said))

    async def sources(self, names: Collection[str]) -> dict[str, Sources]:
        """Return the sources of untrusted input in each of these runs."""
        return await self._reader.run(partial(runs.sources, names=names))

    async def session_sources(self, session: str) -> Sources:
        """Return the sources of untrusted input in a session so far."""
        return await self._reader.run(partial(runs.session_sources, session=session))

    # Questions

    async def ask(self, question: Question, message: OutboundMessage, line: Line) -> list[Moved]:
        """Record a question and its message, unless its tool call has a question that still applies. Returns the
        questions superseded by this one, then the one that now applies; empty if the id is taken."""
        mask = self.secrets.mask
        safe = replace(question, tool=mask(question.tool), what=mask(question.what))
        return await self._writer.submit(approvals.ask(safe, self._safe(message), self._safe_line(line)))

    async def move_question(self, request_id: str, step: Step, line: Line, rule: Rule | None = None) -> Moved | None:
        """Apply a step to a question, update its message, and store `rule` if the step approves it. Returns None if
        there is no such question."""
        return await self._writer.submit(approvals.move(request_id, step, self._safe_line(line), rule))

    async def rule_about(self, chat: ChatKey, person: str, subject: str) -> Rule | None:
        return await self._reader.run(partial(rules.about, chat=chat, person=person, subject=subject))

    async def rules_of(self, chat: ChatKey) -> list[Rule]:
        """Return the approval rules of a chat, oldest first."""
        return await self._reader.run(partial(rules.of_chat, chat=chat))

    async def remove_rule(self, rule_id: str) -> None:
        await self._writer.submit(rules.remove(rule_id))

    async def question(self, request_id: str) -> Question | None:
        return await self._reader.run(partial(approvals.find, request_id=request_id))

    async def was_used(self, session: str, fingerprint: str) -> bool:
        """Return True if an approval of this call was used in the session."""
        return await self._reader.run(partial(approvals.was_used, session=session, fingerprint=fingerprint))

    async def pending_questions(self) -> list[Question]:
        return await self._reader.run(approvals.pending)

    # Tasks

    async def add_task(self, task: Task) -> Task | None:
        """Insert a task. Returns the stored one if the same call created it before, or None if the id is taken."""
        safe = replace(task, prompt=self.secrets.mask(task.prompt))
        return await self._writer.submit(tasks.add(safe))

    async def start_task(self, task: Task) -> bool:
        """Record that the task runs. Returns True in the first process start, False in later ones."""
        return await self._writer.submit(tasks.start(task, self._clock.time()))

    async def reopen_task(self, task_id: str) -> Task | None:
        """Reopen a background task that was given up. Returns None if it is in another state."""
        return await self._writer.submit(tasks.reopen(task_id))

    async def unwant_task(self, task_id: str) -> None:
        """Record that a user cancelled the task, so that no process start resumes it."""
        await self._writer.submit(tasks.unwant(task_id))

    async def end_task(self, task: Task, report: Report, kept: str, news: TaskEnded | None) -> InboxItem | None:
        """Save a task's outcome and put the news into its chat's inbox. Returns None if there is no news to tell."""
        news = news and self._safe(news)
        return await self._writer.submit(tasks.end(task, self._safe(report), kept, news, self._clock.time()))

    async def task(self, task_id: str) -> Task | None:
        return await self._reader.run(partial(tasks.find, task_id=task_id))

    async def unfinished_tasks(self) -> list[Task]:
        """Return the open tasks of all chats, oldest first."""
        return await self._reader.run(tasks.unfinished)

    async def newest_tasks(self, chat: ChatKey, person: str | None, most: int) -> list[Task]:
        """Return a chat's open background tasks and its newest other ones, oldest first; with `person`, only theirs."""
        return await self._reader.run(partial(tasks.newest, chat=chat, person=person, most=most))

    async def tasks_told_in_a_row(self, chat: ChatKey) -> int:
        """Return how many ends of tasks the chat's agent was told in a row, with no other event between them."""
        return await self._reader.run(partial(tasks.told_in_a_row, chat=chat))

    # Chats

    async def chat(self, key: ChatKey) -> Chat:
        """Return a chat's row; a new chat gets a new session."""
        found = await self._reader.run(partial(runs.chat, key=key))
        if found is None:
            found = Chat(key, session=self._new_id())
            self._writer.submit(runs.save_chat(found), later=True)
        return found

    async def zones(self) -> dict[str, str]:
        """Return the time zones of the chats that have one, by chat key."""
        return await self._reader.run(runs.zones)

    async def save_chat(self, chat: Chat) -> None:
        await self._writer.submit(runs.save_chat(chat))

    async def skills_of(self, chat: ChatKey) -> Shelved:
        """Return the skills that are loaded in a chat."""
        return await self._reader.run(partial(skills.of, chat=chat))

    def save_skills(self, chat: ChatKey, shelved: Shelved) -> "asyncio.Future[None]":
        return self._writer.submit(skills.save(chat, shelved), later=True)

    async def renew_skills(self, chat: ChatKey) -> None:
        """Unload all skills except those that users loaded."""
        await self._writer.submit(skills.renew(chat))

    async def language_of(self, chat: ChatKey, person: str) -> str | None:
        """Return the chat's language tag, or else that of the user's client in their last message there."""
        return await self._reader.run(partial(runs.language_of, chat=chat, person=person))

    async def spoken_in(self) -> set[str]:
        """Return the keys, as text, of all chats where the bot has spoken."""
        return await self._reader.run(runs.spoken_in)

    def _safe(self, value: T) -> T:
        return masked(value, self.secrets.mask)

    def _safe_line(self, line: Line) -> Line:
        return lambda question: self._safe(line(question))
