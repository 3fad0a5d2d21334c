"""The table of approval rules: calls that are always allowed in a chat."""

import sqlite3
from dataclasses import dataclass

from channels.base import ChatKey
from gateway.store.table import readable
from gateway.store.writer import Change

COLUMNS = "id, chat, person, tool, what, subject, bound, given_by, created"

_Row = tuple[str, str, str, str, str, str, str, str, float]


@dataclass(frozen=True)
class Rule:
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


def insert(connection: sqlite3.Connection, rule: Rule) -> None:
    """Insert a rule, replacing an earlier one with the same subject."""
    connection.execute(
        "DELETE FROM rules WHERE chat = ? AND person = ? AND subject = ?", (str(rule.chat), rule.person, rule.subject)
    )
    values = [str(value) if isinstance(value, ChatKey) else value for value in vars(rule).values()]
    connection.execute(f"INSERT INTO rules ({COLUMNS}) VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608


def about(connection: sqlite3.Connection, chat: ChatKey, person: str, subject: str) -> Rule | None:
    query = f"SELECT {COLUMNS} FROM rules WHERE chat = ? AND person = ? AND subject = ?"  # noqa: S608
    row = connection.execute(query, (str(chat), person, subject)).fetchone()
    return _rule(row) if row else None


def of_chat(connection: sqlite3.Connection, chat: ChatKey) -> list[Rule]:
    """Return the rules of a chat, oldest first."""
    query = f"SELECT {COLUMNS} FROM rules WHERE chat = ? ORDER BY created, id"  # noqa: S608
    return list(readable(connection.execute(query, (str(chat),)), _rule, "rules"))


def remove(rule_id: str) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM rules WHERE id = ?", (rule_id,))

    return change


def _rule(row: _Row) -> Rule:
    return Rule(row[0], ChatKey.parse(row[1]), *row[2:])
