"""Everything Parley remembers, in one SQLite file, by methods named after what the house needs.

Write-ahead log with full synchronisation: what a method has returned is on disk, whatever happens to the process or
the power. Writes go through one writer with group commit; reads have a connection of their own.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from agent_core.clock import Clock, NewId
from agent_core.messages import AgentMessage
from agent_core.skills.shelved import Shelved
from agent_core.tasks import Report
from channels.base import ChatKey, InboundEvent, OutboundMessage, TaskEnded
from gateway.errors import HomeUnusable, ParleyError
from gateway.masking import masked
from gateway.secrets import Secrets
from gateway.store import approvals, inbox, outbox, runs, skills, steps, tasks
from gateway.store.approvals import Line, Moved, Step
from gateway.store.database import Database
from gateway.store.job_store import JobStore
from gateway.store.lock import StoreLock
from gateway.store.question import Question
from gateway.store.rows import Chat, InboxItem, LastHeard, Post, Run, RunEnd, TalkBefore, Task
from gateway.store.runs import ToolRecord
from gateway.store.steps import Step as RunStep
from gateway.store.writer import Writer

FILE = "parley.db"
LOCK = "store.lock"
T = TypeVar("T")

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class StoreTooNew(ParleyError):
    """The file was written by a later version."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema {found}, but this Parley knows {known}. Start the newer version, or use another home."
        )


class StoreDamaged(ParleyError):
    """The file cannot be read."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} is damaged ({reason}). Restore it from a backup, or move it away to start anew.")


class Store:
    """Open it with `Store.open`; it holds the store's lock until it is closed."""

    def __init__(self, writer: Writer, reader: Database, clock: Clock, new_id: NewId, secrets: Secrets) -> None:
        self.secrets = secrets
        """What is written down without: of every text, whoever hands it in."""
        self.jobs = JobStore(writer, reader, clock, secrets)
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._new_id = new_id

    @classmethod
    @asynccontextmanager
    async def open(
        cls, home: Path, clock: Clock, new_id: NewId, secrets: Secrets | None = None
    ) -> AsyncIterator["Store"]:
        """Raises StoreBusy, StoreTooNew, StoreDamaged and HomeUnusable, each a sentence for whoever started us."""
        path = home / FILE
        with StoreLock(home / LOCK):
            try:
                async with _opened(path) as (writing, reading):
                    writer = Writer(writing)
                    try:
                        yield cls(writer, reading, clock, new_id, secrets or Secrets())
                    finally:
                        await writer.close()
            except sqlite3.DatabaseError as error:
                if _cause(error) in DAMAGED:
                    raise StoreDamaged(path, str(error)) from error
                raise

    # Inbox

    async def accept(self, event: InboundEvent) -> int | None:
        """Take an event in; its number, or None where it was taken in before. Raises StoreUnavailable."""
        return await self._writer.submit(inbox.accept(self._safe(event), self._clock.time()), patient=False)

    async def waiting(self) -> list[InboxItem]:
        """What was taken in and not dealt with, in order."""
        return await self._reader.run(inbox.waiting)

    async def talk_before(self, item: InboxItem, most: int) -> TalkBefore:
        """What of a chat's newest `most` messages before this one was taken in, back to the last that named us."""
        return await self._reader.run(partial(inbox.talk_before, of=item, most=most))

    async def born(self) -> float:
        """Since when this store listens, in seconds since the epoch."""
        return await self._reader.run(inbox.born)

    async def last_heard(self, platform: str, since: float, most: int) -> list[LastHeard]:
        """How far each chat was listened to in which somebody wrote since then, the newest `most` of them."""
        return await self._reader.run(partial(inbox.last_heard, platform=platform, since=since, most=most))

    async def settle(self, seqs: Sequence[int]) -> None:
        """These were dealt with otherwise than by a run."""
        await self._writer.submit(inbox.settle(seqs))

    async def reword(self, item: InboxItem) -> None:
        """The person edited a message that still waits."""
        await self._writer.submit(inbox.reword(replace(item, event=self._safe(item.event))))

    # Runs and transcript

    def begin_run(self, run: Run) -> "asyncio.Future[None]":
        """Whatever is written later is on disk later, so a caller need not await this before another write."""
        return self._writer.submit(runs.begin(run), later=True)

    def append(
        self, run: Run, turn: int, message: AgentMessage, seqs: Sequence[int] = (), *, later: bool = False
    ) -> "asyncio.Future[None]":
        """Add to the transcript, and in the same transaction settle the inbox rows whose words these are; like
        `begin_run` it need not be awaited before another write, and is best for `later` then."""
        return self._writer.submit(runs.append(run, turn, self._safe(message), seqs), later=later)

    async def resume_run(self, run: Run) -> int:
        """The run goes on in another life of the program; how many there have been."""
        return await self._writer.submit(runs.resume(run))

    def run_stopped_well(self, run: Run) -> "asyncio.Future[None]":
        """The program ends as it should: the run goes on in the next life, and this one does not count."""
        return self._writer.submit(runs.stopped_well(run))

    async def end_run(self, run: Run, end: RunEnd, posts: Sequence[Post], settled: Sequence[int] = ()) -> None:
        """The run is over, this is what is to be said, and these inbox rows are dealt with; one transaction, so that
        none of it is there alone."""
        end = replace(end, error=end.error and self.secrets.mask(end.error))
        await self._writer.submit(runs.end(run, end, self._safe_posts(posts), settled, self._clock.time()))

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
        """What happened in a run behind what was said last."""
        return self._writer.submit(steps.add(done, self.secrets), later=True)

    async def current_run(self, chat: ChatKey, session: str) -> Run | None:
        """What runs in a conversation now, as far as it was begun before this call."""
        return await self._writer.submit(partial(runs.current, chat=chat, session=session))

    async def open_runs(self) -> set[str]:
        """The ids of those that are not over, those of tasks too."""
        return await self._reader.run(runs.open_ids)

    async def unfinished_runs(self) -> list[Run]:
        """Those of chats."""
        return await self._reader.run(runs.unfinished)

    async def history(self, session: str) -> list[AgentMessage]:
        """What counts of one session's transcript, in order: the last summary, what it kept, and what came since."""
        return await self._reader.run(partial(runs.history, session=session))

    async def said_in(self, run: Run) -> list[AgentMessage]:
        """What one run has added to the transcript so far."""
        return await self._reader.run(partial(runs.said_in, run=run))

    # Outbox

    async def post(self, posts: Sequence[Post], settled: Sequence[int] = ()) -> None:
        """Note messages that are to be sent, and settle the inbox rows that they answer."""
        await self._writer.submit(outbox.add(self._safe_posts(posts), settled, self._clock.time()))

    def sending(self, key: str) -> "asyncio.Future[None]":
        """A send begins."""
        return self._writer.submit(outbox.sending(key), later=True)

    async def sent(self, post: Post, message_id: str) -> None:
        """It arrived under this id; the chat has heard from us."""
        await self._writer.submit(outbox.sent(self._safe_posts([post])[0], message_id))

    async def shown(self, post: Post, message_id: str) -> None:
        """A message that was sent without being noted first: it is worth nothing if it does not arrive now."""
        self._writer.submit(outbox.add(self._safe_posts([post]), (), self._clock.time()), later=True)
        await self.sent(post, message_id)

    async def failed(self, key: str, reason: str) -> None:
        """It will not be tried again."""
        await self._writer.submit(outbox.failed(key, self.secrets.mask(reason)))

    async def unsent(self) -> list[Post]:
        """What is still to be sent, oldest first."""
        return await self._reader.run(outbox.unsent)

    async def find_post(self, key: str) -> Post | None:
        return await self._reader.run(partial(outbox.find, key=key))

    async def reads_now(self, chat: ChatKey, message_id: str) -> Post | None:
        """What made one of our messages read as it does."""
        return await self._reader.run(partial(outbox.reads_now, chat=chat, message_id=message_id))

    async def parts(self, chat: ChatKey, message_id: str) -> list[Post]:
        """All parts of one of our messages, by the id of any, as nobody had pressed a button on it."""
        return await self._reader.run(partial(outbox.parts, chat=chat, message_id=message_id))

    async def screen(self, chat: ChatKey, most: int = 200) -> list[tuple[float, InboxItem | Post]]:
        """What people in a chat see, with when it was said: their messages and ours, oldest first."""
        return await self._reader.run(partial(outbox.screen, chat=chat, most=most))

    # Questions

    async def ask(self, question: Question, message: OutboundMessage, line: Line) -> list[Moved]:
        """Note a question and its message; a call that was asked for already keeps its question. The last of what is
        given back holds, those before it do not any more; nothing: the id is taken."""
        mask = self.secrets.mask
        safe = replace(question, tool=mask(question.tool), what=mask(question.what))
        return await self._writer.submit(approvals.ask(safe, self._safe(message), self._safe_line(line)))

    async def move_question(self, request_id: str, step: Step, line: Line) -> Moved | None:
        """Take a step with a question, and note what its message says then; None where there is no such question."""
        return await self._writer.submit(approvals.move(request_id, step, self._safe_line(line)))

    async def question(self, request_id: str) -> Question | None:
        return await self._reader.run(partial(approvals.find, request_id=request_id))

    async def pending_questions(self) -> list[Question]:
        return await self._reader.run(approvals.pending)

    # Tasks

    async def add_task(self, task: Task) -> Task | None:
        """Note a new task; the one that the same call has begun before, where there is one; None: the id is taken."""
        safe = replace(task, prompt=self.secrets.mask(task.prompt))
        return await self._writer.submit(tasks.add(safe))

    async def start_task(self, task: Task) -> int:
        """It runs, in a life of the program more; how many there have been."""
        return await self._writer.submit(tasks.start(task, self._clock.time()))

    def tasks_stopped_well(self, task_ids: Sequence[str]) -> "asyncio.Future[None]":
        """The program ends as it should: these go on in the next life, and this one does not count."""
        return self._writer.submit(tasks.stopped_well(task_ids))

    async def unwant_task(self, task_id: str) -> None:
        """Somebody cancelled it, and it is not to go on in any life."""
        await self._writer.submit(tasks.unwant(task_id))

    async def end_task(self, task: Task, report: Report, kept: str, news: TaskEnded | None) -> InboxItem | None:
        """How it came out, and the news of it in its chat's inbox; None where nobody is told, or was before."""
        news = news and self._safe(news)
        return await self._writer.submit(tasks.end(task, self._safe(report), kept, news, self._clock.time()))

    async def task(self, task_id: str) -> Task | None:
        return await self._reader.run(partial(tasks.find, task_id=task_id))

    async def unfinished_tasks(self) -> list[Task]:
        """Everywhere, oldest first."""
        return await self._reader.run(tasks.unfinished)

    async def newest_tasks(self, chat: ChatKey, person: str | None, most: int) -> list[Task]:
        """Those in a chat's background that go on, and the newest of the others; oldest first. `person`: only those
        for them."""
        return await self._reader.run(partial(tasks.newest, chat=chat, person=person, most=most))

    async def tasks_told_in_a_row(self, chat: ChatKey) -> int:
        """The ends of how many a chat's agent was told since anything else happened there."""
        return await self._reader.run(partial(tasks.told_in_a_row, chat=chat))

    # Chats

    async def chat(self, key: ChatKey) -> Chat:
        """What holds in a chat; a new one begins a session."""
        found = await self._reader.run(partial(runs.chat, key=key))
        if found is None:
            found = Chat(key, session=self._new_id())
            self._writer.submit(runs.save_chat(found), later=True)
        return found

    async def zones(self) -> dict[str, str]:
        """By the printed keys of the chats that have one of their own."""
        return await self._reader.run(runs.zones)

    async def save_chat(self, chat: Chat) -> None:
        await self._writer.submit(runs.save_chat(chat))

    async def skills_of(self, chat: ChatKey) -> Shelved:
        """What is loaded in a chat."""
        return await self._reader.run(partial(skills.of, chat=chat))

    def save_skills(self, chat: ChatKey, shelved: Shelved) -> "asyncio.Future[None]":
        return self._writer.submit(skills.save(chat, shelved), later=True)

    async def renew_skills(self, chat: ChatKey) -> None:
        """Only what people hold stays loaded."""
        await self._writer.submit(skills.renew(chat))

    async def language_of(self, chat: ChatKey, person: str) -> str | None:
        """The tag of the language that the chat was set to, or else of the person's client when they last spoke."""
        return await self._reader.run(partial(runs.language_of, chat=chat, person=person))

    async def spoken_in(self) -> set[str]:
        """The printed keys of all chats where we have said something."""
        return await self._reader.run(runs.spoken_in)

    def _safe(self, value: T) -> T:
        return masked(value, self.secrets.mask)

    def _safe_line(self, line: Line) -> Line:
        return lambda question: self._safe(line(question))

    def _safe_posts(self, posts: Sequence[Post]) -> list[Post]:
        return [replace(post, message=self._safe(post.message)) for post in posts]


@asynccontextmanager
async def _opened(path: Path) -> AsyncIterator[tuple[Database, Database]]:
    """One connection to write and one to read. Raises HomeUnusable where the file or the disk does not let us, and
    StoreDamaged where the file is somebody else's."""
    async with AsyncExitStack() as life:
        try:
            writing = await life.enter_async_context(Database.open(path))
            reading = await life.enter_async_context(Database.open(path))
            await writing.run(partial(_migrate, path=path))
        except sqlite3.Error as error:
            if _cause(error) in (*DAMAGED, sqlite3.SQLITE_ERROR):
                raise StoreDamaged(path, str(error)) from error
            raise HomeUnusable(path, str(error)) from error
        yield writing, reading


def _cause(error: sqlite3.Error) -> int:
    """SQLite's primary result code; the extended ones only say more of the same."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF


def migrations() -> list[Traversable]:
    """The steps to the newest schema, in order; a schema's number says how many of them were made."""
    folder = resources.files("gateway.store") / "migrations"
    return sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the file up to the newest numbered migration, each in a transaction of its own."""
    steps = migrations()
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > len(steps):
        raise StoreTooNew(path, found, len(steps))
    # A file that cannot be written is found out now, not by the first message.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {found}")
    connection.execute("ROLLBACK")
    for number, step in enumerate(steps[found:], start=found + 1):
        connection.executescript(f"BEGIN;\n{step.read_text()}\nPRAGMA user_version = {number};\nCOMMIT;")
