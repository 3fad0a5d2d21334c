"""The tables of approval questions and of approval rules.

A question and the text of its message change in one transaction.
"""

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import astuple, replace

from agent_core.origin import CLEAN
from channels.base import ChatKey, OutboundMessage
from gateway.store.connection import Connection
from gateway.store.inbox import mark_done
from gateway.store.outbox import insert, rows_of
from gateway.store.question import Question, QuestionState
from gateway.store.rows import Post
from gateway.store.table import Table, first_readable, in_chat, readable


class _Row(NamedTuple):
    id: str
    run: str
    session: str
    call: str
    chat: str
    person: str
    tool: str
    fingerprint: str
    what: str
    language: str
    asked_at: float
    expires_at: float
    state: str
    answered_by: str | None
    answered_at: float | None
    subject: str
    bound: str
    choices: str
    answer: str
    grounds: str


_COLUMNS = ", ".join(_Row._fields)
_SELECT = f"SELECT {_COLUMNS} FROM approvals"  # noqa: S608

Step = Callable[[Question], Question]
Line = Callable[[Question], OutboundMessage]
"""Returns the message that a question shows in its current state."""


class Moved(Struct, frozen=True):
    """A question before and after a step, which may have left it unchanged."""

    before: Question
    after: Question

    @property
    def has_moved(self) -> bool:
        return self.before.state is not self.after.state

    @property
    def is_approval(self) -> bool:
        return self.has_moved and self.after.state is QuestionState.APPROVED


class Rule(Struct, frozen=True):
    """An approval rule."""

    id: str
    """The id of the question whose answer created it."""
    chat: ChatKey
    person: str
    """The id of the user whose calls it allows."""
    tool: str
    what: str
    """A description for users of what it allows."""
    subject: str
    """A digest of the rule's subject."""
    bound: str
    """A digest of the subject's state; the rule ends when that changes."""
    given_by: str
    """The name of the user who granted it."""
    created: float


class _RuleRow(NamedTuple):
    id: str
    chat: str
    person: str
    tool: str
    what: str
    subject: str
    bound: str
    given_by: str
    created: float


_RULE_COLUMNS = ", ".join(_RuleRow._fields)


class Approvals(Table):
    """Approval questions. Each step of a question also changes the text of its message."""

    async def ask(self, question: Question, message: OutboundMessage, line: Line) -> list[Moved]:
        """Record a question and its message, unless its tool call has a question that still applies.

        Args:
            question: The question.
            message: Its message.
            line: Returns the message of a question in a later state.

        Returns:
            The questions superseded by this one, then the one that now applies; an empty list if the id is taken.
        """
        mask = self._secrets.mask
        asked = replace(question, tool=mask(question.tool), what=mask(question.what), choices=mask(question.choices))
        asked = replace(asked, grounds=mask(asked.grounds))
        rows = rows_of([Post(asked.key, asked.run, asked.chat, self._secrets.masked(message), CLEAN)], asked.asked_at)
        line = self._masking(line)

        def change(connection: Connection) -> list[Moved]:
            earlier = _of_call(connection, asked.session, asked.call)
            begun = [each for each in earlier if each.state is QuestionState.USED]
            same = [each for each in earlier if each.fingerprint == asked.fingerprint]
            for found in (*begun, *same):
                return [_take(connection, found, lambda each: each.at(asked.asked_at), line)]
            if not _add(connection, asked):
                return []
            insert(connection, rows)
            return [*(_take(connection, found, _give_up, line) for found in earlier), Moved(asked, asked)]

        return await self._writer.submit(change)

    async def move(self, request_id: str, step: Step, line: Line, rule: Rule | None = None) -> Moved | None:
        """Apply a step to a question and update its message.

        Args:
            request_id: The question's id.
            step: The step.
            line: Returns the message of the question in its new state.
            rule: Stored if the step approves the question.

        Returns:
            The question before and after the step; None if there is no such question.
        """
        line = self._masking(line)

        def change(connection: Connection) -> Moved | None:
            found = _find(connection, request_id)
            moved = _take(connection, found, step, line) if found else None
            if rule is not None and moved is not None and moved.is_approval:
                _add_rule(connection, rule)
            return moved

        return await self._writer.submit(change)

    async def answer(self, request_id: str, step: Step, line: Line, heard: int | None) -> Moved | None:
        """Apply a step as `move` does; if it answers the question, settle the inbox item that holds the answer too."""
        line, mask = self._masking(line), self._secrets.mask

        def masked(question: Question) -> Question:
            after = step(question)
            return replace(after, answer=mask(after.answer))

        def change(connection: Connection) -> Moved | None:
            found = _find(connection, request_id)
            moved = _take(connection, found, masked, line) if found else None
            if moved is not None and moved.is_approval and heard is not None:
                mark_done(connection, [heard])
            return moved

        return await self._writer.submit(change)

    async def of_call(self, session: str, call: str) -> Question | None:
        """Return the newest question about a tool call."""

        def read(connection: Connection) -> Question | None:
            return next(iter(_of_call(connection, session, call)), None)

        return await self._reader.run(read)

    async def find(self, request_id: str) -> Question | None:
        """Return the question with this id, in whatever state."""

        def read(connection: Connection) -> Question | None:
            return _find(connection, request_id)

        return await self._reader.run(read)

    async def pending(self, chat: ChatKey | None = None) -> list[Question]:
        """Return the pending questions of a chat or of all, oldest first; some of them may have expired."""
        condition, values = in_chat(chat)
        query = f"{_SELECT} WHERE state = 'pending'{condition} ORDER BY asked_at"

        def read(connection: Connection) -> list[Question]:
            return list(readable(map(_Row._make, connection.execute(query, values)), _question, "approvals"))

        return await self._reader.run(read)

    async def was_used(self, session: str, fingerprint: str) -> bool:
        """Return True if an approval of this call was used in the session."""
        query = "SELECT 1 FROM approvals WHERE session = ? AND fingerprint = ? AND state = 'used' LIMIT 1"

        def read(connection: Connection) -> bool:
            return connection.execute(query, (session, fingerprint)).fetchone() is not None

        return await self._reader.run(read)

    def _masking(self, line: Line) -> Line:
        return lambda question: self._secrets.masked(line(question))


class Rules(Table):
    """Approval rules: calls that are always allowed in a chat. `Approvals.move` adds them."""

    async def find(self, chat: ChatKey, person: str, subject: str) -> Rule | None:
        """Return the rule for a user's calls with this subject in a chat."""
        query = f"SELECT {_RULE_COLUMNS} FROM rules WHERE chat = ? AND person = ? AND subject = ?"  # noqa: S608

        def read(connection: Connection) -> Rule | None:
            rows = connection.execute(query, (str(chat), person, subject))
            return first_readable(map(_RuleRow._make, rows), _rule, "rules")

        return await self._reader.run(read)

    async def of_chat(self, chat: ChatKey) -> list[Rule]:
        """Return the rules of a chat, oldest first."""
        query = f"SELECT {_RULE_COLUMNS} FROM rules WHERE chat = ? ORDER BY created, id"  # noqa: S608

        def read(connection: Connection) -> list[Rule]:
            return list(readable(map(_RuleRow._make, connection.execute(query, (str(chat),))), _rule, "rules"))

        return await self._reader.run(read)

    async def remove(self, rule_id: str) -> None:
        """Delete a rule."""

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM rules WHERE id = ?", (rule_id,))

        await self._writer.submit(change)


def of_run(connection: Connection, run: str) -> list[Question]:
    """Return every question asked in a run, in whatever state, oldest first."""
    rows = connection.execute(f"{_SELECT} WHERE run = ? ORDER BY asked_at", (run,))
    return list(readable(map(_Row._make, rows), _question, "approvals"))


def _find(connection: Connection, request_id: str) -> Question | None:
    rows = connection.execute(f"{_SELECT} WHERE id = ?", (request_id,))
    return first_readable(map(_Row._make, rows), _question, "approvals")


def _give_up(question: Question) -> Question:
    """Withdraw a question whose call is now made with other arguments or in another chat."""
    is_open = question.state in (QuestionState.PENDING, QuestionState.APPROVED)
    return replace(question, state=QuestionState.WITHDRAWN) if is_open else question


def _of_call(connection: Connection, session: str, call: str) -> list[Question]:
    """Return the questions about a tool call, newest first."""
    query = f"{_SELECT} WHERE session = ? AND call = ? ORDER BY asked_at DESC"
    return list(readable(map(_Row._make, connection.execute(query, (session, call))), _question, "approvals"))


def _add(connection: Connection, question: Question) -> bool:
    values = [str(value) if isinstance(value, ChatKey) else value for value in astuple(question)]
    query = f"INSERT INTO approvals ({_COLUMNS}) VALUES ({', '.join('?' * len(values))}) ON CONFLICT (id) DO NOTHING"  # noqa: S608
    return connection.execute(query, values).rowcount == 1


def _add_rule(connection: Connection, rule: Rule) -> None:
    """Insert a rule, replacing an earlier one with the same subject."""
    connection.execute(
        "DELETE FROM rules WHERE chat = ? AND person = ? AND subject = ?", (str(rule.chat), rule.person, rule.subject)
    )
    values = [str(value) if isinstance(value, ChatKey) else value for value in astuple(rule)]
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO rules ({_RULE_COLUMNS}) VALUES ({marks})", values)  # noqa: S608


def _take(connection: Connection, before: Question, step: Step, line: Line) -> Moved:
    moved = Moved(before, step(before))
    after = moved.after
    if not moved.has_moved:
        return moved
    connection.execute(
        "UPDATE approvals SET state = ?, answered_by = ?, answered_at = ?, answer = ? WHERE id = ?",
        (after.state, after.answered_by, after.answered_at, after.answer, after.id),
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
        id=row.id,
        run=row.run,
        session=row.session,
        call=row.call,
        chat=ChatKey.parse(row.chat),
        person=row.person,
        tool=row.tool,
        fingerprint=row.fingerprint,
        what=row.what,
        language=row.language,
        asked_at=row.asked_at,
        expires_at=row.expires_at,
        state=QuestionState(row.state),
        answered_by=row.answered_by,
        answered_at=row.answered_at,
        subject=row.subject,
        bound=row.bound,
        choices=row.choices,
        answer=row.answer,
        grounds=row.grounds,
    )


def _rule(row: _RuleRow) -> Rule:
    return Rule(
        id=row.id,
        chat=ChatKey.parse(row.chat),
        person=row.person,
        tool=row.tool,
        what=row.what,
        subject=row.subject,
        bound=row.bound,
        given_by=row.given_by,
        created=row.created,
    )
