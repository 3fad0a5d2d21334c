"""The table of approval questions. A question and the text of its message change in one transaction."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace

from channels.base import ChatKey, OutboundMessage
from gateway.store import rules
from gateway.store.outbox import insert, rows_of
from gateway.store.question import Question, QuestionState
from gateway.store.rows import Post
from gateway.store.rules import Rule
from gateway.store.table import readable
from gateway.store.writer import Change

COLUMNS = (
    "id, run, session, call, chat, person, tool, fingerprint, what, language, asked_at, expires_at, state, answered_by,"
    " answered_at, subject, bound"
)

_Row = tuple[str, str, str, str, str, str, str, str, str, str, float, float, str, str | None, float | None, str, str]

Step = Callable[[Question], Question]
Line = Callable[[Question], OutboundMessage]
"""Returns the message that a question shows in its current state."""


@dataclass(frozen=True)
class Moved:
    """A question before and after a step, which may have left it unchanged."""

    before: Question
    after: Question

    @property
    def has_moved(self) -> bool:
        return self.before.state is not self.after.state


def ask(question: Question, message: OutboundMessage, line: Line) -> Change[list[Moved]]:
    """Record a question and its message, unless its tool call has a question that still applies.

    Returns the questions superseded by this one, then the one that now applies; an empty list if the id is taken.
    """
    rows = rows_of([Post(question.key, question.run, question.chat, message)], question.asked_at)

    def change(connection: sqlite3.Connection) -> list[Moved]:
        earlier = _of_call(connection, question.session, question.call)
        begun = [each for each in earlier if each.state is QuestionState.USED]
        same = [each for each in earlier if each.fingerprint == question.fingerprint]
        for found in (*begun, *same):
            return [_take(connection, found, lambda each: each.at(question.asked_at), line)]
        if not _add(connection, question):
            return []
        insert(connection, rows)
        return [*(_take(connection, found, _give_up, line) for found in earlier), Moved(question, question)]

    return change


def move(request_id: str, step: Step, line: Line, rule: Rule | None = None) -> Change[Moved | None]:
    """Apply a step to a question; None if there is no such question. `rule` is stored if the step approves it."""

    def change(connection: sqlite3.Connection) -> Moved | None:
        found = find(connection, request_id)
        moved = _take(connection, found, step, line) if found else None
        if rule is not None and moved is not None and moved.has_moved and moved.after.state is QuestionState.APPROVED:
            rules.insert(connection, rule)
        return moved

    return change


def find(connection: sqlite3.Connection, request_id: str) -> Question | None:
    query = f"SELECT {COLUMNS} FROM approvals WHERE id = ?"  # noqa: S608
    row = connection.execute(query, (request_id,)).fetchone()
    return _question(row) if row else None


def pending(connection: sqlite3.Connection) -> list[Question]:
    """Return all pending questions, oldest first; some of them may have expired."""
    query = f"SELECT {COLUMNS} FROM approvals WHERE state = 'pending' ORDER BY asked_at"  # noqa: S608
    return list(readable(connection.execute(query), _question, "approvals"))


def of_run(connection: sqlite3.Connection, run: str) -> list[Question]:
    """Return every question asked in a run, in whatever state, oldest first."""
    query = f"SELECT {COLUMNS} FROM approvals WHERE run = ? ORDER BY asked_at"  # noqa: S608
    return list(readable(connection.execute(query, (run,)), _question, "approvals"))


def was_used(connection: sqlite3.Connection, session: str, fingerprint: str) -> bool:
    query = "SELECT 1 FROM approvals WHERE session = ? AND fingerprint = ? AND state = 'used' LIMIT 1"
    return connection.execute(query, (session, fingerprint)).fetchone() is not None


def _give_up(question: Question) -> Question:
    """Withdraw a question whose call is now made with other arguments or in another chat."""
    is_open = question.state in (QuestionState.PENDING, QuestionState.APPROVED)
    return replace(question, state=QuestionState.WITHDRAWN) if is_open else question


def _of_call(connection: sqlite3.Connection, session: str, call: str) -> list[Question]:
    """Return the questions about a tool call, newest first."""
    query = f"SELECT {COLUMNS} FROM approvals WHERE session = ? AND call = ? ORDER BY asked_at DESC"  # noqa: S608
    return [_question(row) for row in connection.execute(query, (session, call))]


def _add(connection: sqlite3.Connection, question: Question) -> bool:
    values = [str(value) if isinstance(value, ChatKey) else value for value in vars(question).values()]
    query = f"INSERT INTO approvals ({COLUMNS}) VALUES ({', '.join('?' * len(values))}) ON CONFLICT (id) DO NOTHING"  # noqa: S608
    return connection.execute(query, values).rowcount == 1


def _take(connection: sqlite3.Connection, before: Question, step: Step, line: Line) -> Moved:
    moved = Moved(before, step(before))
    after = moved.after
    if not moved.has_moved:
        return moved
    connection.execute(
        "UPDATE approvals SET state = ?, answered_by = ?, answered_at = ? WHERE id = ?",
        (after.state, after.answered_by, after.answered_at, after.id),
    )
    if after.state is not QuestionState.USED:
        # Shown as an edit if the message was sent; one that failed to send is not sent now.
        connection.execute(
            "UPDATE outbox SET body = ?, state = 'pending' WHERE key = ? AND state != 'failed'",
            (line(after).model_dump_json(), after.key),
        )
    return moved


def _question(row: _Row) -> Question:
    return Question(
        id=row[0],
        run=row[1],
        session=row[2],
        call=row[3],
        chat=ChatKey.parse(row[4]),
        person=row[5],
        tool=row[6],
        fingerprint=row[7],
        what=row[8],
        language=row[9],
        asked_at=row[10],
        expires_at=row[11],
        state=QuestionState(row[12]),
        answered_by=row[13],
        answered_at=row[14],
        subject=row[15],
        bound=row[16],
    )
